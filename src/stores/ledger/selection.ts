import type { LedgerQuery } from "../../agent/ledger.js";
import { parseTime } from "../../caveats/time.js";
import { KINDS, textKey } from "./row.js";

/** What a batch of events is found by if one of them is a principal's, given as a JSON string. */
export function principalKey(principal: string): string {
  return `p${principal}`;
}

/** And if one of them is of a capability, given as a JSON string. */
export function capabilityKey(capability: string): string {
  return `c${capability}`;
}

/** And if one of them is a refusal. */
export const REFUSED_KEY = "r";

const QUERY_KEYS = ["principal", "capability", "since", "decision", "kind", "limit"];

/**
 * The SELECT that answers a query, newest first.
 *
 * @throws TypeError if it asks for what there is not.
 */
export function selection(query: LedgerQuery): { sql: string; values: (string | number)[] } {
  const unknown = Object.keys(query).find((key) => !QUERY_KEYS.includes(key));
  if (unknown !== undefined) {
    throw new TypeError(`unknown filter "${unknown}"; there are ${QUERY_KEYS.join(", ")}`);
  }
  const { principal, capability, since, decision, kind, limit } = query;
  if (decision !== undefined && decision !== "allowed" && decision !== "refused") {
    throw new TypeError('decision must be "allowed" or "refused"');
  }
  if (kind !== undefined && !KINDS.includes(kind)) {
    throw new TypeError(`kind must be one of ${KINDS.join(", ")}`);
  }
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1)) {
    throw new TypeError("limit must be a whole number of at least 1");
  }
  const from = since === undefined ? undefined : parseTime(since);
  if (since !== undefined && from === undefined) {
    throw new TypeError("since must be a time: YYYY-MM-DDTHH:MM:SSZ");
  }
  const conditions: string[] = [];
  const values: (string | number)[] = [];
  const hold = (condition: string, ...of: (string | number)[]): void => {
    conditions.push(condition);
    values.push(...of);
  };
  // What few batches have comes first.
  const whose = principal === undefined ? undefined : textKey(principal);
  const which = capability === undefined ? undefined : textKey(capability);
  if (which !== undefined) hold(BATCH, capabilityKey(which));
  else if (whose !== undefined) hold(BATCH, principalKey(whose));
  else if (decision === "refused") hold(BATCH, REFUSED_KEY);
  const table = conditions.length === 0 ? "event" : "mention CROSS JOIN event";

  if (which !== undefined) hold("event.capability = ?", which);
  if (whose !== undefined) hold("event.principal = ?", whose);
  if (from !== undefined) hold("event.at >= ?", from);
  if (decision !== undefined) hold("event.what % 2 = ?", decision === "refused" ? 1 : 0);
  if (kind !== undefined) hold("event.what / 2 = ?", KINDS.indexOf(kind));
  const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  const columns = "event.at, event.what, event.principal, event.capability, event.body";
  const order = "ORDER BY event.at DESC, event.seq DESC LIMIT ?";
  return {
    sql: `SELECT ${columns} FROM ${table}${where} ${order}`,
    values: [...values, limit ?? -1],
  };
}

/** Events of the batches that are found by a key; CROSS makes SQLite look for the batches first. */
const BATCH = "mention.key = ? AND event.seq BETWEEN mention.first AND mention.last";
