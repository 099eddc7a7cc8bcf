import { type ChildProcess, spawn } from "node:child_process";
import { onTestFinished } from "vitest";
import { type HereOptions, runHere } from "./run.js";

/** A command that runs until it is stopped. `stdout` and `stderr` have the output so far. */
export abstract class Running {
  stdout = "";
  stderr = "";
  /** Fulfilled with the exit code, or with the signal that ended the command. */
  abstract readonly ended: Promise<number | NodeJS.Signals | null>;

  /** Stops the command, as a signal does. */
  abstract stop(): void;

  /** Waits for an output that matches. @throws Error with the whole output, if the program ends first. */
  async says(pattern: RegExp, stream: "stdout" | "stderr" = "stdout"): Promise<string> {
    let over = false;
    this.ended.then(() => {
      over = true;
    });
    for (;;) {
      const found = pattern.exec(this[stream])?.[0];
      if (found !== undefined) return found;
      if (over) throw new Error(`it ended: ${this.stdout}${this.stderr}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }
}

/** A program that runs in a separate process. */
export class RunningProgram extends Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | NodeJS.Signals | null>;

  /** Starts the program. The test that starts it must also end it. */
  constructor(
    args: readonly string[],
    env: { readonly [name: string]: string },
    cwd: string,
    stdin: "ignore" | "pipe" = "ignore",
  ) {
    super();
    const { PATH, TMPDIR } = process.env;
    const all = { PATH, TMPDIR, HOME: "/nonexistent", NO_COLOR: "1", ...env };
    this.child = spawn(process.execPath, args, {
      cwd,
      env: all,
      stdio: [stdin, "pipe", "pipe"],
    });
    this.child.stdout?.setEncoding("utf8").on("data", (text: string) => {
      this.stdout += text;
    });
    this.child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.stderr += text;
    });
    this.ended = new Promise((resolve) => {
      this.child.once("close", (code, signal) => resolve(code ?? signal));
    });
    onTestFinished(async () => {
      this.child.kill("SIGKILL");
      await this.ended;
    });
  }

  stop(): void {
    this.child.kill("SIGTERM");
  }
}

/** The command, running in this process. */
export class RunningHere extends Running {
  readonly ended: Promise<number>;
  readonly #stop = new AbortController();

  /** Starts the command. The test that starts it must also end it. */
  constructor(args: readonly string[], options: HereOptions) {
    super();
    this.ended = runHere(args, {
      ...options,
      stop: this.#stop.signal,
      onWrite: (stream, text) => {
        this[stream] += text;
      },
    }).then(({ status }) => status ?? 0);
    onTestFinished(async () => {
      this.stop();
      await this.ended;
    });
  }

  stop(): void {
    this.#stop.abort();
  }
}
