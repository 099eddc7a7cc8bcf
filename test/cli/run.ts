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
  /** Standard input; empty unless given. */
  readonly input?: string | Uint8Array;
  readonly env?: { readonly [name: string]: string | undefined };
  readonly cwd?: string;
  /** Whether to run as nobody, to whom permissions apply, if the tests run as root. */
  readonly unprivileged?: boolean;
}

/** Options for a command in this process. */
export interface HereOptions extends RunOptions {
  /** Aborted to stop a command that runs until a signal. */
  readonly stop?: AbortSignal;
  /** Standard input and output as streams; only `input` unless given. */
  readonly stdio?: () => Duplex;
  /** Called with every output as it is written. */
  readonly onWrite?: (stream: "stdout" | "stderr", text: string) => void;
}

/** Runs a program to its end. */
export function runProgram(
  command: string,
  args: readonly string[],
  { input = "", env = {}, cwd, unprivileged = false }: RunOptions = {},
): Promise<Run> {
  // Without the variables of the tests' own environment, which would change colours or the home.
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
    // A program that does not read its input may close it first.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/**
 * Runs the command in this process, from its sources, with separate streams and none of the tests' environment.
 * Tests of terminals, signals, pipes, permissions or the published program use {@link runProgram} or
 * {@link Bench.spawned} instead.
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

/** The output of a command on one stream. */
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

/** A home, and functions that run `proviso` with it. */
export class Bench {
  readonly folder: string = temporaryFolder();
  readonly home: string = join(this.folder, "home");

  /** Runs `proviso` in this process, in the folder and with this home. */
  run(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    return runHere(args, this.#at(options));
  }

  /** Runs the built `proviso` in a separate process, in the folder and with this home. */
  spawned(args: readonly string[], options: RunOptions = {}): Promise<Run> {
    return runProgram(process.execPath, [MAIN, ...args], this.#at(options));
  }

  #at(options: RunOptions): RunOptions {
    return { cwd: this.folder, ...options, env: { PROVISO_HOME: this.home, ...options.env } };
  }

  /** Runs `proviso`, which must succeed, and returns its output without the final line break. */
  async output(...args: readonly string[]): Promise<string> {
    const { status, stdout, stderr } = await this.run(args);
    expect(`${status} ${stderr}`, args.join(" ")).toMatch(/^0 /);
    return stdout.trimEnd();
  }

  /** Runs `proviso ... --json` and returns its exit code and its JSON document. */
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

/** A JSON object whose properties each test looks at. */
// biome-ignore lint/suspicious/noExplicitAny: matchers check what is in it.
export type Document = Record<string, any>;

/** Parses the only JSON document of an output. */
export function document(text: string): Document {
  expect(text).toMatch(/^\{.*\}\n$/s);
  const value: Document = JSON.parse(text);
  return value;
}

/** A token as `proviso mint` prints it. */
export const TOKEN: RegExp = /^[A-Za-z0-9_-]{100,}$/;

/** Returns the signature of a v2 token without discharges, in every encoding in which it could leak. */
export function signatureForms(token: string): string[] {
  const signature = Buffer.from(token, "base64url").subarray(-32);
  return [signature.toString("hex"), signature.toString("base64url"), signature.toString("base64")];
}
