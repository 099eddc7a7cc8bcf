import { encodeBase64url } from "../../../bytes/base64.js";
import { randomBytes } from "../../../bytes/random.js";
import type { HostSession } from "./exchange.js";
import { HostStream } from "./host-stream.js";

/** A session of the gate with its servers. */
export interface OpenedSession {
  readonly session: HostSession;
  /** Fulfilled when one of its servers has ended by itself. */
  readonly ended: Promise<unknown>;
}

/** Starts servers and opens a session with them. @param stateless - True for the session that all callers share. */
export type OpenSession = (stateless: boolean) => Promise<OpenedSession>;

/** Limits of sessions of the old era. */
export interface SessionLimits {
  /** Sessions at once, each with servers of its own. */
  readonly most: number;
  /** Sessions of one opener at once. */
  readonly mostOfOne: number;
  /** Milliseconds after which a session that nobody uses ends. */
  readonly idle: number;
}

/** A session of a host of the old era. */
export interface HttpSession {
  readonly id: string;
  readonly session: HostSession;
  readonly stream: HostStream;
}

interface Entry extends HttpSession {
  readonly opener: string;
  /** Requests that are being worked on. */
  busy: number;
  timer: NodeJS.Timeout | undefined;
}

const ID_BYTES = 18;

/** The sessions of the old era by their ids, and the session that all callers of the new era share. */
export class HttpSessions {
  readonly #open: OpenSession;
  readonly #limits: SessionLimits;
  readonly #onFailure: (error: unknown, what: string) => void;
  readonly #entries = new Map<string, Entry>();
  /** The openers of the sessions that are about to open. */
  readonly #opening: string[] = [];
  #shared: Promise<OpenedSession> | undefined;
  #isClosed = false;

  /** @param onFailure - Called with errors of sessions that end by themselves. */
  constructor(
    open: OpenSession,
    limits: SessionLimits,
    onFailure: (error: unknown, what: string) => void,
  ) {
    this.#open = open;
    this.#limits = limits;
    this.#onFailure = onFailure;
  }

  /**
   * Opens a session for a host; `undefined` if there are as many sessions as allowed, in all or of this opener. Rethrows
   * what opening throws.
   */
  async create(opener: string): Promise<HttpSession | undefined> {
    const { most, mostOfOne } = this.#limits;
    const openers = [...this.#opening, ...[...this.#entries.values()].map((one) => one.opener)];
    const own = openers.filter((one) => one === opener);
    if (openers.length >= most || own.length >= mostOfOne || this.#isClosed) return undefined;
    this.#opening.push(opener);
    try {
      const { session, ended } = await this.#open(false);
      const id = encodeBase64url(randomBytes(ID_BYTES));
      const stream = new HostStream();
      session.toHost = (text) => stream.send(text);
      const entry: Entry = { id, opener, session, stream, busy: 0, timer: undefined };
      this.#entries.set(id, entry);
      this.#watch(ended.then(() => this.end(id)));
      this.#rest(entry);
      // The gate may have been closed meanwhile.
      if (this.#isClosed) await this.end(id);
      return entry;
    } finally {
      this.#opening.splice(this.#opening.indexOf(opener), 1);
    }
  }

  get(id: string): HttpSession | undefined {
    return this.#entries.get(id);
  }

  /** Returns the session that all share; opens it again if its servers have ended. Rethrows what opening throws. */
  async shared(): Promise<HostSession> {
    this.#shared ??= this.#openShared();
    return (await this.#shared).session;
  }

  #openShared(): Promise<OpenedSession> {
    const opened = this.#open(true);
    const over = async (): Promise<void> => {
      // Whoever asks for the session hears of a failure to open it.
      const found = await opened.catch(() => undefined);
      await found?.ended;
      this.#shared = undefined;
      await found?.session.close();
    };
    this.#watch(over());
    return opened;
  }

  #watch(work: Promise<unknown>): void {
    work.catch((error) => this.#onFailure(error, "session"));
  }

  /** Keeps a session from resting while something runs in it. @returns A function to call once when it is done. */
  use(id: string): () => void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return () => {};
    entry.busy++;
    clearTimeout(entry.timer);
    return () => {
      entry.busy--;
      this.#rest(entry);
    };
  }

  #rest(entry: Entry): void {
    clearTimeout(entry.timer);
    if (entry.busy > 0) return;
    entry.timer = setTimeout(() => this.#watch(this.end(entry.id)), this.#limits.idle).unref();
  }

  /** Ends a session and its servers. Returns false if no session has this id. */
  async end(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    this.#entries.delete(id);
    clearTimeout(entry.timer);
    entry.stream.end();
    await entry.session.close();
    return true;
  }

  /** Ends the streams that hosts have opened; they would keep the server from closing. */
  endStreams(): void {
    for (const { stream } of this.#entries.values()) stream.end();
  }

  /** Ends all sessions. */
  async close(): Promise<void> {
    this.#isClosed = true;
    const shared = await this.#shared?.catch(() => undefined);
    this.#shared = undefined;
    const ids = [...this.#entries.keys()];
    await Promise.all([shared?.session.close(), ...ids.map((id) => this.end(id))]);
  }
}
