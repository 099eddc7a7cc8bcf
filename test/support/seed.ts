/**
 * The seed of all random values in the tests. It is fixed, so that a run fails only because of a change.
 * `PROVISO_FUZZ_SEED` gives other values, as the weekly run of CI does.
 */
export const SEED: number = wholeNumber("PROVISO_FUZZ_SEED", 38);

/** Returns the number of runs that `PROVISO_FUZZ_RUNS` gives, or else `otherwise`. */
export function runsOr(otherwise: number): number {
  return wholeNumber("PROVISO_FUZZ_RUNS", otherwise);
}

function wholeNumber(name: string, otherwise: number): number {
  const given = process.env[name];
  if (given === undefined || given === "") return otherwise;
  const value = Number(given);
  if (Number.isSafeInteger(value) && value > 0) return value;
  throw new TypeError(`${name} must be a whole number above 0, not ${given}`);
}
