import type { Authority } from "../../src/caveats/authority.js";
import type { Domain } from "../../src/caveats/domain.js";
import type { Hop } from "../../src/caveats/hop.js";
import type { CheckedInvocation } from "../../src/caveats/invocation.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { jsonType } from "./model.js";
import { INVOCATIONS } from "./universe.js";

/** One bit for each invocation, set if the invocation is allowed. */
export type Verdict = Uint32Array;

const WORDS = Math.ceil(INVOCATIONS.length / 32);

function verdict(allowed: (asked: CheckedInvocation) => boolean): Verdict {
  const bits = new Uint32Array(WORDS);
  for (const [at, asked] of INVOCATIONS.entries()) {
    if (allowed(asked)) bits[at >> 5] = (bits[at >> 5] ?? 0) | (1 << (at & 31));
  }
  return bits;
}

/** Returns the invocations that `judgeHop` allows. */
export function judged(hop: Hop, furtherLinks: number): Verdict {
  return verdict((asked) => judgeHop(hop, asked, furtherLinks).length === 0);
}

/** Writes the intersection of two verdicts to `out`. */
export function both(a: Verdict, b: Verdict, out: Verdict): Verdict {
  for (let at = 0; at < WORDS; at++) out[at] = (a[at] ?? 0) & (b[at] ?? 0);
  return out;
}

export function nothing(): Verdict {
  return new Uint32Array(WORDS);
}

export function everything(): Verdict {
  return verdict(() => true);
}

export function same(a: Verdict, b: Verdict): boolean {
  for (let at = 0; at < WORDS; at++) if (a[at] !== b[at]) return false;
  return true;
}

/** Returns whether `b` allows everything that `a` allows. */
export function within(a: Verdict, b: Verdict): boolean {
  for (let at = 0; at < WORDS; at++) if (((a[at] ?? 0) & ~(b[at] ?? 0)) !== 0) return false;
  return true;
}

/** A meet as a string that is independent of the order of its parts, and the verdict of the meet. */
interface Meaning {
  readonly form: string;
  readonly allowed: Verdict;
}

// Verdicts are cached by form, so that millions of meets can be evaluated.
const known = new Map<string, Verdict>();

/** Returns the invocations that a meet allows, by the doc comments of `Authority` and `Domain`. */
export function meaningOf(authority: Authority): Meaning {
  const { operations, resourceHandles, constraints = {}, expires, notBefore } = authority;
  const domains = Object.keys(constraints).map((name) => formOf(name, constraints[name]));
  const sealed = authority.furtherHops;
  const form = `${operations}|${resourceHandles}|${expires}|${notBefore}|${sealed}|${domains.sort()}`;
  let allowed = known.get(form);
  if (allowed === undefined) {
    allowed = verdict((asked) => contains(authority, asked));
    known.set(form, allowed);
  }
  return { form, allowed };
}

function formOf(name: string, domain: Domain | undefined): string {
  const { types, min, max, in: listed, not_in: excluded } = domain ?? { types: [] };
  const out = excluded?.map((value) => JSON.stringify(value)).sort();
  return `${name}:${types}|${min}|${max}|${JSON.stringify(listed)}|${out}`;
}

function contains(authority: Authority, asked: CheckedInvocation): boolean {
  const { operations, resourceHandles, constraints = {}, expires, notBefore } = authority;
  if (operations && !operations.includes(asked.operation)) return false;
  if (resourceHandles && asked.resourceHandles.length === 0) return false;
  if (resourceHandles && !asked.resourceHandles.every((one) => resourceHandles.includes(one)))
    return false;
  for (const [name, domain] of Object.entries(constraints)) {
    if (!isIn(domain, asked.arguments[name])) return false;
  }
  if (expires !== undefined && asked.time >= expires) return false;
  if (notBefore !== undefined && asked.time < notBefore) return false;
  return (authority.furtherHops ?? 0) >= 0;
}

/** Returns whether a value is in a domain; an absent value is in no domain. */
export function isIn(domain: Domain, value: unknown): boolean {
  const { types, min, max, in: listed, not_in: excluded } = domain;
  if (!types.some((type) => type === jsonType(value))) return false;
  if (listed && !listed.some((one) => one === value)) return false;
  if (excluded?.some((one) => one === value)) return false;
  if (typeof value !== "number") return min === undefined && max === undefined;
  return (min ?? value) <= value && value <= (max ?? value);
}
