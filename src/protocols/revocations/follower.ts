import { encodeBase64url } from "../../bytes/base64.js";
import { randomBytes } from "../../bytes/random.js";
import { ClientError } from "../../client/client-error.js";
import { AgentFault } from "../../client/fault.js";
import { safeFetch } from "../../client/fetch.js";
import type { Keyring } from "../../issuer/keyring.js";
import type { RevocationEntry } from "../../revocation/entry.js";
import type { RevocationQuery, RevocationSource } from "../../revocation/source.js";
import { RevocationTable } from "../../revocation/table.js";
import { type FeedReading, readAnswer } from "./answer.js";
import { ReadPages } from "./pages.js";
import {
  feedCredential,
  NONCE_HEADER,
  PAGE_PARAMETER,
  type Statement,
  tagOf,
} from "./statement.js";

/** Settings of a follower. Times are in seconds unless a comment says otherwise. */
interface FollowerParts {
  readonly url: URL;
  readonly keys: () => Keyring;
  readonly maxAge: number;
  readonly interval: number;
  readonly ask: typeof fetch;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
}

/** Milliseconds within which a request must be answered. */
const PATIENCE = 10_000;
/** Longest time that a check waits for an answer, in milliseconds. */
const CHECK_PATIENCE = 2000;
/** Age of the last answer, in intervals, beyond which `catchUp` waits for a new answer. */
const FEW = 3;
/** Maximum number of seconds between a failed request and the next request. */
const AGAIN = 5;
const ATTEMPTS = 3;

/**
 * A service's copy of its issuer's revocation list. Look-ups need no I/O and never throw. Known revocations
 * stay in force while the issuer cannot be reached. Made by `followRevocations`.
 */
export class RevocationFollower implements RevocationSource {
  readonly #parts: FollowerParts;
  #table: RevocationTable = new RevocationTable();
  readonly #pages: ReadPages = new ReadPages();
  #version = 0;
  /** The version and digest of the current list; absent before the first answer. */
  #known: Pick<Statement, "version" | "digest"> | undefined;
  #trustedUntil = Number.NEGATIVE_INFINITY;
  /** Start of the request that got the last valid answer, by `performance.now()`. */
  #readAt = Number.NEGATIVE_INFINITY;
  #problem: Error | undefined;
  #asking: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #closed = false;

  /** @internal Use `followRevocations`. */
  constructor(parts: FollowerParts) {
    this.#parts = parts;
  }

  find(query: RevocationQuery): RevocationEntry[] {
    return this.#table.find(query);
  }

  isCurrent(now: number): boolean {
    // `age` uses a monotonic clock, because setting the clock back must not make the list newer.
    return now < this.#trustedUntil && this.age < this.#parts.maxAge;
  }

