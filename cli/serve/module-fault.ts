import { spawnSync } from "node:child_process";
import { dirname } from "node:path";
import { missedBy } from "../missing-package.js";

/** Milliseconds for finding a syntax error. */
const PATIENCE = 5000;

/** Describes an error for the module's author: the place in the module's code, and the message. */
export function placeAndReason(
  path: string,
  error: unknown,
): readonly [place: string, reason: string] {
  if (!(error instanceof Error)) return [path, "something that is no error was thrown"];
  const { name, message, stack = "" } = error;
  const frame = stack.split("\n").find((line) => /^\s+at (?!.*\bnode:)/.test(line));
  if (name !== "SyntaxError") return [path, frame ? `${message} (${frame.trim()})` : message];
  const line = /^file:.*:(\d+)$/m.exec(stack)?.[1] ?? lineOfSyntaxError(path);
  if (line !== undefined) return [`${path}:${line}`, message];
  return [path, `${message}, in it or in a module that it imports`];
}

/**
 * Explains how to install a package that a user's module imports. It must be installed beside the module, since
 * the command's own packages are not searched.
 *
 * @returns `undefined` if the error has another cause.
 */
export function howToInstall(path: string, error: unknown): string | undefined {
  const missed = missedBy(error);
  return missed === undefined
    ? undefined
    : `install it beside the module: cd ${dirname(path)} && npm install ${missed}`;
}

// An import does not report the line of a syntax error; checking the file alone does.
function lineOfSyntaxError(path: string): string | undefined {
  const options = { encoding: "utf8", timeout: PATIENCE } as const;
  const { stderr } = spawnSync(process.execPath, ["--check", path], options);
  const said = stderr.split("\n").find((line) => line.startsWith(`${path}:`));
  return said?.slice(path.length + 1);
}
