import { isErrno } from "../src/system/error-code.js";
import { CliError, environmentError } from "./exit.js";

/**
 * Matches Node's message for a missing package. The message for a missing file contains a path instead of a
 * package.
 */
const NOT_FOUND = /^Cannot find (?:package|module) '((?:@[^/']+\/)?[a-z\d][^/'\\:]*)[/']/i;

/** Returns the error about a package that is not installed; `undefined` if `error` has another cause. */
export function missingPackage(error: unknown): CliError | undefined {
  if (error instanceof CliError) return undefined;
  const missed = missedBy(error);
  if (missed === undefined) return undefined;
  const hint = "install proviso-cli again, with its optional dependencies";
  return environmentError("package_missing", `not installed, and needed: ${missed}`, hint);
}

/** Returns the package that an error of Node, or its cause, reports as missing. */
export function missedBy(error: unknown): string | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!isErrno(error) || !error.code?.endsWith("MODULE_NOT_FOUND")) return missedBy(error.cause);
  return NOT_FOUND.exec(error.message)?.[1];
}
