import { assertMembers } from "../caveats/known-members.js";
import { parseTime } from "../caveats/time.js";
import { isRevocationId } from "./id.js";

/** What is revoked: one link and all that descends from it, a capability, a key, or a principal's. */
export type RevocationKind = "link" | "capability" | "key" | "principal";

/** One entry of a revocation list. */
export interface RevocationEntry {
  readonly kind: RevocationKind;
  /** `rv_…` for a link, `cap_…` for a capability, a key id, or a principal. */
  readonly id: string;
  /** For a principal: what was issued strictly before this moment is revoked. */
  readonly before?: string;
  /** When the last token concerned has expired and the entry can go; absent means never. */
  readonly until?: string;
  /** When it was revoked. */
  readonly at: string;
  /** Why, in the operator's words; never shown to the party that presents a token. */
  readonly reason?: string;
}

/** Of two entries for the same thing: one that revokes what either does, for as long as either. */
export function mergeEntries(known: RevocationEntry, added: RevocationEntry): RevocationEntry {
  const longest = latest(known.until, added.until);
  const widest = latest(known.before, added.before);
  // The first revocation keeps its moment and reason: a later one cannot rewrite them.
  const reason = known.reason ?? added.reason;
  return Object.freeze({
    kind: known.kind,
    id: known.id,
    ...(widest === undefined ? {} : { before: widest }),
    // Absent means never, so it stays absent.
    ...(known.until === undefined || added.until === undefined || longest === undefined
      ? {}
      : { until: longest }),
    at: earliest(known.at, added.at),
    ...(reason === undefined ? {} : { reason }),
  });
}

function earliest(a: string, b: string): string {
  return a > b ? b : a;
}

function latest(a: string | undefined, b: string | undefined): string | undefined {
  return a === undefined ? b : b === undefined || a > b ? a : b;
}

/**
 * A frozen copy, so that the party that made or read the entry cannot change it afterwards.
 *
 * @throws TypeError naming the member that is wrong.
 */
export function checkedEntry(entry: RevocationEntry): RevocationEntry {
  refuseUnknown(entry, ["kind", "id", "before", "until", "at", "reason"], "a revocation");
  const { kind, id, before, until, at, reason } = entry;
  if (!["link", "capability", "key", "principal"].includes(kind)) {
    throw new TypeError(`unknown kind of revocation ${JSON.stringify(kind)}`);
  }
  if (typeof id !== "string" || id === "")
    throw new TypeError("a revocation's id must be a string");
  if (kind === "link" && !isRevocationId(id)) {
    throw new TypeError(`${JSON.stringify(id)} is not a revocation id: rv_ and 22 characters`);
  }
  if ((kind === "principal") !== (before !== undefined)) {
    throw new TypeError('"before" belongs to a principal\'s revocation, and only there');
  }
  for (const time of [before, until, at]) {
    if (time !== undefined && parseTime(time) === undefined) {
      throw new TypeError(`${JSON.stringify(time)} is not a time such as 2026-01-31T23:59:59Z`);
    }
  }
  if (at === undefined) throw new TypeError('a revocation must say "at" when it was made');
  if (reason !== undefined && typeof reason !== "string") {
    throw new TypeError("a revocation's reason must be a string");
  }
  return Object.freeze({
    kind,
    id,
    ...(before === undefined ? {} : { before }),
    ...(until === undefined ? {} : { until }),
    at,
    ...(reason === undefined ? {} : { reason }),
  });
}

/**
 * A misspelt member must not pass for an absent one: most absent members mean "for ever".
 *
 * @param what - The value, as the message names it.
 * @throws TypeError if the value is not an object, or has a member that is not known.
 */
export function refuseUnknown(value: object, known: readonly string[], what: string): void {
  if (typeof value !== "object" || value === null) throw new TypeError(`${what} must be an object`);
  assertMembers(value, known, what);
}