  /**
   * Requests the list if the last answer is older than a few intervals, for example after this process was
   * suspended. While requests fail, only the timer sends requests. @see RevocationSource.catchUp
   */
  async catchUp(): Promise<void> {
    const isBehind = (): boolean => this.age > FEW * this.#parts.interval;
    if (!isBehind() || this.#closed || this.#problem !== undefined) return;
    // A pending request may have started long ago, for example before the suspension. In that case, send a
    // second one.
    for (let asked = 0; asked < 2 && isBehind(); asked++) {
      if (!(await this.#answered())) return;
    }
  }

  /**
   * Waits for an answer, for at most {@link CHECK_PATIENCE}.
   *
   * @returns `true` if an answer came.
   */
  #answered(): Promise<boolean> {
    return new Promise((resolve) => {
      const late = setTimeout(() => resolve(false), CHECK_PATIENCE);
      this.refresh()
        .then(
          () => resolve(true),
          () => resolve(false),
        )
        .finally(() => clearTimeout(late));
    });
  }

  /** The version of the list; 0 before the first answer. */
  get version(): number {
    return this.#version;
  }

  /** Number of entries in the list. */
  get size(): number {
    return this.#table.size;
  }

  /** Seconds since the last successful request; `Infinity` before the first. */
  get age(): number {
    return (performance.now() - this.#readAt) / 1000;
  }

  /**
   * The failure of the last request: a ClientError, or the error in the answer; `undefined` if the request
   * succeeded.
   */
  get problem(): Error | undefined {
    return this.#problem;
  }

  /**
   * Requests the list, or waits for the request that is pending.
   *
   * @throws ClientError if there is no answer, or the issuer did not make the answer for this service.
   * @throws AgentFault if the answer is an error, such as 401 because the service's key was removed or revoked.
   * @throws TypeError after {@link close}.
   * @throws The error of the function `keys`, if that function throws.
   */
  refresh(): Promise<void> {
    if (this.#closed) return Promise.reject(closed());
    this.#asking ??= this.#refresh().finally(() => {
      this.#asking = undefined;
      this.#wait();
    });
    return this.#asking;
  }

  /** Stops sending requests. The list then becomes too old, so that every check is refused. */
  close(): void {
    this.#closed = true;
    clearTimeout(this.#timer);
  }

  /** @internal */
  start(): void {
    // The failure is available as `problem`.
    this.refresh().catch(() => {});
  }

  async #refresh(): Promise<void> {
    try {
      await this.#ask(ATTEMPTS);
      this.#problem = undefined;
    } catch (error) {
      this.#problem = error instanceof Error ? error : new Error("the request failed");
      throw error;
    }
  }

  #wait(): void {
    if (this.#closed) return;
    const { interval } = this.#parts;
    const seconds = this.#problem === undefined ? interval : Math.min(interval, AGAIN);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.start(), seconds * 1000);
    // In Node, do not keep the process alive.
    if (typeof this.#timer === "object") this.#timer.unref();
  }

  /**
   * Reads the list.
   *
   * @param attempts - Maximum number of requests if the list changes while it is read.
   */
  async #ask(attempts: number): Promise<void> {
    const { url, keys, ask, clock, maxAge } = this.#parts;
    const present = keys();
    const { kid } = present.minting;
    const key = present.feedKey(kid);
    if (key === undefined) throw new TypeError("keys must be a service's own");
    const [began, now] = [performance.now(), clock()];
    const get = safeFetch({
      origins: [url.origin],
      accessToken: feedCredential(kid, key),
      timeout: PATIENCE,
      fetch: ask,
    });
    const known = this.#known;
    const nonce = encodeBase64url(randomBytes(16));
    const headers = {
      [NONCE_HEADER]: nonce,
      ...(known === undefined ? {} : { "If-None-Match": tagOf(known) }),
    };
    const response = await get(url, { headers });
    const reading = await readAnswer(response, { key, known, nonce, origin: url.origin });
    if (reading.pages !== undefined && !(await this.#takeList(reading, reading.pages, get))) {
      if (attempts > 1) return this.#ask(attempts - 1);
      throw this.#malformed("it changes faster than it can be read");
    }
    this.#known = reading.statement;
    // An earlier answer may have promised a later time. That promise still holds.
    const trustedUntil = Math.min(reading.trustedUntil, now + maxAge * 1000);
    this.#trustedUntil = Math.max(this.#trustedUntil, trustedUntil);
    this.#readAt = began;
  }

  /**
   * Reads the pages of an index.
   *
   * @returns `false` if the issuer no longer had one of the pages.
   */
  async #takeList(
    { statement: { version } }: FeedReading,
    pages: readonly string[],
    get: typeof fetch,
  ): Promise<boolean> {
    if (version < this.#version) {
      throw this.#malformed(
        `version ${version} is older than ${this.#version}, the one known here`,
      );
    }
    try {
      this.#table = await this.#pages.table(pages, (name) => this.#page(name, get));
      this.#version = version;
      return true;
    } catch (error) {
      if (error instanceof AgentFault && error.status === 404) return false;
      if (this.#closed || !(error instanceof TypeError)) throw error;
      throw this.#malformed(error.message);
    }
  }

  async #page(name: string, get: typeof fetch): Promise<string> {
    if (this.#closed) throw closed();
    const page = new URL(this.#parts.url);
    page.searchParams.set(PAGE_PARAMETER, name);
    const response = await get(page);
    return response.text();
  }

  #malformed(what: string): ClientError {
    const { origin } = this.#parts.url;
    const message = `the revocation list of ${origin}: ${what}`;
    return new ClientError("answer_malformed", message, origin);
  }
}

function closed(): TypeError {
  return new TypeError("this list is closed");
}
