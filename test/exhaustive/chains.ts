import type { Authority } from "../../src/caveats/authority.js";
import type { Hop } from "../../src/caveats/hop.js";
import { meet } from "../../src/caveats/meet.js";
import { HOPS, INVOCATIONS } from "./universe.js";
import { both, everything, judged, nothing, type Verdict } from "./verdicts.js";

// Judges every chain of up to three hops of the small universe for all invocations at once. `judgeHop` fills TABLE; a
// chain allows the invocations that all of its hops allow.

export const LONGEST = 3;
/** Time limit of a test in milliseconds; generous, since the machine may be busy. */
export const PATIENCE = 300_000;
export const TABLE: readonly (readonly Verdict[])[] = HOPS.map((hop) =>
  Array.from({ length: LONGEST }, (_, furtherLinks) => judged(hop, furtherLinks)),
);

/** A chain under construction: hop numbers, the invocations that they allow, and their meet. */
export interface Walk {
  readonly hops: readonly number[];
  readonly allowed: Verdict;
  readonly authority: Authority;
}

const START: Walk = { hops: [], allowed: everything(), authority: {} };

/** Appends a hop to a chain that will have `length` hops. */
function step(walk: Walk, at: number, length: number, into: Verdict): Walk {
  const furtherLinks = length - walk.hops.length - 1;
  return {
    hops: [...walk.hops, at],
    allowed: both(walk.allowed, TABLE[at]?.[furtherLinks] ?? nothing(), into),
    authority: meet(walk.authority, hopAt(at), furtherLinks),
  };
}

export function hopAt(at: number): Hop {
  return HOPS[at] ?? {};
}

/**
 * Calls `visit` with every chain of exactly `length` hops. The verdict of a chain is overwritten after `visit`
 * returns.
 */
export function everyChain(length: number, visit: (chain: Walk) => void): void {
  const scratch = Array.from({ length: length + 1 }, nothing);
  const go = (walk: Walk): void => {
    const into = scratch[walk.hops.length] ?? nothing();
    if (walk.hops.length === length) visit(walk);
    else for (let at = 0; at < HOPS.length; at++) go(step(walk, at, length, into));
  };
  go(START);
}

/** Collects descriptions of the first few failing chains. */
export class Findings {
  readonly #first: string[] = [];
  add(chain: readonly number[], why: string): void {
    if (this.#first.length < 5) this.#first.push(`${why}: ${JSON.stringify(chain.map(hopAt))}`);
  }
  get first(): readonly string[] {
    return this.#first;
  }
}

export function report(what: string, chains: number): void {
  const cases = (chains * INVOCATIONS.length).toLocaleString("en");
  console.log(`${what}: ${chains.toLocaleString("en")} chains, ${cases} cases`);
}

/** Number of chains of one to three hops. */
export const ALL: number = HOPS.length + HOPS.length ** 2 + HOPS.length ** 3;
