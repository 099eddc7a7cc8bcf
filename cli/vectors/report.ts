import { cut, type Paint, printable } from "../output.js";
import type { Outcome } from "./answer.js";
import type { Vector } from "./file.js";

export interface Result {
  readonly vector: Vector;
  readonly outcome: Outcome;
}

type Counts = Readonly<Record<Outcome["status"], number>>;

type FailureInfo = Pick<Vector, "file" | "subject"> &
  Pick<Vector["test"], "tcId" | "comment" | "flags"> &
  Omit<Extract<Outcome, { status: "failed" }>, "status">;

/** The results of a run, as one JSON document. */
export interface Report extends Counts {
  readonly implementation: string;
  readonly tests: number;
  readonly flags: { readonly [flag: string]: Counts };
  readonly failures: readonly FailureInfo[];
  readonly notSupported: readonly { readonly tcId: number; readonly reason: string }[];
}

const MAX_FAILURES = 20;
const MAX_LINE = 300;

export function reportFrom(implementation: string, results: readonly Result[]): Report {
  const flags = new Map<string, Result[]>();
  for (const result of results) {
    for (const flag of result.vector.test.flags) {
      flags.set(flag, [...(flags.get(flag) ?? []), result]);
    }
  }
  return {
    implementation,
    tests: results.length,
    ...countsOf(results),
    flags: Object.fromEntries([...flags].map(([flag, own]) => [flag, countsOf(own)])),
    failures: results.flatMap(failureFrom),
    notSupported: results.flatMap(({ vector, outcome }) =>
      outcome.status === "unsupported" ? [{ tcId: vector.test.tcId, reason: outcome.reason }] : [],
    ),
  };
}

function countsOf(results: readonly Result[]): Counts {
  const count = (status: Outcome["status"]): number =>
    results.filter(({ outcome }) => outcome.status === status).length;
  return { passed: count("passed"), failed: count("failed"), unsupported: count("unsupported") };
}

function failureFrom({ vector, outcome }: Result): FailureInfo[] {
  if (outcome.status !== "failed") return [];
  const { status: _, ...rest } = outcome;
  const { tcId, comment, flags } = vector.test;
  return [{ tcId, file: vector.file, subject: vector.subject, comment, flags, ...rest }];
}

/** Formats the report for people: a table by flag, then the failures, then the totals. */
export function renderReport(report: Report, paint: Paint): string[] {
  const { implementation, tests, flags, failures, notSupported } = report;
  const lines = [paint.bold(`${tests} tests, ${printable(implementation)}`), ""];
  const width = Math.max(...Object.keys(flags).map((flag) => flag.length), 4);
  lines.push(paint.dim(row("flag", ["passed", "failed", "not supported"], width)));
  for (const [flag, { passed, failed, unsupported }] of Object.entries(flags)) {
    const line = row(flag, [passed, failed, unsupported], width);
    lines.push(failed > 0 ? paint.red(line) : line);
  }
  for (const failure of failures.slice(0, MAX_FAILURES))
    lines.push("", ...failureLines(failure, paint));
  if (failures.length > MAX_FAILURES) {
    lines.push("", `and ${failures.length - MAX_FAILURES} more failures; --json has all of them`);
  }
  const reasons = [...new Set(notSupported.map(({ reason }) => reason))];
  if (reasons.length > 0) {
    lines.push(
      "",
      ...reasons.map((reason) => `not supported: ${printable(cut(reason, MAX_LINE))}`),
    );
  }
  return [...lines, "", sumOf(report, paint)];
}

function row(name: string, cells: readonly (string | number)[], width: number): string {
  const [passed = "", failed = "", unsupported = ""] = cells.map(String);
  return `${name.padEnd(width)}  ${passed.padStart(6)}  ${failed.padStart(6)}  ${unsupported.padStart(13)}`;
}

function failureLines(failure: FailureInfo, paint: Paint): string[] {
  const { tcId, subject, comment, flags, expected, got } = failure;
  return [
    `${paint.red(`failed ${tcId}`)}  ${printable(`${subject}: ${comment}`)}  ${paint.dim(flags.join(" "))}`,
    `  expected  ${printable(cut(expected, MAX_LINE))}`,
    `  got       ${printable(cut(got, MAX_LINE))}`,
  ];
}

function sumOf({ passed, failed, unsupported }: Counts, paint: Paint): string {
  const sum = `${passed} passed, ${failed} failed, ${unsupported} not supported`;
  return failed > 0 || passed === 0 ? paint.red(sum) : paint.green(sum);
}
