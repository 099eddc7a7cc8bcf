import type {
  AuthorityKind,
  IssuedCapability,
  LedgerDenial,
  LedgerEvent,
  LedgerEventKind,
  LedgerHop,
} from "../../agent/ledger.js";
import { MOST_DENIALS } from "../../agent/refusal.js";
import { isTexts } from "../../bytes/json.js";
import { decodeUtf8, encodeUtf8 } from "../../bytes/utf8.js";
import { CAPABILITY_LIMITS } from "../../capability/limits.js";
import type { Hop } from "../../caveats/hop.js";
import { readHop } from "../../caveats/read-hop.js";
import { encodeHop } from "../../caveats/write-hop.js";
import { isRevocationId } from "../../revocation/id.js";
import type { StoreTables } from "../database.js";
import { textOf, whole } from "../stored-values.js";

/** Longest string that is stored, in characters. A longer string is cut and ends with an ellipsis. */
const LONGEST_TEXT = 1024;
/** Limits of capabilities: bytes of one hop, values in one set, hops of one token. */
const {
  caveatBytes: LONGEST_HOP,
  setMembers: MOST_MEMBERS,
  caveats: MOST_HOPS,
} = CAPABILITY_LIMITS;
/** Maximum length of all strings of one list together, in characters. */
const LONGEST_LIST = 16_384;

/** An event in the form of its database row. */
export type EventRow = Omit<StoreTables["event"], "seq">;

/** All kinds of events. The database stores a kind by its index, so append new kinds at the end. */
export const KINDS: readonly LedgerEventKind[] = [
  "issuance",
  "invocation",
  "revocation",
  "approval",
  "registration",
];

const AUTHORITIES: readonly AuthorityKind[] = ["capability", "legacy", "ambient"];

/**
 * Converts an event to a row. Copies only the known properties of an event, so that nothing else gets into the
 * database.
 *
 * @throws TypeError if the kind, the decision or the time is invalid.
 */
export function eventRow(event: LedgerEvent): EventRow {
  if (!KINDS.includes(event.kind)) throw new TypeError(`kind must be one of ${KINDS.join(", ")}`);
  const { decision, principal, capability, authority, handles, codes, path, values } = event;
  const { denials } = event;
  if (decision !== "allowed" && decision !== "refused") {
    throw new TypeError('decision must be "allowed" or "refused"');
  }
  return {
    at: moment(event.at),
    what: whatOf(event.kind, decision),
    principal: principal === undefined ? null : textKey(principal),
    capability: capability === undefined ? null : textKey(capability),
    body: JSON.stringify({
      invoker: event.invoker && clipped(event.invoker),
      purpose: event.purpose && clipped(event.purpose),
      grant: event.grant && clipped(event.grant),
      skill: event.skill && clipped(event.skill),
      operation: event.operation && clipped(event.operation),
      change: event.change && clipped(event.change),
      record: event.record && clipped(event.record),
      authority: authority !== undefined && AUTHORITIES.includes(authority) ? authority : undefined,
      operator: event.operator === true ? true : undefined,
      declared: typeof event.declared === "boolean" ? event.declared : undefined,
      handles: handles && shortened(handles),
      codes: codes && shortened(codes),
      denials: denials?.slice(0, MOST_DENIALS).map(({ code, hop, rule }) => ({
        code: clipped(code),
        hop,
        rule: rule && clipped(rule),
      })),
      path: path?.slice(0, MOST_HOPS).map(({ revocationId }) => clipped(revocationId)),
      values: values && shownValues(values),
    }),
  };
}

/** String properties of an event that are stored in its JSON body. */
const TEXTS = ["invoker", "purpose", "grant", "skill", "operation", "change", "record"] as const;

/** Encodes kind and decision as one number. */
export function whatOf(kind: LedgerEventKind, decision: LedgerEvent["decision"]): number {
  return KINDS.indexOf(kind) * 2 + (decision === "refused" ? 1 : 0);
}

/** Returns the canonical JSON of a hop; `undefined` if the hop is unknown or invalid. */
export function hopText({ revocationId, hop }: LedgerHop): string | undefined {
  if (hop === undefined || !isRevocationId(revocationId)) return undefined;
  try {
    const bytes = encodeHop(hop);
    return bytes.length <= LONGEST_HOP ? decodeUtf8(bytes) : undefined;
  } catch {
    return undefined;
  }
}

/** Encodes a string for a column by which events are looked up. */
export function textKey(text: string): string {
  return JSON.stringify(clipped(text));
}

/** Returns the string. A string that is too long is cut and ends with an ellipsis. */
function clipped(text: string): string {
  return text.length <= LONGEST_TEXT ? text : `${text.slice(0, LONGEST_TEXT - 1)}…`;
}

