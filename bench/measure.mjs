// How everything here is measured: contenders take turns, round after round, so that other work on the
// machine slows all of them alike. A figure is the median of the rounds; a ratio is the median of the ratios
// within each round.
import { measure } from "mitata";

/** @import { Contender, Rounds, Size } from "./measure.mjs" */

/** @param {readonly number[]} values At least one. */
export function median(values) {
  if (values.length === 0) throw new TypeError("a median needs at least one value");
  const sorted = [...values].sort((a, b) => a - b);
  const middle = (sorted.length - 1) / 2;
  return ((sorted[Math.floor(middle)] ?? 0) + (sorted[Math.ceil(middle)] ?? 0)) / 2;
}

/**
 * The median over the rounds of what the first took as a multiple of what the second took.
 * @param {Rounds} rounds
 * @param {string} first
 * @param {string} second
 * @returns {number | undefined} Undefined if one of them was not measured.
 */
export function ratio(rounds, first, second) {
  const [a, b] = [rounds[first], rounds[second]];
  if (a === undefined || b === undefined) return undefined;
  return median(a.map((value, at) => value / (b[at] ?? Number.NaN)));
}

/**
 * A function of this process. It must throw where it does not do the work.
 * @param {string} name
 * @param {() => unknown} operation
 * @returns {Contender}
 */
export function here(name, operation) {
  return {
    name,
    async sample(milliseconds) {
      const { avg } = await measure(operation, {
        min_cpu_time: milliseconds * 1e6,
        min_samples: 1,
        gc: false,
        // Always in batches, and no sample left out: a mean that has its share of garbage collection.
        batch_samples: 16,
        batch_threshold: Infinity,
        warmup_threshold: Infinity,
        samples_threshold: Infinity,
      });
      return avg;
    },
  };
}

/**
 * A contender that times itself, for as long as its work takes.
 * @param {string} name
 * @param {() => Promise<number>} operation milliseconds each
 * @returns {Contender}
 */
export function timed(name, operation) {
  return { name, sample: async () => (await operation()) * 1e6 };
}

/**
 * Lets all contenders take turns, the other way round in every second round.
 * @param {readonly Contender[]} contenders
 * @param {Size} size
 * @returns {Promise<Rounds>}
 */
export async function inTurns(contenders, { rounds, milliseconds }) {
  /** @type {Rounds} */
  const all = Object.fromEntries(contenders.map(({ name }) => [name, []]));
  for (let round = -1; round < rounds; round++) {
    const order = round % 2 === 0 ? contenders : [...contenders].reverse();
    for (const { name, sample } of order) {
      const taken = await sample(milliseconds);
      // The round before the first warms up what is compiled as it runs.
      if (round >= 0) all[name]?.push(taken);
    }
  }
  return all;
}

/** Three significant digits, so that results can be compared and read. @param {number} value */
export function rounded(value) {
  return Number(value.toPrecision(3));
}

/**
 * A function that goes through a pool, one after another.
 * @template T
 * @param {readonly T[]} pool
 * @param {(one: T) => unknown} operation
 */
export function each(pool, operation) {
  let at = 0;
  return () => {
    const one = pool[at++ % pool.length];
    if (one === undefined) throw new TypeError("an empty pool");
    return operation(one);
  };
}

/** Microseconds. @param {Rounds} rounds @param {string} name */
export function microseconds(rounds, name) {
  const values = rounds[name];
  return values === undefined ? null : rounded(median(values) / 1000);
}
