/**
 * The size of a test run. `npm test` is quick, for every change; `npm run test:full` sets `PROVISO_TEST_SIZE=full`
 * and runs all tests. The weekly run of CI sets `PROVISO_TEST_SIZE=weekly`: all tests, with more random values and more
 * repetitions. Tests that only a full run has are not registered in a quick run, so that a skipped test always
 * means that something is missing on this machine.
 */
const SIZE: "quick" | "full" | "weekly" = sizeIn(process.env["PROVISO_TEST_SIZE"] || "quick");

/** `true` if all tests run. */
export const FULL: boolean = SIZE !== "quick";

/** `true` in the weekly run of CI. */
export const WEEKLY: boolean = SIZE === "weekly";

/**
 * Returns `full` in a full run, `weekly` in the weekly run, and otherwise `quick`. `quick` is a tenth of `full` by
 * default, and `weekly` the same as `full`.
 */
export function sized(
  full: number,
  quick: number = Math.ceil(full / 10),
  weekly: number = full,
): number {
  return { quick, full, weekly }[SIZE];
}

function sizeIn(size: string): typeof SIZE {
  if (size === "quick" || size === "full" || size === "weekly") return size;
  throw new TypeError(`PROVISO_TEST_SIZE is "${size}"; expected quick, full or weekly`);
}
