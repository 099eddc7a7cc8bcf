import type { Authority } from "../src/caveats/authority.js";
import type { Domain } from "../src/caveats/domain.js";
import type { Constraint, Hop } from "../src/caveats/hop.js";
import type { Scalar } from "../src/caveats/scalar.js";
import { seenFromNow } from "./moment.js";
import { escapedJson, printable, quoted } from "./printable.js";

/** A label and what stands beside it. Every text is safe to show. */
export type Row = readonly [label: string, text: string];

const BARE = /^[A-Za-z0-9_.:/@*+-]+$/;

/** What one hop says, row by row. */
export function hopRows(hop: Hop, now: number): Row[] {
  const { purpose, nonce, maxFurtherHops, constraints = {}, ...shared } = hop;
  const rows: Row[] = [];
  if (purpose !== undefined) rows.push(["purpose", quoted(purpose)]);
  rows.push(...setRows(shared));
  for (const [argument, limit] of Object.entries(constraints)) {
    rows.push(["argument", limitText(argument, limit)]);
  }
  rows.push(...timeRows(shared, now));
  if (maxFurtherHops !== undefined) {
    rows.push(["further hops", maxFurtherHops === 0 ? "none" : `at most ${maxFurtherHops}`]);
  }
  if (nonce !== undefined) rows.push(["nonce", printable(nonce)]);
  return rows;
}

/** What all hops together leave, row by row; sets that no hop limits are shown as "any". */
export function authorityRows(authority: Authority, now: number): Row[] {
  const { constraints = {}, furtherHops, operations = "any", ...rest } = authority;
  const rows: Row[] = [
    ...(operations === "any" ? ([["operations", "any"]] as const) : setRows({ operations })),
    ...setRows(rest),
  ];
  for (const [argument, domain] of Object.entries(constraints)) {
    rows.push(["argument", domainText(argument, domain)]);
  }
  rows.push(...timeRows(authority, now));
  if (furtherHops !== undefined) {
    rows.push(["further hops", furtherHops <= 0 ? "none" : `at most ${furtherHops}`]);
  }
  return rows;
}

type Sets = Pick<Hop, "operations" | "resourceHandles" | "audience" | "invokers">;

function setRows(sets: Sets): Row[] {
  const rows: Row[] = [];
  const add = (label: string, set: readonly string[] | undefined): void => {
    if (set !== undefined) rows.push([label, set.length === 0 ? "nothing" : list(set)]);
  };
  add("operations", sets.operations);
  add("resources", sets.resourceHandles);
  add("audience", sets.audience);
  add("invokers", sets.invokers);
  return rows;
}

function timeRows(times: Pick<Hop, "expires" | "notBefore">, now: number): Row[] {
  const rows: Row[] = [];
  const { expires, notBefore } = times;
  if (notBefore !== undefined) {
    rows.push(["not before", `${notBefore} (${seenFromNow(notBefore, now)})`]);
  }
  if (expires !== undefined) rows.push(["expires", `${expires} (${seenFromNow(expires, now)})`]);
  return rows;
}

/** A limit in the words of `--arg`. */
function limitText(argument: string, limit: Constraint): string {
  const name = word(argument);
  if (limit === null || typeof limit !== "object") return `${name} = ${scalar(limit)}`;
  const parts: string[] = [];
  if (limit.min !== undefined) parts.push(`${name} >= ${limit.min}`);
  if (limit.max !== undefined) parts.push(`${name} <= ${limit.max}`);
  if (limit.in !== undefined) parts.push(`${name} in ${scalars(limit.in)}`);
  if (limit.not_in !== undefined) parts.push(`${name} not in ${scalars(limit.not_in)}`);
  return parts.join(", ");
}

function domainText(argument: string, domain: Domain): string {
  const { types, ...limit } = domain;
  if (types.length === 0) return `${word(argument)}: no value is left`;
  const [only, ...more] = limit.in ?? [];
  if (only !== undefined && more.length === 0) return limitText(argument, only);
  return limitText(argument, limit);
}

function list(items: readonly string[]): string {
  return items.map(word).join(", ");
}

function scalars(items: readonly Scalar[]): string {
  return items.map(scalar).join(",");
}

function scalar(value: Scalar): string {
  return typeof value === "string" ? word(value) : escapedJson(value);
}

// Bare where --arg would read it as this very string, else quoted.
function word(text: string): string {
  return BARE.test(text) && !isJson(text) ? text : quoted(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
