import type { FailedCall } from "../../src/protocols/mcp/learn/call-outcomes.js";
import type {
  LearnedLimits,
  LeftOut,
  OpenArgument,
  RecordedCall,
} from "../../src/protocols/mcp/learn/learned-limits.js";
import { printable } from "../output.js";

/** The calls and errors in a recording. */
export interface Seen {
  readonly calls: readonly RecordedCall[];
  /** Calls that failed, from which nothing is learned. */
  readonly failed: readonly FailedCall[];
  /** The number of messages that a gate would refuse with any token, for each reason. */
  readonly refused: ReadonlyMap<string, number>;
  /** The number of malformed lines in the file. */
  readonly unreadable: number;
}

/** Describes what was learned from a recording, and what was not. */
export function seenLines(
  recording: string,
  { calls, open, leftOut }: LearnedLimits,
  { refused, failed, unreadable }: Seen,
): readonly string[] {
  const refusals = [...refused].map(
    ([reason, count]) => `${timesText(count)}: ${printable(reason)}`,
  );
  return [
    `Learned from ${printable(recording)}, which has all that was sent; delete it when you no longer need it:`,
    ...[...calls].map(([operation, count]) => `  ${printable(operation)}, ${timesText(count)}`),
    ...indented("With any value:", open.map(openText)),
    ...indented("Seen, but not allowed:", leftOut.map(leftOutText)),
    ...indented("Calls that failed, from which nothing is learned:", failedLines(failed)),
    ...indented("Seen, but refused by a gate, whatever the token:", refusals),
    ...(unreadable === 0 ? [] : [`Passed over lines that are not of a recording: ${unreadable}`]),
  ];
}

function openText({ operation, argument, isElements }: OpenArgument): string {
  return printable(`${operation}, ${isElements ? "elements of " : ""}argument ${argument}`);
}

/** Describes an operation that the learned limits do not allow. */
export function leftOutText({ operation, argument, reason }: LeftOut): string {
  const subject = argument === undefined ? operation : `${operation}, argument ${argument}`;
  return printable(`${subject}: ${reason}`);
}

function failedLines(failed: readonly FailedCall[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { operation } of failed) counts.set(operation, (counts.get(operation) ?? 0) + 1);
  return [...counts].map(([operation, count]) => `${printable(operation)}, ${timesText(count)}`);
}

function indented(heading: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [heading, ...lines.map((line) => `  ${line}`)];
}

function timesText(count: number): string {
  return count === 1 ? "once" : `${count} times`;
}
