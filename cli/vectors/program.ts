import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { isErrno } from "../../src/system/error-code.js";
import { cut, escapedJson } from "../output.js";
import type { Answer, Fault } from "./answer.js";

/** A program that implements the specification and is to be tested. It answers one request at a time. */
export interface Implementation {
  ask(request: object): Promise<Answer>;
  /** The reason why the program could not be started; `undefined` if it was started. */
  readonly startError: Error | undefined;
  close(): Promise<void>;
}

export interface ProgramOptions {
  /** Maximum time for one answer, in milliseconds. */
  readonly timeout: number;
  /** The working folder of the program; by default, that of this process. */
  readonly cwd?: string | undefined;
  /** The environment of the program; by default, that of this process. */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * Maximum number of consecutive requests without an answer. The program then gets no further requests, since
   * each fault costs a restart.
   */
  readonly faultsInARow?: number;
}

const FAULTS_IN_A_ROW = 3;
const MAX_LINE = 4 * 1024 * 1024;
const MAX_SHOWN = 200;
// After its input has ended, the program has this many milliseconds to exit.
const GRACE = 2000;

/** One run of the program: its output so far, and the reason for its end. */
interface Run {
  readonly child: ChildProcessWithoutNullStreams;
  /** Complete lines, followed by the beginning of the next line. */
  readonly lines: string[];
  ended: string | undefined;
  wake: () => void;
}

/** A program that speaks JSON lines on its standard input and output. */
export class Program implements Implementation {
  readonly #command: readonly [string, ...string[]];
  readonly #options: ProgramOptions;
  #run: Run | undefined;
  #faults = 0;
  startError: Error | undefined;

  constructor(command: readonly [string, ...string[]], options: ProgramOptions) {
    this.#command = command;
    this.#options = options;
  }

  async ask(request: object): Promise<Answer> {
    if (this.startError !== undefined) return fault("not_run", "the program could not be started");
    if (this.#faults >= (this.#options.faultsInARow ?? FAULTS_IN_A_ROW)) {
      return fault("not_run", `not asked: the program failed ${this.#faults} times in a row`);
    }
    this.#run ??= this.#start();
    const answer = await this.#ask(this.#run, request);
    if (answer.kind === "answer") this.#faults = 0;
    else {
      this.#faults++;
      await this.#stop();
    }
    return answer;
  }

  async #ask(run: Run, request: object): Promise<Answer> {
    const { timeout } = this.#options;
    const { lines, child } = run;
    if (lines.length > 1) {
      return fault("garbage", `said something before it was asked: ${shown(lines[0])}`);
    }
    // If this write fails, the program has ended, which `run.ended` shows. The request is escaped, because some
    // readers, such as Node's readline from version 24 on, take U+2028 for the end of a line.
    child.stdin.write(`${escapedJson(request)}\n`, () => {});
    const isOver = (): boolean => (lines[0]?.length ?? 0) > MAX_LINE || run.ended !== undefined;
    await until(run, timeout, () => lines.length > 1 || isOver());
    if (lines.length > 1) return readAnswer(lines.shift() ?? "", request);
    if (run.ended !== undefined) return fault("stopped", run.ended);
    return isOver()
      ? fault("garbage", "an endless line")
      : fault("silent", `no answer within ${timeout / 1000} s`);
  }

  #start(): Run {
    const [file, ...args] = this.#command;
    const { cwd, env } = this.#options;
    const child = spawn(file, args, {
      cwd,
      env,
      stdio: ["pipe", "pipe", "inherit"],
    }) as unknown as Run["child"];
    const run: Run = { child, lines: [""], ended: undefined, wake: () => {} };
    child.stdin.on("error", () => {});
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      run.lines.push(...((run.lines.pop() ?? "") + text).split("\n"));
      run.wake();
    });
    const end = (why: string): void => {
      run.ended ??= why;
      run.wake();
    };
    child.on("error", (error) => {
      if (isErrno(error) && error.syscall?.startsWith("spawn") === true) this.startError = error;
      end(error.message);
    });
    // "close" comes after the output has been read to its end.
    child.on("close", (code, signal) =>
      end(`the program stopped (${signal ?? `exit code ${code}`})`),
    );
    return run;
  }

  async close(): Promise<void> {
    this.#run?.child.stdin.end();
    if (this.#run !== undefined) await untilEnd(this.#run);
    await this.#stop();
  }

  async #stop(): Promise<void> {
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined || run.ended !== undefined) return;
    run.child.kill("SIGKILL");
    // Child processes of the program may keep its pipes open; do not wait for them.
    run.child.stdout.destroy();
    await untilEnd(run);
  }
}

function untilEnd(run: Run): Promise<void> {
  return until(run, GRACE, () => run.ended !== undefined);
}

/** Resolves when `isSo` returns true, at the latest after the given time. */
function until(run: Run, milliseconds: number, isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    // If this process was paused, an answer that arrived meanwhile is read before the immediate runs.
    const timer = setTimeout(() => setImmediate(resolve), milliseconds);
    run.wake = () => {
      if (!isSo()) return;
      clearTimeout(timer);
      resolve();
    };
    run.wake();
  });
}

function readAnswer(line: string, request: object): Answer {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return fault("garbage", `not JSON: ${shown(line)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return fault("garbage", `not a JSON object: ${shown(line)}`);
  }
  const [id, asked]: unknown[] = [value, request].map((one) => Reflect.get(one, "id"));
  if (id === asked) return { kind: "answer", value: { ...value } };
  return fault("garbage", `the answer to ${JSON.stringify(id)}, asked was ${asked}`);
}

function shown(line: string | undefined): string {
  return cut(line ?? "", MAX_SHOWN);
}

function fault(kind: Fault, message: string): Answer {
  return { kind, message };
}

// Matches a word of a shell's command line, and its quotes and escapes.
const WORD = /(?:'[^']*'|"(?:[^"\\]|\\.)*"|\\.|[^\s'"])+/gs;
const QUOTED = /'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs;

/**
 * Splits a command line into words. It supports the shell's quotes and backslashes, and no other syntax.
 *
 * @returns The words; `undefined` if a quote is not closed, or if there is no word.
 */
export function splitCommand(line: string): readonly [string, ...string[]] | undefined {
  if (line.replace(WORD, "").trim() !== "") return undefined;
  const [first, ...rest] = (line.match(WORD) ?? []).map((word) =>
    word.replace(
      QUOTED,
      (_, single?: string, double?: string, escaped = "") =>
        single ?? double?.replace(/\\(.)/gs, "$1") ?? escaped,
    ),
  );
  return first === undefined ? undefined : [first, ...rest];
}
