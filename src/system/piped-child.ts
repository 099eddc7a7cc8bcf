import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Readable, Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { atExit } from "./at-exit.js";

/** A program to start, without a shell. */
export interface ChildOptions {
  readonly command: string;
  readonly args: readonly string[];
  /** The working folder; by default, that of this process. */
  readonly cwd?: string | undefined;
  /** All environment variables of the program. */
  readonly env: { readonly [name: string]: string | undefined };
  /** With `inherit`, the program writes to the standard error of this process. */
  readonly stderr: "inherit" | "ignore" | "pipe";
}

/** The way in which a program ended. */
export interface ChildEnd {
  /** `null` if a signal ended the program. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
}

const WINDOWS = process.platform === "win32";
/** Milliseconds between the steps of ending a program. */
const GRACE = 2000;

/**
 * A program whose standard input and output are pipes. Except on Windows, it has a process group of its own: when
 * the program ends, the processes in the group end too; when this process exits, the whole group ends.
 */
export class PipedChild {
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** The standard error of the program; `null` unless it is a pipe. */
  readonly stderr: Readable | null;
  readonly pid: number;
  /** Fulfilled when the program has ended and its output is closed. */
  readonly ended: Promise<ChildEnd>;
  readonly #child: ChildProcess;
  #ending: Promise<void> | undefined;

  /** @throws Error of the operating system, such as `ENOENT`, if the program cannot be started. */
  static async start({ command, args, cwd, env, stderr }: ChildOptions): Promise<PipedChild> {
    const child = spawn(command, [...args], {
      cwd,
      env: { ...env },
      shell: false,
      windowsHide: true,
      detached: !WINDOWS,
      stdio: ["pipe", "pipe", stderr],
    });
    await once(child, "spawn");
    const { pid, stdin, stdout } = child;
    if (pid === undefined || stdin === null || stdout === null) {
      throw new Error("the program has no pipes");
    }
    return new PipedChild(child, pid, stdin, stdout);
  }

  private constructor(child: ChildProcess, pid: number, stdin: Writable, stdout: Readable) {
    this.#child = child;
    this.pid = pid;
    this.stdin = stdin;
    this.stdout = stdout;
    this.stderr = child.stderr;
    const off = atExit(() => this.#signal("SIGKILL"));
    this.ended = new Promise((resolve) => {
      child.once("close", (exitCode: number | null, signal: NodeJS.Signals | null) => {
        off();
        // The group may still contain processes that have closed all pipes of the program.
        this.#signal("SIGKILL");
        resolve({ exitCode, signal });
      });
    });
    stdin.once("close", () => {
      // A program that has exited may still have unread output. A program that keeps running without its input
      // is of no use.
      setTimeout(() => {
        if (child.exitCode === null && child.signalCode === null) void this.end();
      }, GRACE).unref();
    });
    // An error event without a listener would end this process. If a pipe breaks, the end of the program shows
    // it.
    for (const emitter of [child, stdin, stdout, child.stderr]) emitter?.on("error", () => {});
  }

  /**
   * Ends the program and its group: closes its input, then sends SIGTERM, then SIGKILL. Fulfilled when the
   * program has ended, at the latest after some 8 seconds.
   */
  end(): Promise<void> {
    this.#ending ??= this.#end();
    return this.#ending;
  }

  async #end(): Promise<void> {
    this.stdin.end();
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      if (await this.#endsSoon()) return;
      this.#signal(signal);
    }
    if (await this.#endsSoon()) return;
    // A process that has left the group may hold the pipes open.
    this.stdout.destroy();
    this.stderr?.destroy();
    await this.#endsSoon();
  }

  async #endsSoon(): Promise<boolean> {
    const stop = new AbortController();
    const late = sleep(GRACE, false, { ref: false, signal: stop.signal }).catch(() => false);
    const hasEnded = await Promise.race([this.ended.then(() => true), late]);
    stop.abort();
    return hasEnded;
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    try {
      if (WINDOWS) this.#child.kill(signal);
      else process.kill(-this.pid, signal);
    } catch {
      // The group no longer exists.
    }
  }
}
