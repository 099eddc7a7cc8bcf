import { test } from "vitest";
import { runsOr, SEED } from "../support/seed.js";
import { sized } from "../support/size.js";

// All random values come from one seed, which is printed. To draw others:
//
// PROVISO_FUZZ_SEED=123 npx vitest run test/fuzz
// PROVISO_FUZZ_SEED=123 PROVISO_FUZZ_RUNS=10000000 npx vitest run test/fuzz

/** For each target, its fraction of the inputs of a run. */
const SHARES = {
  "binary tokens": 0.26,
  "JSON tokens": 0.2,
  "random text": 0.12,
  hops: 0.16,
  "hops in tokens": 0.06,
  identifiers: 0.06,
  calls: 0.04,
  expressions: 0.06,
  "lists and keys": 0.04,
};

export type Target = keyof typeof SHARES;

const RUNS = runsOr(sized(100_000, 1_500, 240_000));

/** A random generator with a seed (mulberry32). */
export class Random {
  #state: number;

  constructor(seed: number) {
    this.#state = seed >>> 0;
  }

  /** Returns an integer of at least 0 and less than `limit`. */
  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * limit);
  }

  /** Returns true with a probability of one in `times`. */
  once(times: number): boolean {
    return this.below(times) === 0;
  }

  pick<T>(items: readonly [T, ...T[]] | readonly T[]): T {
    const item = items[this.below(items.length)];
    if (item === undefined && items.length === 0) throw new TypeError("nothing to pick from");
    return item as T;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  /** Calls `make` `length` times. */
  many<T>(length: number, make: () => T): T[] {
    return Array.from({ length }, make);
  }
}

/**
 * Registers a test that calls `check` once for each input of the target. Each input can be repeated alone. The
 * outcomes that `check` returns are counted and printed.
 */
export function fuzz(target: Target, check: (random: Random) => string): void {
  const runs = Math.ceil(RUNS * SHARES[target]);
  test(`${target}: ${count(runs)} inputs`, { timeout: 0 }, () => {
    const outcomes = new Map<string, number>();
    for (let input = 0; input < runs; input++) {
      try {
        const seed = Math.imul(SEED, 0x9e37_79b1) ^ Math.imul(input + 1, 0x85eb_ca6b);
        const outcome = check(new Random(seed));
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      } catch (error) {
        const message = `${target}, PROVISO_FUZZ_SEED=${SEED}, input ${input}: ${String(error)}`;
        throw new Error(message, { cause: error });
      }
    }
    const most = [...outcomes].sort(([, a], [, b]) => b - a).slice(0, 12);
    const told = most.map(([outcome, times]) => `${outcome} ${count(times)}`).join(", ");
    console.log(`${target}: ${count(runs)} inputs, PROVISO_FUZZ_SEED=${SEED}\n  ${told}`);
  });
}

function count(of: number): string {
  return of.toLocaleString("en");
}

/** The sum of the fractions of all targets, which must be 1. */
export const SHARED_OUT: number = Object.values(SHARES).reduce((sum, share) => sum + share, 0);
