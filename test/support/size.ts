/**
 * The size of a test run. `npm test` is quick, for every change; `npm run test:full` sets `PROVISO_TEST_SIZE=full`
 * and runs everything. Tests that only a full run has are not registered in a quick run, so that a skipped test
 * always means that something is missing on this machine.
 */
export const FULL: boolean = isFull(process.env["PROVISO_TEST_SIZE"]);

/** Returns `full` in a full run, otherwise `quick`, which is a tenth of `full` by default. */
export function sized(full: number, quick: number = Math.ceil(full / 10)): number {
  return FULL ? full : quick;
}

function isFull(size = ""): boolean {
  if (["", "quick", "full"].includes(size)) return size === "full";
  throw new TypeError(`PROVISO_TEST_SIZE is "${size}"; expected quick or full`);
}
