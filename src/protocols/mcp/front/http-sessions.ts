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
  /** Maximum number of sessions. Each session has its own servers, and counts until these have ended. */
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
  /** Functions that end the open HTTP requests of the session. */
  readonly requests: Set<() => void>;
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
  /** The opener of each session with running servers: the session is being opened, open, or being closed. */
  readonly #openers: string[] = [];
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
    const own = this.#openers.filter((one) => one === opener);
    if (this.#openers.length >= most || own.length >= mostOfOne || this.#isClosed) return undefined;
    this.#openers.push(opener);
    const { session, ended } = await this.#open(false).catch((error: unknown) => {
      this.#release(opener);
      throw error;
    });
    const id = encodeBase64url(randomBytes(ID_BYTES));
    const stream = new HostStream();
    session.toHost = (text) => stream.send(text);
    const entry: Entry = {
      id,
      opener,
      credentials,
      session,
      stream,
      requests: new Set(),
      timer: undefined,
    };
    this.#entries.set(id, entry);
    this.#watch(ended.then(() => this.end(id)));
    this.#rest(entry);
    // `close` may have been called while the session was being opened.
    if (this.#isClosed) await this.end(id);
    return entry;
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
      await Promise.all([...this.#entries.values()].map((entry) => this.#checkTokensOf(entry)));
    }
  }

  async #checkTokensOf({ id, credentials }: Entry): Promise<void> {
    try {
      if (await this.#limits.isInForce(credentials)) return;
      // Not awaited: a server may take seconds to end, and the other sessions are checked meanwhile.
      this.#watch(this.end(id));
    } catch (error) {
      this.#onFailure(error, "session");
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
   * @param cut - Ends the request. Called when the session ends before the request is over.
   * @returns A function to call when the request is over.
   */
  use(id: string, cut: () => void): () => void {
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      cut();
      return () => {};
    }
    entry.requests.add(cut);
    clearTimeout(entry.timer);
    return () => {
      entry.requests.delete(cut);
      this.#rest(entry);
    };
  }

  #rest(entry: Entry): void {
    clearTimeout(entry.timer);
    if (entry.requests.size > 0 || !this.#entries.has(entry.id)) return;
    entry.timer = setTimeout(() => this.#watch(this.end(entry.id)), this.#limits.idle).unref();
  }

  /** Ends a session, its open requests and its servers. Returns false if no session has this id. */
  async end(id: string): Promise<boolean> {
    const entry = this.#entries.get(id);
    if (entry === undefined) return false;
    this.#entries.delete(id);
    clearTimeout(entry.timer);
    for (const cut of entry.requests) cut();
    try {
      await entry.session.close();
    } finally {
      this.#release(entry.opener);
    }
    return true;
  }

  #release(opener: string): void {
    this.#openers.splice(this.#openers.indexOf(opener), 1);
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
