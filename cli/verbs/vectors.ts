import type { Command } from "commander";
import { errorCode, reasonFor } from "../../src/system/error-code.js";
import type { Context } from "../context.js";
import { EXIT, type ExitCode, environmentError, usageError } from "../exit.js";
import { printAnswer, sayOver, stdoutPaint } from "../output.js";
import { judge } from "../vectors/answer.js";
import { isWanted, readVectors, type Vector } from "../vectors/file.js";
import { type Implementation, Program, splitCommand } from "../vectors/program.js";
import { type Report, type Result, renderReport, reportFrom } from "../vectors/report.js";
import { answerHere, type OwnRequest } from "../vectors/self.js";
import { act, addExamples, collect, type GlobalOptions } from "../verb.js";

interface Options extends GlobalOptions {
  readonly impl?: string;
  readonly filter?: readonly string[];
  readonly timeout: number;
}

const PROGRESS_EVERY = 10;
const HERE = "this implementation";

export function define(program: Command, context: Context): void {
  const vectors = program
    .command("vectors")
    .summary("run the conformance vectors")
    .helpCommand(false)
    .description("The specification's test cases, for this implementation or another one.");
  const checking = vectors
    .command("check")
    .description(
      "Runs every vector and compares the answers. Another implementation is any program that\n" +
        "answers JSON lines as spec-vectors/README.md says, in any language.",
    )
    .option("--impl <command>", "the program to run; this implementation unless given")
    .option(
      "--filter <text>",
      "only tests with this id, or this text in flag, subject or comment; repeat for more",
      collect,
    )
    .option("--timeout <seconds>", "how long one answer may take", toSeconds, 10)
    .action(act(context, check));
  for (const command of [vectors, checking]) {
    addExamples(command, [
      "proviso vectors check",
      "proviso vectors check --filter Revocation --filter StaleList",
      "proviso vectors check --json > report.json",
    ]);
  }
}

async function check(context: Context, options: Options): Promise<void> {
  const wanted = readVectors().filter((vector) => isWanted(vector, options.filter ?? []));
  if (wanted.length === 0) {
    throw usageError("no test is left by --filter", "proviso vectors check lists all flags");
  }
  const implementation = implementationFrom(context, options);
  const results = await runAll(context, wanted, implementation);
  const { startError } = implementation;
  if (startError !== undefined) {
    const message = `the program could not be started: ${reasonFor(errorCode(startError), "read")}`;
    const hint = "check --impl: the program's name, and that it may be run";
    throw environmentError("implementation_not_started", message, hint);
  }
  const report = reportFrom(options.impl ?? HERE, results);
  printAnswer(context, options, report, renderReport(report, stdoutPaint(context)));
  context.exitCode = exitFrom(report);
}

function implementationFrom({ cwd, env }: Context, { impl, timeout }: Options): Implementation {
  if (impl === undefined) return here();
  const command = splitCommand(impl);
  if (command !== undefined) return new Program(command, { timeout: timeout * 1000, cwd, env });
  throw usageError("--impl is not a command", 'for example --impl "python3 adapter.py"');
}

/** Returns the implementation in this package, which runs in this process. */
function here(): Implementation {
  return {
    startError: undefined,
    ask: async (request) => {
      return { kind: "answer", value: answerHere(request as OwnRequest) };
    },
    close: async () => {},
  };
}

async function runAll(
  context: Context,
  wanted: readonly Vector[],
  implementation: Implementation,
): Promise<Result[]> {
  const results: Result[] = [];
  const showsProgress = context.stderr.isTerminal;
  try {
    for (const vector of wanted) {
      if (showsProgress && results.length % PROGRESS_EVERY === 0) {
        sayOver(context, `${results.length} of ${wanted.length} `);
      }
      results.push({ vector, outcome: judge(vector, await implementation.ask(vector.request)) });
    }
  } finally {
    if (showsProgress) sayOver(context, "\u001b[K");
    await implementation.close();
  }
  return results;
}

function exitFrom({ failures, passed }: Report): ExitCode {
  if (failures.some(({ fault }) => fault === "stopped")) return EXIT.environment;
  return failures.length > 0 || passed === 0 ? EXIT.refused : EXIT.done;
}

function toSeconds(text: string): number {
  const seconds = Number(text);
  if (/^\d+(\.\d+)?$/.test(text) && seconds > 0 && seconds <= 3600) return seconds;
  throw usageError(`--timeout cannot be ${text}`, "seconds, such as 10 or 0.5, at most 3600");
}
