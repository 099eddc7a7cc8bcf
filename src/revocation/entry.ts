import { formatTime, parseTime } from "../caveats/time.js";
import { assertMembers } from "../checks/members.js";
import { plainCopy } from "../checks/plain.js";
import { isRevocationId } from "./id.js";

/**
 * The kind of object that an entry revokes: a link and everything narrowed from it, a capability, a key, or the
 * capabilities of a principal.
 */
export type RevocationKind = "link" | "capability" | "key" | "principal";

/** One entry of a revocation list. */
export interface RevocationEntry {
  readonly kind: RevocationKind;
  /** `rv_…` for a link, `cap_…` for a capability, a key id, or a principal. */
  readonly id: string;
  /** For a principal: everything issued strictly before this time is revoked. */
  readonly before?: string;
  /**
   * The time at which the last revoked token has expired, so that the entry can be removed. If absent, the entry is
   * never removed.
   */
  readonly until?: string;
  /**
   * The time of the revocation. Set in every entry that is added, listed or sent; may be absent in the result of a
   * look-up.
   */
  readonly at?: string;
  /** The reason in the operator's words. Never shown to the party that presents a token. */
  readonly reason?: string;
}

/** The data of an entry without its kind and id. Times are whole seconds since 1970. */
export interface RevocationRecord {
  readonly before: number | undefined;
  readonly until: number | undefined;
  readonly at: number;
  readonly reason: string | undefined;
}

/**
 * The part of a record that a check needs: the time before which revoked tokens were issued, and the end of the
 * revocation.
 */
export type Bounds = Pick<RevocationRecord, "before" | "until">;

/** A validated entry. */
export interface KeptRevocation {
  readonly kind: RevocationKind;
  readonly id: string;
  readonly record: RevocationRecord;
}

export const KINDS: readonly RevocationKind[] = ["link", "capability", "key", "principal"];
const MEMBERS = ["kind", "id", "before", "until", "at", "reason"];

/**
 * Validates an entry passed in by a program.
 *
 * @param where - The name of the entry in error messages.
 * @throws TypeError naming the property that is wrong.
 */
export function readEntry(entry: RevocationEntry, where = "a revocation"): KeptRevocation {
  refuseUnknown(entry, MEMBERS, where);
  const { kind, id, before, until, at, reason } = plainCopy(entry, where, "arguments");
  if (at === undefined) throw new TypeError('a revocation must say "at" when it was made');
  return checkedRevocation(kind, id, {
    before: secondsFrom(before),
    until: secondsFrom(until),
    at: secondsFrom(at) ?? 0,
    reason,
  });
}

/** @throws TypeError naming the property that is wrong. */
export function checkedRevocation(
  kind: unknown,
  id: unknown,
  record: RevocationRecord,
): KeptRevocation {
  const known = KINDS.find((one) => one === kind);
  if (known === undefined) {
    throw new TypeError(`unknown kind of revocation ${JSON.stringify(kind)}`);
  }
  if (typeof id !== "string" || id === "")
    throw new TypeError("a revocation's id must be a non-empty string");
  if (known === "link" && !isRevocationId(id)) {
    throw new TypeError(`${JSON.stringify(id)} is not a revocation id: rv_ and 22 characters`);
  }
  if ((known === "principal") !== (record.before !== undefined)) {
    throw new TypeError('"before" belongs to a principal\'s revocation, and only there');
  }
  if (record.reason !== undefined && typeof record.reason !== "string") {
    throw new TypeError("a revocation's reason must be a string");
  }
  return { kind: known, id, record };
}

/** Returns an entry for calling code. The entry is frozen, so that no code can change the list through it. */
export function entryOf({ kind, id, record }: KeptRevocation): RevocationEntry {
  const { before, until, at, reason } = record;
  return Object.freeze({
    kind,
    id,
    ...(before === undefined ? {} : { before: formatTime(before * 1000) }),
    ...(until === undefined ? {} : { until: formatTime(until * 1000) }),
    at: formatTime(at * 1000),
    reason,
  });
}

/**
 * Merges two records of the same object. The result revokes everything that either record revokes, until the later end
 * of the two.
 */
export function mergeRecords(known: RevocationRecord, added: RevocationRecord): RevocationRecord {
  return {
    ...mergeBounds(known, added),
    // A later revocation changes neither the time nor a known reason.
    at: Math.min(known.at, added.at),
    reason: known.reason ?? added.reason,
  };
}

/** Merges the bounds of two records of the same object, as {@link mergeRecords} does. */
export function mergeBounds(known: Bounds, added: Bounds): Bounds {
  return {
    before: latest(known.before, added.before),
    // A revocation without `until` never ends. If one of the two has none, the result has none.
    until:
      known.until === undefined || added.until === undefined
        ? undefined
        : latest(known.until, added.until),
  };
}

/**
 * Returns whether `known` revokes everything that `added` revokes, for at least as long. Both records must be of the
 * same object.
 */
export function covers(known: RevocationRecord, added: RevocationRecord): boolean {
  if ((known.before ?? 0) < (added.before ?? 0)) return false;
  return known.until === undefined || (added.until !== undefined && known.until >= added.until);
}

/** @throws TypeError if the string is not a timestamp. */
function secondsFrom(time: string | undefined): number | undefined {
  if (time === undefined) return undefined;
  const milliseconds = parseTime(time);
  if (milliseconds !== undefined) return milliseconds / 1000;
  throw new TypeError(`${JSON.stringify(time)} is not a time such as 2026-01-31T23:59:59Z`);
}

function latest(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.max(a, b);
}

/**
 * Refuses unknown properties, so that a misspelt property is not ignored. An absent `until`, for example, means that
 * a revocation never ends.
 *
 * @param what - The name of the value in error messages.
 * @throws TypeError if the value is not an object, or has an unknown property.
 */
export function refuseUnknown(value: object, known: readonly string[], what: string): void {
  if (typeof value !== "object" || value === null) throw new TypeError(`${what} must be an object`);
  assertMembers(value, known, what);
}
