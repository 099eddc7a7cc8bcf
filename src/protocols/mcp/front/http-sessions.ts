import { setTimeout as sleep } from "node:timers/promises";
import { encodeBase64url } from "../../../bytes/base64.js";
import { randomBytes } from "../../../bytes/random.js";
import type { HostSession } from "./exchange.js";
import { HostStream } from "./host-stream.js";

/** A session of the gate with its servers. */
export interface OpenedSession {
  readonly session: HostSession;
  /** Fulfilled when all servers of the session have ended by themselves. */
  readonly ended: Promise<unknown>;
}

/**
 * Starts servers and opens a session with them.
 *
 * @param stateless - `true` for the session that all HTTP clients of the new era share.
 */
export type OpenSession = (stateless: boolean) => Promise<OpenedSession>;

/** The party that opens a session. */
export interface SessionOpener {
  /** A name for the party, by which sessions are counted. */
  readonly opener: string;
  /** The tokens that the party presented. */
  readonly credentials: readonly string[];
}

/** Returns whether tokens are still valid, whatever they allow. */
export type IsInForce = (credentials: readonly string[]) => Promise<boolean>;

/** Limits of sessions of the old era. */
export interface SessionLimits {
  /** Maximum number of open sessions. Each session has its own servers. */
  readonly most: number;
  /** Maximum number of open sessions of one opener. */
  readonly mostOfOne: number;
  /** Milliseconds without a request after which a session ends. */
  readonly idle: number;
  /**
   * A session ends within two seconds after this function returns `false` for the tokens that the session last
   * presented.
   */
  readonly isInForce: IsInForce;
}

/** A session of a host of the old era. */
export interface HttpSession {
  readonly id: string;
  readonly session: HostSession;
  readonly stream: HostStream;
}

interface Entry extends HttpSession {
  readonly opener: string;
  /** The tokens of the last request that had tokens in its headers; until then, the tokens of `initialize`. */
  credentials: readonly string[];
  /** Number of HTTP requests of the session that are open. */
  busy: number;
  timer: NodeJS.Timeout | undefined;
}

const ID_BYTES = 18;
/** Milliseconds between two checks of the sessions' tokens. */
const CHECK = 1000;

/** The sessions of the old era by id, and the session that all HTTP clients of the new era share. */
export class HttpSessions {
  readonly #open: OpenSession;
  readonly #limits: SessionLimits;
  readonly #onFailure: (error: unknown, what: string) => void;
  readonly #entries = new Map<string, Entry>();
  /** The opener of each session that is being opened. */
  readonly #opening: string[] = [];
  #shared: Promise<OpenedSession> | undefined;
  #isClosed = false;

  /** @param onFailure - Called with an error that occurs while a session ends by itself. */
  constructor(
    open: OpenSession,
    limits: SessionLimits,
    onFailure: (error: unknown, what: string) => void,
  ) {
    this.#open = open;
    this.#limits = limits;
    this.#onFailure = onFailure;
    this.#watch(this.#checkTokens());
  }

  /**
   * Opens a session for a host. Returns `undefined` if the maximum number of sessions is open, in total or for this
   * opener, and after `close`. Rethrows errors of {@link OpenSession}.
   */
  async create({ opener, credentials }: SessionOpener): Promise<HttpSession | undefined> {
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
      const entry: Entry = {
        id,
        opener,
        credentials,
        session,
        stream,
        busy: 0,
        timer: undefined,
      };
      this.#entries.set(id, entry);
      this.#watch(ended.then(() => this.end(id)));
      this.#rest(entry);
      // `close` may have been called while the session was being opened.
      if (this.#isClosed) await this.end(id);
      return entry;
    } finally {
      this.#opening.splice(this.#opening.indexOf(opener), 1);
    }
  }

  get(id: string): HttpSession | undefined {
    return this.#entries.get(id);
  }

  /** Remembers the tokens in the headers of a session's request. Does nothing if the headers have none. */
  presented(id: string, credentials: readonly string[]): void {
    const entry = this.#entries.get(id);
    if (entry !== undefined && credentials.length > 0) entry.credentials = credentials;
  }

  /** Ends the sessions whose tokens have expired or are revoked, because their streams would otherwise stay open. */
  async #checkTokens(): Promise<void> {
    while (!this.#isClosed) {
      await sleep(CHECK, undefined, { ref: false });
      for (const { id, credentials } of [...this.#entries.values()]) {
        try {
          if (!(await this.#limits.isInForce(credentials))) await this.end(id);
        } catch (error) {
          this.#onFailure(error, "session");
        }
      }
    }
  }

  /**
   * Returns the shared session. Opens a new session if all servers of the last shared session have ended. Rethrows
   * errors of {@link OpenSession}.
   */
  async shared(): Promise<HostSession> {
    this.#shared ??= this.#openShared();
    return (await this.#shared).session;
  }

  #openShared(): Promise<OpenedSession> {
    const opened = this.#open(true);
    const over = async (): Promise<void> => {
      // The caller of `shared` gets the error if the session cannot be opened.
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

  /**
   * Keeps a session from ending as idle while a request is open.
   *
   * @returns A function to call once when the request is over.
   */
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

  /** Ends the streams that hosts have opened with GET. Open streams would keep the HTTP server from closing. */
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
