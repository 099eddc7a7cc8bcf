import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { isErrno } from "../../src/bytes/error-code.js";
import { cut, escapedJson } from "../output.js";
import type { Answer, Fault } from "./answer.js";

/** Another implementation, which answers one request after the other. */
export interface Implementation {
  ask(request: object): Promise<Answer>;
  /** Why the program could not be started, if it could not. */
  readonly startError: Error | undefined;
  close(): Promise<void>;
}

export interface ProgramOptions {
  /** Milliseconds for one answer. */
  readonly timeout: number;
  /** Where it runs; this process's own folder unless given. */
  readonly cwd?: string;
  /** Its environment; this process's own unless given. */
  readonly env?: NodeJS.ProcessEnv;
  /** How many faults in a row end it; each of them costs a fresh start. */
  readonly faultsInARow?: number;
}

const FAULTS_IN_A_ROW = 3;
const MAX_LINE = 4 * 1024 * 1024;
const MAX_SHOWN = 200;
// How long a program may take to end once its input has ended.
const GRACE = 2000;

/** One run of the program: its lines, and what became of it. */
interface Run {
  readonly child: ChildProcessWithoutNullStreams;
  readonly lines: string[];
  rest: string;
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
    const answer = await this.#ask(request);
    if (answer.kind === "answer") this.#faults = 0;
    else {
      this.#faults++;
      await this.#stop();
    }
    return answer;
  }

  async #ask(request: object): Promise<Answer> {
    const run = this.#run ?? this.#start();
    if (run.lines.length > 0) {
      return fault(
        "garbage",
        `said something before it was asked: ${cut(run.lines[0] ?? "", MAX_SHOWN)}`,
      );
    }
    // What goes wrong here shows as the end of the program.
    // Escaped, since some take U+2028 for the end of a line, Node's readline from version 24 on.
    run.child.stdin.write(`${escapedJson(request)}\n`, () => {});
    const line = await this.#line(run);
    if (typeof line !== "string") return line;
    return readAnswer(line, request);
  }

  async #line(run: Run): Promise<string | Answer> {
    const deadline = performance.now() + this.#options.timeout;
    for (;;) {
      const line = run.lines.shift();
      if (line !== undefined) return line;
      if (run.rest.length > MAX_LINE) return fault("garbage", "an endless line");
      if (run.ended !== undefined) return fault("stopped", run.ended);
      const left = deadline - performance.now();
      if (left <= 0) return fault("silent", `no answer within ${this.#options.timeout / 1000} s`);
      await nextChange(run, left);
    }
  }

  #start(): Run {
    const [file, ...args] = this.#command;
    const { cwd, env } = this.#options;
    const child = spawn(file, args, {
      ...{ cwd, env, stdio: ["pipe", "pipe", "inherit"] },
    }) as unknown as Run["child"];
    const run: Run = { child, lines: [], rest: "", ended: undefined, wake: () => {} };
    child.stdin.on("error", () => {});
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      const [first = "", ...more] = (run.rest + text).split("\n");
      run.lines.push(...[first, ...more].slice(0, -1));
      run.rest = more.at(-1) ?? first;
      run.wake();
    });
    child.on("error", (error) => {
      if (isErrno(error) && error.syscall?.startsWith("spawn") === true) this.startError = error;
      run.ended = error.message;
      run.wake();
    });
    // After the output has been read to its end.
    child.on("close", (code, signal) => {
      run.ended ??= `the program stopped (${signal ?? `exit code ${code}`})`;
      run.wake();
    });
    this.#run = run;
    return run;
  }

  async close(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    run.child.stdin.end();
    await waitForEnd(run, GRACE);
    await this.#stop();
  }

  async #stop(): Promise<void> {
    const run = this.#run;
    this.#run = undefined;
    if (run === undefined || run.ended !== undefined) return;
    run.child.kill("SIGKILL");
    // Its own children may hold the pipes open: they are not waited for.
    run.child.stdout.destroy();
    await waitForEnd(run, GRACE);
  }
}

async function waitForEnd(run: Run, milliseconds: number): Promise<void> {
  const deadline = performance.now() + milliseconds;
  for (let left = milliseconds; run.ended === undefined && left > 0; ) {
    await nextChange(run, left);
    left = deadline - performance.now();
  }
}

/** Fulfilled when the program says something or ends, or after so many milliseconds. */
function nextChange(run: Run, milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    run.wake = () => {
      clearTimeout(timer);
      resolve();
    };
  });
}

function readAnswer(line: string, request: object): Answer {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return fault("garbage", `not JSON: ${cut(line, MAX_SHOWN)}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return fault("garbage", `not a JSON object: ${cut(line, MAX_SHOWN)}`);
  }
  const id: unknown = Reflect.get(value, "id");
  const asked: unknown = Reflect.get(request, "id");
  if (id !== asked) {
    return fault("garbage", `the answer to ${JSON.stringify(id)}, asked was ${asked}`);
  }
  return { kind: "answer", value: { ...value } };
}

function fault(kind: Fault, message: string): Answer {
  return { kind, message };
}

/**
 * A command line as words, with the shell's quotes and backslashes and nothing else of it.
 *
 * @returns `undefined` if a quote is not closed, or there is no word.
 */
export function splitCommand(line: string): readonly [string, ...string[]] | undefined {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let i = 0; i < line.length; i++) {
    const character = line.charAt(i);
    if (quote === "" && /\s/.test(character)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (character === quote) quote = "";
    else if (quote === "" && (character === '"' || character === "'")) {
      quote = character;
      word ??= "";
    } else if (character === "\\" && quote !== "'" && i + 1 < line.length)
      word = (word ?? "") + line.charAt(++i);
    else word = (word ?? "") + character;
  }
  if (quote !== "") return undefined;
  if (word !== undefined) words.push(word);
  const [first, ...rest] = words;
  return first === undefined ? undefined : [first, ...rest];
}
