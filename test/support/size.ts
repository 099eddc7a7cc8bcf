/**
 * The size of a test run. `npm test` is quick, for every change; `npm run test:full` sets `PROVISO_TEST_SIZE=full`
 * and runs everything. Tests of a full run are not registered in a quick one, so that a skipped test always means
 * that something is missing on this machine.
 */
export const FULL: boolean = isFull(process.env["PROVISO_TEST_SIZE"]);

/** Returns a count for a full run, and for a quick one: a tenth unless given. */
export function sized(full: number, quick: number = Math.ceil(full / 10)): number {
  return FULL ? full : quick;
}

/**
 * Options for a property that must reach rare cases: a quick run always draws the same values, since by chance it
 * would
 * sometimes draw too few rare ones.
 */
export const SEEDED: { readonly seed?: number } = FULL ? {} : { seed: 7 };

function isFull(size = ""): boolean {
  if (["", "quick", "full"].includes(size)) return size === "full";
  throw new TypeError(`PROVISO_TEST_SIZE is "${size}"; expected quick or full`);
}
