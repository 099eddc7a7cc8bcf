import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { missedBy } from "../missing-package.js";

/** Milliseconds allowed for finding a syntax error. */
const PATIENCE = 5000;

/** Describes an error for the author of a module, by the place in the module's code and by the message. */
export function placeAndReason(
  path: string,
  error: unknown,
): readonly [place: string, reason: string] {
  if (!(error instanceof Error)) return [path, "a value that is not an Error was thrown"];
  const { name, message, stack = "" } = error;
  const frame = stack.split("\n").find((line) => /^\s+at (?!.*\bnode:)/.test(line));
  if (name !== "SyntaxError") return [path, frame ? `${message} (${frame.trim()})` : message];
  const line = /^file:.*:(\d+)$/m.exec(stack)?.[1] ?? lineOfSyntaxError(path);
  if (line !== undefined) return [`${path}:${line}`, message];
  return [path, `${message}, in it or in a module that it imports`];
}

/**
 * Returns how to install a package that a user's module imports but Node cannot find. It must be installed
 * beside the module, since Node does not search this command's own packages.
 *
 * @returns An instruction; `undefined` if the error has another cause.
 */
export function howToInstall(path: string, error: unknown): string | undefined {
  const missed = missedBy(error);
  return missed === undefined
    ? undefined
    : `install it beside the module: cd ${dirname(path)} && npm install ${missed}`;
}

// Finds the line of a syntax error. The error of an import has no line, but a check of the file alone reports
// it.
function lineOfSyntaxError(path: string): string | undefined {
  const options = { encoding: "utf8", timeout: PATIENCE } as const;
  const { stderr } = spawnSync(process.execPath, ["--check", path], options);
  const said = stderr.split("\n").find((line) => line.startsWith(`${path}:`));
  return said?.slice(path.length + 1);
}
