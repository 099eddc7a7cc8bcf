import { encodeBase64url } from "../../../../bytes/base64.js";
import { randomBytes } from "../../../../bytes/random.js";
import { PluginError, type SessionScope } from "../../plugin.js";
import { type ProcessLimits, RunningProcess, type StopReason } from "./process.js";
import type { ReadyProgram } from "./program.js";

/** How many processes there may be at once. */
export interface ProcCounts {
  readonly perSession: number;
  readonly perPrincipal: number;
  readonly total: number;
}

/** Ended processes that a session still can read, for each that it may have running. */
const KEPT = 4;

interface Held {
  readonly process: RunningProcess;
  readonly principal: string;
}

/** The processes of all sessions. Each session knows its own alone. */
export class Processes {
  readonly #counts: ProcCounts;
  readonly #limits: ProcessLimits;
  /** By session, then by id, the oldest first. */
  readonly #sessions = new Map<string, Map<string, Held>>();
  #closed = false;

  constructor(counts: ProcCounts, limits: ProcessLimits) {
    this.#counts = counts;
    this.#limits = limits;
  }

  /** @throws PluginError `too_many_processes`, or `program_failed` if it does not start. */
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
    own.set(process.id, { process, principal });
    this.#forgetOld(own);
    try {
      await process.ready();
    } catch (error) {
      own.delete(process.id);
      throw error;
    }
    return process;
  }

  /** A process of the session. @throws PluginError `process_unknown` */
  find(session: SessionScope, id: string): RunningProcess {
    const held = this.#sessions.get(session.id)?.get(id);
    if (held !== undefined) return held.process;
    throw new PluginError("process_unknown", "this session has no such process");
  }

  /** The processes of a session, the oldest first. */
  list(session: SessionScope): readonly RunningProcess[] {
    return [...(this.#sessions.get(session.id)?.values() ?? [])].map(({ process }) => process);
  }

  /** Stops all processes of a session, and forgets them. */
  async endSession(session: SessionScope): Promise<void> {
    const own = this.list(session);
    this.#sessions.delete(session.id);
    await stopAll(own, "session_ended");
  }

  /** Stops all processes, and starts no more. */
  async close(): Promise<void> {
    this.#closed = true;
    const all = [...this.#sessions.values()].flatMap((own) => [...own.values()]);
    this.#sessions.clear();
    await stopAll(
      all.map(({ process }) => process),
      "session_ended",
    );
  }

  #assertRoom(session: SessionScope, principal: string): void {
    if (this.#closed) throw new PluginError("program_failed", "the host is closing");
    const running = [...this.#sessions].flatMap(([id, own]) =>
      [...own.values()].filter(({ process }) => !process.isOver).map((held) => ({ id, ...held })),
    );
    const { perSession, perPrincipal, total } = this.#counts;
    const mine = running.filter(({ id }) => id === session.id).length;
    const theirs = running.filter((held) => held.principal === principal).length;
    const over =
      mine >= perSession
        ? `this session has ${perSession} processes`
        : theirs >= perPrincipal
          ? `this principal has ${perPrincipal} processes`
          : running.length >= total
            ? "the host has as many processes as it may have"
            : undefined;
    if (over === undefined) return;
    const message = `${over}; stop one, or try again when one has ended`;
    throw new PluginError("too_many_processes", message, { retryable: true });
  }

  #forgetOld(own: Map<string, Held>): void {
    const ended = [...own.values()].filter(({ process }) => process.isOver);
    const surplus = ended.length - KEPT * this.#counts.perSession;
    for (const { process } of ended.slice(0, Math.max(0, surplus))) own.delete(process.id);
  }
}

async function stopAll(processes: readonly RunningProcess[], reason: StopReason): Promise<void> {
  await Promise.all(processes.map((process) => process.stop(reason)));
}
