import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { JsonObject } from "../../../../bytes/json.js";
import { errorCode, reasonFor } from "../../../../system/error-code.js";
import { PluginError } from "../../plugin.js";
import { Output } from "./output.js";
import type { ReadyProgram } from "./program.js";

/** Limits on the life of a process, and on its stored output. */
export interface ProcessLimits {
  /** Number of bytes of the latest output that are kept. */
  readonly outputBytes: number;
  /** Milliseconds after which the process is stopped. */
  readonly lifetime: number;
  /** Milliseconds between SIGTERM and SIGKILL. */
  readonly grace: number;
}

/** The reason why a process was stopped; absent if the process exited by itself. */
export type StopReason = "stopped" | "lifetime_over" | "session_ended";

const WINDOWS = process.platform === "win32";

/** A program in its own process group. All processes that stay in this group are stopped together with the program. */
export class RunningProcess {
  readonly id: string;
  readonly program: string;
  readonly started: Date = new Date();
  readonly output: Output;
  readonly #child: ChildProcess;
  readonly #grace: number;
  readonly #exit: Promise<unknown>;
  /** Resolves when the process has exited, or could not be started. */
  readonly over: Promise<void>;
  #settle: () => void = () => {};
  #timer: NodeJS.Timeout;
  readonly #until: number;
  #waiting = new Set<() => void>();
  #reason: StopReason | undefined;
  #over = false;

  /**
   * @throws PluginError `program_failed` if the start of the program fails immediately. {@link RunningProcess.ready}
   *   reports later failures.
   */
  constructor(id: string, program: ReadyProgram, args: readonly string[], limits: ProcessLimits) {
    this.id = id;
    this.program = program.name;
    this.output = new Output(limits.outputBytes);
    this.#grace = limits.grace;
    const { cwd, env } = program;
    try {
      this.#child = spawn(program.command, args, {
        cwd,
        env: { ...env },
        shell: false,
        windowsHide: true,
        detached: !WINDOWS,
        stdio: ["ignore", "pipe", "pipe"],
      });
    } catch (error) {
      // An example is E2BIG: the arguments are too long. Most other failures are reported by the "error" event.
      throw startFailure(program.name, error);
    }
    this.over = new Promise((resolve) => {
      this.#settle = resolve;
    });
    for (const stream of [this.#child.stdout, this.#child.stderr]) {
      stream?.on("data", (bytes: Uint8Array) => {
        this.output.write(bytes);
        this.#changed();
      });
    }
    this.#child.once("error", () => this.#ended());
    this.#child.once("exit", () => {
      this.#signal("SIGKILL");
      clearTimeout(this.#timer);
      // A child process that has left the group may keep the output open forever.
      setTimeout(() => this.#abandon(), limits.grace).unref();
    });
    // When "close" is emitted, the output is complete.
    this.#child.once("close", () => this.#ended());
    this.#exit = new Promise((resolve) => {
      this.#child.once("exit", resolve).once("error", resolve);
    });
    this.#until = Date.now() + limits.lifetime;
    this.#timer = this.#lifetimeOf(limits.lifetime);
  }

  #lifetimeOf(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => void this.stop("lifetime_over"), milliseconds).unref();
  }

  /** Shortens the lifetime: the process is stopped after this many milliseconds. */
  endAfter(milliseconds: number): void {
    if (this.#over || Date.now() + milliseconds >= this.#until) return;
    clearTimeout(this.#timer);
    this.#timer = this.#lifetimeOf(milliseconds);
  }

  /** True once the process has exited and its output is complete or no longer read. */
  get isOver(): boolean {
    return this.#over;
  }

  /**
   * Waits until the program has started.
   *
   * @throws PluginError `program_failed` if it does not start.
   */
  async ready(): Promise<void> {
    if (this.#child.pid !== undefined) return;
    const [error] = await once(this.#child, "error");
    throw startFailure(this.program, error);
  }

  /** Returns the state of the process, as shown to peers. */
  state(): JsonObject {
    const { exitCode, signalCode } = this.#child;
    const reason = this.#reason === undefined ? {} : { reason: this.#reason };
    const how = this.#over ? { exitCode, signal: signalCode, ...reason } : {};
    return {
      process: this.id,
      program: this.program,
      started: this.started.toISOString(),
      state: this.#over ? "ended" : "running",
      written: this.output.end,
      ...how,
    };
  }

  /**
   * Waits until there is output after `offset`, the process has exited, or the time is over.
   *
   * @param milliseconds - Maximum time to wait; 0 not to wait at all.
   */
  async outputAfter(offset: number, milliseconds: number, signal: AbortSignal): Promise<void> {
    if (milliseconds === 0) return;
    const until = AbortSignal.any([signal, AbortSignal.timeout(milliseconds)]);
    while (!this.#over && this.output.end <= offset && !until.aborted) {
      await new Promise<void>((resolve) => {
        const wake = (): void => {
          this.#waiting.delete(wake);
          until.removeEventListener("abort", wake);
          resolve();
        };
        this.#waiting.add(wake);
        until.addEventListener("abort", wake);
      });
    }
  }

  /** Stops the process and its group: SIGTERM, then SIGKILL. Resolves when it has exited. */
  async stop(reason: StopReason): Promise<void> {
    if (this.#over || this.#child.pid === undefined) return;
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      this.#reason ??= reason;
      this.#signal("SIGTERM");
      const kill = setTimeout(() => this.#signal("SIGKILL"), this.#grace);
      await this.#exit;
      clearTimeout(kill);
    }
    this.#abandon();
  }

  /** Kills the process and its group at once, without SIGTERM. */
  kill(): void {
    if (!this.#over) this.#signal("SIGKILL");
  }

  #abandon(): void {
    this.#child.stdout?.destroy();
    this.#child.stderr?.destroy();
    this.#ended();
  }

  #signal(signal: "SIGTERM" | "SIGKILL"): void {
    const { pid } = this.#child;
    if (pid === undefined) return;
    try {
      if (WINDOWS) this.#child.kill(signal);
      else process.kill(-pid, signal);
    } catch {
      // The group no longer exists.
    }
  }

  #ended(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#settle();
    this.#changed();
  }

  #changed(): void {
    for (const wake of [...this.#waiting]) wake();
  }
}

function startFailure(program: string, error: unknown): PluginError {
  const why = reasonFor(errorCode(error), "read");
  return new PluginError("program_failed", `${program} could not be started: ${why}`);
}
