// The method of all measurements: contenders take turns, round after round, so that other work on the machine
// slows all of them alike. A figure is the median of the rounds; a ratio is the median of the ratios within
// each round.
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
 * Returns the median, over the rounds, of the first contender's time divided by the second contender's time.
 * @param {Rounds} rounds
 * @param {string} first
 * @param {string} second
 * @returns {number | undefined} `undefined` if one of the two was not measured.
 */
export function ratio(rounds, first, second) {
  const [a, b] = [rounds[first], rounds[second]];
  if (a === undefined || b === undefined) return undefined;
  return median(a.map((value, at) => value / (b[at] ?? Number.NaN)));
}

/**
 * Returns a contender that runs a function in this process. The function must throw if it does not do the work.
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
        // Measures in batches and leaves out no samples, so that the mean includes garbage collection.
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
 * Returns a contender that times itself, for as long as its work takes.
 * @param {string} name
 * @param {() => Promise<number>} operation - Returns milliseconds per operation.
 * @returns {Contender}
 */
export function timed(name, operation) {
  return { name, sample: async () => (await operation()) * 1e6 };
}

/**
 * Lets all contenders take turns, in reverse order in every second round.
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
      // An additional round at the start warms up the JIT compiler.
      if (round >= 0) all[name]?.push(taken);
    }
  }
  return all;
}

/** Rounds to three significant digits, for comparison and reading. @param {number} value */
export function rounded(value) {
  return Number(value.toPrecision(3));
}

/**
 * Returns a function that applies an operation to the items of a pool in turn.
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

/**
 * Returns the median of a contender in microseconds; `null` if it was not measured. @param {Rounds} rounds @param
 * {string} name
 */
export function microseconds(rounds, name) {
  const values = rounds[name];
  return values === undefined ? null : rounded(median(values) / 1000);
}
