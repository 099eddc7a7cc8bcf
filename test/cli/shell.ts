import {
  chmodSync,
  existsSync,
  type FSWatcher,
  mkdirSync,
  readFileSync,
  watch,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll } from "vitest";
import { MAIN } from "../support/built.js";
import { FULL } from "../support/size.js";
import { type Bench, type Run, type RunOptions, runHere, runProgram } from "./run.js";

const READY = ".ready";

/**
 * Runs shells in which `proviso` is the command in this process; in a full run, it is the built command. The
 * lines of documentation and the completion scripts run unchanged, without a new process for each call. Each
 * call has a folder. The shell's `proviso` writes its arguments into the folder, and reads the output from it.
 */
export class Shell {
  readonly #bench: Bench;
  readonly #bin: string;
  readonly #watcher: FSWatcher;

  /** Creates the shell outside of a test. It is closed at the end of the test file. */
  constructor(bench: Bench) {
    this.#bench = bench;
    this.#bin = bench.path("bin");
    const calls = bench.path("calls");
    mkdirSync(this.#bin);
    mkdirSync(calls);
    writeFileSync(join(this.#bin, "proviso"), FULL ? BUILT : caller(calls));
    chmodSync(join(this.#bin, "proviso"), 0o755);
    this.#watcher = watch(calls, (_, name) => {
      // The watcher also calls this function when the folder of a call is removed.
      if (name?.endsWith(READY) && existsSync(join(calls, name))) void answer(join(calls, name));
    });
    afterAll(() => this.#watcher.close());
  }

  /** Runs a program that can call `proviso`, in the folder of the bench and with its home. */
  run(command: string, args: readonly string[], { env = {} }: RunOptions = {}): Promise<Run> {
    const PATH = `${this.#bin}:${process.env["PATH"]}`;
    const { folder: cwd, home } = this.#bench;
    return runProgram(command, args, { cwd, env: { PROVISO_HOME: home, PATH, ...env } });
  }

  /** Runs lines of a script, and returns the standard error of all of them. @throws Error if a line fails. */
  async runLines(lines: readonly string[]): Promise<string> {
    const script = lines.map((line) => `echo '+' >&2\n${line}`).join("\n");
    const { status, stderr } = await this.run("sh", ["-euc", script]);
    const said = stderr.split("+\n").slice(1);
    if (status === 0 && said.length === lines.length) return said.join("");
    throw new Error(`${status} after ${lines[said.length - 1]}: ${said.at(-1)}`);
  }
}

const BUILT = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;

/**
 * Returns the shell's `proviso`. It renames the folder of a call when the folder is complete, so that the
 * watcher never sees an incomplete call.
 */
function caller(calls: string): string {
  return `#!/bin/sh
call=$(mktemp -d '${calls}/XXXXXX')
mkfifo "$call/status"
[ $# -eq 0 ] || printf '%s\\0' "$@" > "$call/args"
env -0 > "$call/env"
[ -t 0 ] || cat > "$call/input"
pwd > "$call/cwd"
mv "$call" "$call${READY}"
read -r status < "$call${READY}/status"
cat "$call${READY}/stdout"
cat "$call${READY}/stderr" >&2
exit "$status"
`;
}

async function answer(call: string): Promise<void> {
  const read = (name: string): string => {
    try {
      return readFileSync(join(call, name), "utf8");
    } catch {
      return "";
    }
  };
  const parts = (name: string): string[] => read(name).split("\0").slice(0, -1);
  const env = Object.fromEntries(parts("env").map((line) => line.split(/=(.*)/s, 2)));
  const options = { input: read("input"), cwd: read("cwd").trimEnd(), env };
  const { status, stdout, stderr } = await runHere(parts("args"), options);
  await writeFile(join(call, "stdout"), stdout);
  await writeFile(join(call, "stderr"), stderr);
  await writeFile(join(call, "status"), `${status}\n`);
}
