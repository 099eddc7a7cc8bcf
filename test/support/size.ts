/**
 * How much a test run tries. `npm test` is quick, for every change; `npm run test:full` sets
 * `PROVISO_TEST_SIZE=full` and tries everything. What only a full run tries is not registered in a
 * quick one, so that a skipped test always means that something is missing on this machine.
 */
export const FULL: boolean = isFull(process.env["PROVISO_TEST_SIZE"]);

/** A count in a full run, and in a quick one: a tenth unless given. */
export function sized(full: number, quick: number = Math.ceil(full / 10)): number {
  return FULL ? full : quick;
}

/**
 * Of a property that must also have met what is rare: a quick run draws the same each time, since by chance
 * it would now and then draw too little of it.
 */
export const SEEDED: { readonly seed?: number } = FULL ? {} : { seed: 7 };

function isFull(size = ""): boolean {
  if (["", "quick", "full"].includes(size)) return size === "full";
  throw new TypeError(`PROVISO_TEST_SIZE is "${size}"; expected quick or full`);
}
