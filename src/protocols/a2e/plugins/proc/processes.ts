import { encodeBase64url } from "../../../../bytes/base64.js";
import { randomBytes } from "../../../../bytes/random.js";
import { atExit } from "../../../../system/at-exit.js";
import { type PluginCall, PluginError, type SessionScope } from "../../plugin.js";
import { type ProcessLimits, RunningProcess } from "./process.js";
import type { ReadyProgram } from "./program.js";

/** Limits on the number of running processes. */
export interface ProcCounts {
  readonly perSession: number;
  readonly perPrincipal: number;
  readonly total: number;
}

/** The number of exited processes that a session can still read is this many times `perSession`. */
const KEPT = 4;

/** The session and the principal of a call, and the program that the call names, if any. */
type Asking = Pick<PluginCall, "session" | "principal" | "name">;

interface Held {
  readonly process: RunningProcess;
  readonly principal: string;
  /** The session's id. */
  readonly session: string;
}

/** The processes of all sessions. Only the principal and the session that started a process can see it. */
export class Processes {
  readonly #counts: ProcCounts;
  readonly #limits: ProcessLimits;
  /** Processes by session, then by id, the oldest first. */
  readonly #sessions = new Map<string, Map<string, Held>>();
  /** The processes that count towards limits: all processes that have not exited, even if their session has ended. */
  readonly #alive = new Set<Held>();
  #closed = false;

  constructor(counts: ProcCounts, limits: ProcessLimits) {
    this.#counts = counts;
    this.#limits = limits;
  }

  /** @throws PluginError `too_many_processes`, or `program_failed` if the program does not start. */
  async start(
    session: SessionScope,
    principal: string,
    program: ReadyProgram,
    args: readonly string[],
  ): Promise<RunningProcess> {
    this.#assertRoom(session, principal);
    const id = `p_${encodeBase64url(randomBytes(9))}`;
    const process = new RunningProcess(id, program, args, this.#limits);
    const own = this.#sessions.get(session.id) ?? new Map<string, Held>();
    this.#sessions.set(session.id, own);
    const held = { process, principal, session: session.id };
    own.set(process.id, held);
    this.#count(held);
    this.#forgetOld(own);
    try {
      await process.ready();
    } catch (error) {
      own.delete(process.id);
      throw error;
    }
    return process;
  }

  /**
   * Finds a process by its id. The process must have the call's principal and session and, if the call names a program,
   * run this program.
   *
   * @throws PluginError `process_unknown`
   */
  find(asking: Asking, id: string): RunningProcess {
    const held = this.#sessions.get(asking.session.id)?.get(id);
    if (held !== undefined && isFor(asking, held)) return held.process;
    const of = asking.name === undefined ? "" : ` of ${asking.name}`;
    throw new PluginError("process_unknown", `you have no such process${of} in this session`);
  }

  /**
   * Returns the name of the program that a process of the session runs. The process may have been started by any
   * principal.
   */
  programOf(session: SessionScope, id: string): string | undefined {
    return this.#sessions.get(session.id)?.get(id)?.process.program;
  }

  /** Stops a process of a session after this many milliseconds, unless the process has ended by then. */
  endAfter(session: SessionScope, id: string, milliseconds: number): void {
    this.#sessions.get(session.id)?.get(id)?.process.endAfter(milliseconds);
  }

  /** Returns the processes that {@link find} would find, oldest first. */
  list(asking: Asking): readonly RunningProcess[] {
    const own = [...(this.#sessions.get(asking.session.id)?.values() ?? [])];
    return own.filter((held) => isFor(asking, held)).map(({ process }) => process);
  }

  /** Stops all processes of a session, and forgets them. */
  async endSession(session: SessionScope): Promise<void> {
    this.#sessions.delete(session.id);
    await stopAll([...this.#alive].filter((held) => held.session === session.id));
  }

  /** Stops all processes. Afterwards, none can be started. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#sessions.clear();
    await stopAll([...this.#alive]);
  }

  #assertRoom(session: SessionScope, principal: string): void {
    if (this.#closed) throw new PluginError("program_failed", "the host is closing");
    const running = [...this.#alive];
    const { perSession, perPrincipal, total } = this.#counts;
    const mine = running.filter((held) => held.session === session.id).length;
    const theirs = running.filter((held) => held.principal === principal).length;
    const over =
      mine >= perSession
        ? `this session has ${perSession} processes`
        : theirs >= perPrincipal
          ? `this principal has ${perPrincipal} processes`
          : running.length >= total
            ? "the host already has the maximum of processes"
            : undefined;
    if (over === undefined) return;
    const message = `${over}; stop one, or try again when one has ended`;
    throw new PluginError("too_many_processes", message, { retryable: true });
  }

  #count(held: Held): void {
    const { process } = held;
    this.#alive.add(held);
    const off = atExit(() => process.kill());
    void process.over.then(() => {
      off();
      this.#alive.delete(held);
    });
  }

  #forgetOld(own: Map<string, Held>): void {
    const ended = [...own.values()].filter(({ process }) => process.isOver);
    const surplus = ended.length - KEPT * this.#counts.perSession;
    for (const { process } of ended.slice(0, Math.max(0, surplus))) own.delete(process.id);
  }
}

function isFor({ principal, name }: Asking, held: Held): boolean {
  return held.principal === principal && (name === undefined || held.process.program === name);
}

async function stopAll(all: readonly Held[]): Promise<void> {
  await Promise.all(all.map(({ process }) => process.stop("session_ended")));
}
