import { spawnSync } from "node:child_process";

/** Milliseconds for a look at where a syntax error is. */
const PATIENCE = 5000;

/** Where in the module's own code its author looks, and what went wrong there. */
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

// Importing does not report the line of a syntax error; checking the file alone does.
function lineOfSyntaxError(path: string): string | undefined {
  const options = { encoding: "utf8", timeout: PATIENCE } as const;
  const { stderr } = spawnSync(process.execPath, ["--check", path], options);
  const said = stderr.split("\n").find((line) => line.startsWith(`${path}:`));
  return said?.slice(path.length + 1);
}
