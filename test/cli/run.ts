import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Duplex, PassThrough, Readable } from "node:stream";
import { expect } from "vitest";
import type { Input, Output } from "../../cli/context.js";
import { run } from "../../cli/program.js";
import { MAIN } from "../support/built.js";
import { temporaryFolder } from "../support/temporary-folder.js";

export const NOBODY = 65534;

export interface Run {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  /** The contents of standard input; empty by default. */
  readonly input?: string | Uint8Array;
  readonly env?: { readonly [name: string]: string | undefined };
  readonly cwd?: string;
  /** True to run the program as the user `nobody` if the tests run as root. File permissions do not apply to root. */
  readonly unprivileged?: boolean;
}

/** Options for a command that runs in this process. */
export interface HereOptions extends RunOptions {
  /** A signal that stops a command which would otherwise run until a signal. */
  readonly stop?: AbortSignal;
  /** Returns standard input and output as streams. By default, standard input has only the text of `input`. */
  readonly stdio?: () => Duplex;
  /** Receives each output when it is written. */
  readonly onWrite?: (stream: "stdout" | "stderr", text: string) => void;
}

/** Runs a program to its end. */
export function runProgram(
  command: string,
  args: readonly string[],
  { input = "", env = {}, cwd, unprivileged = false }: RunOptions = {},
): Promise<Run> {
  // The program does not get the other variables of the tests, which could change its colours or its home.
  const { PATH, TMPDIR, NODE_DISABLE_COMPILE_CACHE } = process.env;
  return new Promise((resolve, reject) => {
    const user = unprivileged && process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const own = { PATH, TMPDIR, NODE_DISABLE_COMPILE_CACHE, HOME: "/nonexistent" };
    const allEnv = { ...own, ...env };
    const child = spawn(command, args, { cwd, env: allEnv, ...user });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => stderr.push(chunk));
    child.on("error", reject);
    child.on("close", (status) => {
      const text = (chunks: Buffer[]): string => Buffer.concat(chunks).toString("utf8");
      resolve({ status, stdout: text(stdout), stderr: text(stderr) });
    });
    // A program that does not read its input may close it before everything is written.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/**
 * Runs the command in this process, from its sources. It has its own streams, and none of the variables of the
 * tests' environment. Tests of terminals, signals, pipes, permissions or the published program use {@link
 * runProgram} or {@link Bench.spawned} instead.
 */
export async function runHere(
  args: readonly string[],
  { input = "", env = {}, cwd = tmpdir(), stop, stdio, onWrite }: HereOptions = {},
): Promise<Run> {
  const bytes = Buffer.from(input);
  let read = 0;
  const stdin: Input = {
    isTerminal: false,
    read(chunk) {
      const count = bytes.copy(chunk, 0, read);
      read += count;
      return count;
    },
  };
  const stdout = new Written((text) => onWrite?.("stdout", text));
  const stderr = new Written((text) => onWrite?.("stderr", text));
  const { PATH, TMPDIR } = process.env;
  const { HOME = "/nonexistent", ...others } = env;
  const status = await run(args, {
    stdin,
    stdout,
    stderr,
    cwd,
    userFolder: HOME,
    program: [process.execPath, MAIN],
    stdio:
      stdio ??
      (() => Duplex.from({ readable: Readable.from([bytes]), writable: new PassThrough() })),
    env: { PATH, TMPDIR, HOME, ...others },
    untilStopped: () => stop ?? new AbortController().signal,
  });
  return { status, stdout: stdout.text, stderr: stderr.text };
}

/** One output stream of a command, kept as text. */
class Written implements Output {
  readonly isTerminal = false;
  readonly #tell: (text: string) => void;
  text = "";

  constructor(tell: (text: string) => void) {
    this.#tell = tell;
  }

  write(bytes: Uint8Array): undefined {
    const text = Buffer.from(bytes).toString("utf8");
    this.text += text;
    this.#tell(text);
  }
}

/** A folder with a home, and functions that run `proviso` in them. */
export class Bench {
  readonly folder: string = temporaryFolder();
  readonly home: string = join(this.folder, "home");

  /** Runs `proviso` in this process, in the folder of the bench and with its home. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    return runHere(args, this.#at(options));
  }

  /** Runs the built `proviso` in a separate process, in the folder of the bench and with its home. */
  spawned(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    return runProgram(process.execPath, [MAIN, ...args], this.#at(options));
  }

  #at(options: RunOptions): RunOptions {
    return { cwd: this.folder, ...options, env: { PROVISO_HOME: this.home, ...options.env } };
  }

  /** Runs `proviso`, expects success, and returns the output without the final line break. */
  async output(...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(args);
    expect(`${status} ${stderr}`, args.join(" ")).toMatch(/^0 /);
    return stdout.trimEnd();
  }

  /** Runs `proviso` with `--json`, and returns the exit code and the JSON document. */
  async json(...args: readonly string[]): Promise<Document> {
    const { status, stdout } = await this.run([...args, "--json"]);
    return { ...document(stdout), status };
  }

  async init(...args: readonly string[]): Promise<void> {
    await this.output("init", "--issuer", "documents-agent", ...args);
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: string | Uint8Array): string {
    const path = this.path(name);
    writeFileSync(path, content);
    return path;
  }

  read(name: string): string {
    return readFileSync(this.path(name), "utf8");
  }
}

/** A JSON object. Each test checks the properties that it uses. */
// biome-ignore lint/suspicious/noExplicitAny: matchers check what is in it.
export type Document = Record<string, any>;

/** Parses an output that must be exactly one JSON document. */
export function document(text: string): Document {
  expect(text).toMatch(/^\{.*\}\n$/s);
  const value: Document = JSON.parse(text);
  return value;
}

/** Matches a token, as `proviso mint` prints it. */
export const TOKEN: RegExp = /^[A-Za-z0-9_-]{100,}$/;

/** Returns the signature of a v2 token without discharges, in every encoding in which it could appear by mistake. */
export function signatureForms(token: string): string[] {
  const signature = Buffer.from(token, "base64url").subarray(-32);
  return [signature.toString("hex"), signature.toString("base64url"), signature.toString("base64")];
}
