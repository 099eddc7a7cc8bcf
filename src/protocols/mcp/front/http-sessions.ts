import { setTimeout as sleep } from "node:timers/promises";
import { encodeBase64url } from "../../../bytes/base64.js";
import { randomBytes } from "../../../bytes/random.js";
import type { HostSession } from "./exchange.js";
import { HostStream } from "./host-stream.js";
import { Shares } from "./shares.js";

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
  /** The name of the party, as {@link CallerOf} returns it. */
  readonly opener: string;
  /** The tokens that the party presented. */
  readonly credentials: readonly string[];
}

/** The party that sends a request, by the tokens in its headers. */
export interface HttpCaller {
  readonly tokens: readonly string[];
  /** The name of the party; {@link STRANGERS} if its tokens are not in force, or if there are none. */
  readonly name: string;
}

/**
 * Returns a name for the party that presents tokens, whatever they allow; `undefined` if a token is not in force, or if
 * there is none. Rejects while the tokens cannot be judged.
 */
export type CallerOf = (credentials: readonly string[]) => Promise<string | undefined>;

/** Limits of sessions of the old era. */
export interface SessionLimits {
  /**
   * Maximum number of sessions, of which one opener may have a quarter. Each session has its own servers, and counts
   * until these have ended.
   */
  readonly most: number;
  /** Milliseconds without a request after which a session ends. */
  readonly idle: number;
  /**
   * A session ends within two seconds after this function returns `undefined` for the tokens that the session last
   * presented.
   */
  readonly callerOf: CallerOf;
}

/** A session of a host of the old era. */
export interface HttpSession {
  readonly id: string;
  readonly session: HostSession;
  readonly stream: HostStream;
}

interface Entry extends HttpSession {
  readonly opener: string;
  /** `true` if `initialize` had tokens in its headers. Every request of the session must then have them too. */
  readonly isBound: boolean;
  /** Stops counting the session. Called when its servers have ended. */
  readonly release: () => void;
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
  /** Counts the sessions with running servers: those that are being opened, open, or being closed. */
  readonly #shares: Shares;
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
    this.#shares = new Shares(limits.most);
    this.#onFailure = onFailure;
    this.#watch(this.#checkTokens());
  }

  /**
   * Opens a session for a host. Returns `undefined` if the maximum number of sessions is open, in total or for this
   * opener, and after `close`. Rethrows errors of {@link OpenSession}.
   *
   * @param isBound - Whether `initialize` had tokens in its headers.
   */
  async create(
    { opener, credentials }: SessionOpener,
    isBound: boolean,
  ): Promise<HttpSession | undefined> {
    const release = this.#isClosed ? undefined : this.#shares.take(opener);
    if (release === undefined) return undefined;
    const { session, ended } = await this.#open(false).catch((error: unknown) => {
      release();
      throw error;
    });
    const id = encodeBase64url(randomBytes(ID_BYTES));
    const stream = new HostStream();
    session.toHost = (text) => stream.send(text);
    const entry: Entry = {
      id,
      opener,
      isBound,
      release,
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

  /**
   * Finds a session for a request of the party that has opened the session, and remembers the tokens of the request.
   * For any other party, the session does not exist. The id alone is enough only if neither
   * `initialize` nor the request has tokens in its headers.
   */
  find(id: string, { tokens, name }: HttpCaller): HttpSession | undefined {
    const entry = this.#entries.get(id);
    if (entry === undefined) return undefined;
    if (tokens.length === 0) return entry.isBound ? undefined : entry;
    if (name !== entry.opener) return undefined;
    entry.credentials = tokens;
    return entry;
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
      if ((await this.#limits.callerOf(credentials)) !== undefined) return;
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
      entry.release();
    }
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