function shortened(texts: readonly string[]): string[] {
  const kept: string[] = [];
  let size = 0;
  for (const text of texts) {
    const short = clipped(text);
    size += short.length;
    if (kept.length === MOST_MEMBERS || size > LONGEST_LIST) {
      kept.push(`… and ${texts.length - kept.length} more`);
      break;
    }
    kept.push(short);
  }
  return kept;
}

function shownValues(values: { readonly [argument: string]: unknown }): {
  [argument: string]: unknown;
} {
  const shown: [string, unknown][] = [];
  let size = 0;
  for (const [name, value] of Object.entries(values)) {
    const short = shownValue(value);
    size += name.length + (typeof short === "string" ? short.length : LONGEST_TEXT);
    if (size > LONGEST_LIST + LONGEST_TEXT) break;
    shown.push([clipped(name), short]);
  }
  return Object.fromEntries(shown);
}

function shownValue(value: unknown): unknown {
  if (typeof value === "string") return clipped(value);
  try {
    const text = JSON.stringify(value);
    return text === undefined || text.length <= LONGEST_TEXT ? value : clipped(text);
  } catch {
    // The value is cyclic, too deep, or contains a bigint. Its event must be recorded nevertheless.
    return `a ${typeof value} that has no JSON form`;
  }
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

function moment(at: string): number {
  const time = MOMENT.test(at) ? Date.parse(at) : Number.NaN;
  if (Number.isNaN(time)) throw new TypeError("at must be a time such as 2026-01-31T23:59:59.000Z");
  return time;
}

/**
 * Converts a database row to an event. The hops in the event's path have no contents yet.
 *
 * @throws TypeError, SyntaxError or RangeError if the row is damaged.
 */
export function eventOf({ at, what, principal, capability, body }: EventRow): LedgerEvent {
  const kind = KINDS[whole(what) >> 1];
  if (kind === undefined) throw new TypeError("there is no such kind of event");
  const rest: { readonly [name: string]: unknown } = Object(JSON.parse(body));
  const { declared, operator, values } = rest;
  const members: Defined<LedgerEvent> = {
    principal: principal === null ? undefined : textOf(principal),
    capability: capability === null ? undefined : textOf(capability),
    ...Object.fromEntries(TEXTS.map((name) => [name, optionalText(rest[name])])),
    authority: AUTHORITIES.find((one) => one === rest["authority"]),
    operator: operator === true ? true : undefined,
    declared: typeof declared === "boolean" ? declared : undefined,
    handles: texts(rest["handles"]),
    codes: texts(rest["codes"]),
    denials: storedDenials(rest["denials"]),
    path: texts(rest["path"])?.map((revocationId) => ({ revocationId })),
    values: typeof values === "object" && values !== null ? { ...values } : undefined,
  };
  const given = Object.entries(members).filter(([, value]) => value !== undefined);
  return {
    kind,
    at: new Date(whole(at)).toISOString(),
    decision: what % 2 === 1 ? "refused" : "allowed",
    ...Object.fromEntries(given),
  };
}

type Defined<T> = { [K in keyof T]?: T[K] | undefined };

/** @throws TypeError if the string is not a hop. */
export function hopOfText(text: string): Hop {
  const reading = readHop(encodeUtf8(text));
  if (!reading.ok) throw new TypeError("this is not a hop");
  return reading.hop;
}

/** Converts an issued capability to a row. Strings are stored as JSON, which has neither NUL nor lone surrogates. */
export function issuedRow(capability: IssuedCapability): StoreTables["issued"] {
  const { id, identifier, hop, further, principal, invoker, expires, query = null } = capability;
  const hops = further === undefined ? null : JSON.stringify(further);
  const keyed = { id: JSON.stringify(id), identifier, hop, further: hops, expires, query };
  return { ...keyed, principal: JSON.stringify(principal), invoker: JSON.stringify(invoker) };
}

/** @throws TypeError or SyntaxError if the row is damaged. */
export function issuedOf({ query, further, ...row }: StoreTables["issued"]): IssuedCapability {
  const who = { principal: textOf(row.principal), invoker: textOf(row.invoker) };
  const hops = further === null ? undefined : texts(JSON.parse(further));
  return {
    ...row,
    id: textOf(row.id),
    ...who,
    further: hops,
    ...(query === null ? {} : { query }),
  };
}

function optionalText(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw new TypeError("the stored value is not a string");
}

function storedDenials(value: unknown): readonly LedgerDenial[] | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value)) throw new TypeError("the stored denials are not a list");
  return value.map((one: unknown) => {
    const { code, hop, rule }: { readonly [name: string]: unknown } = Object(one);
    return {
      code: optionalText(code) ?? "",
      ...(hop === undefined ? {} : { hop: whole(hop) }),
      ...(rule === undefined ? {} : { rule: optionalText(rule) }),
    };
  });
}

function texts(value: unknown): readonly string[] | undefined {
  if (value === undefined || isTexts(value)) return value;
  throw new TypeError("the stored list is not an array of strings");
}
