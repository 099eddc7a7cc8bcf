import type { Authenticator } from "../../agent/caller.js";
import { wwwAuthenticate } from "../../auth/bearer.js";
import { encodeBase64url } from "../../bytes/base64.js";
import { formatTime } from "../../caveats/time.js";
import { assertMembers } from "../../checks/members.js";
import { Keyring } from "../../issuer/keyring.js";
import {
  type FeedAnswer,
  type FeedQuestion,
  faultBody,
  JSON_TYPE,
  NO_PAGE,
  NONCE_INVALID,
  UNAVAILABLE,
} from "./answer.js";
import { Publication, type PublishedRevocations } from "./publication.js";
import { authenticateService } from "./service-caller.js";
import {
  assertMaxAge,
  DEFAULT_MAX_AGE,
  MAC_HEADER,
  NONCE_HEADER,
  PAGE_PARAMETER,
  statementMac,
  TRUST_HEADER,
  tagOf,
} from "./statement.js";

export interface RevocationFeedOptions {
  /** The issuer's root keys: a keyring, or a function that returns the current one. */
  readonly keys: Keyring | (() => Keyring);
  readonly revocations: PublishedRevocations;
  /** Seconds for which services may trust an answer, at most 86,400; 300 unless given. */
  readonly maxAge?: number | undefined;
  /** Returns the time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

const OPTIONS = ["keys", "revocations", "maxAge", "clock"];
const NONCE = /^[\w-]{0,64}$/;

/** Publishes a revocation list to services. Made by {@link createRevocationFeed}. */
export class RevocationFeed {
  readonly #keys: () => Keyring;
  readonly #revocations: PublishedRevocations;
  readonly #maxAge: number;
  readonly #clock: () => number;
  readonly #publication: Publication;

  /** @internal */
  constructor(options: RevocationFeedOptions) {
    assertMembers(options, OPTIONS, "options");
    const { keys, revocations, maxAge = DEFAULT_MAX_AGE, clock = Date.now } = options;
    if (!(keys instanceof Keyring) && typeof keys !== "function") {
      throw new TypeError("keys must be a Keyring, or a function that gives one");
    }
    if (typeof revocations?.snapshot !== "function") {
      throw new TypeError("revocations must be a RevocationList or a store");
    }
    assertMaxAge(maxAge);
    this.#keys = keys instanceof Keyring ? () => keys : keys;
    this.#revocations = revocations;
    this.#maxAge = maxAge;
    this.#clock = clock;
    this.#publication = new Publication(revocations);
  }

  /**
   * Authenticates services. `principal` is the service, and `invoker` is the id of the service's key. Refuses a
   * key if the key or its root key was revoked.
   */
  get authenticator(): Authenticator {
    return {
      audience: "proviso-revocations",
      authenticate: async (request) => {
        await this.#revocations.catchUp?.();
        return authenticateService(request, this.#keys(), this.#revocations);
      },
    };
  }

  /**
   * Returns the index of the list, or one page, for an authenticated service.
   *
   * @param kid - The id of the service's key, from {@link RevocationFeed.authenticator}.
   * @throws The error of the list's `snapshot`, for example a StorageError.
   */
  async answer(kid: string, { known, nonce = "", page }: FeedQuestion = {}): Promise<FeedAnswer> {
    if (page !== undefined) return this.#page(page);
    if (!NONCE.test(nonce)) return NONCE_INVALID;
    const now = this.#clock();
    const key = this.#keys().feedKey(kid);
    const { trustedUntil: own = Number.POSITIVE_INFINITY } = this.#revocations;
    const until = Math.min(now + this.#maxAge * 1000, own);
    if (key === undefined || until <= now || this.#revocations.isCurrent(now) !== true) {
      return UNAVAILABLE;
    }
    const trustedUntil = formatTime(until);
    const { version, index, digest } = await this.#publication.list(trustedUntil);
    const statement = { version, trustedUntil, digest, nonce };
    const tag = tagOf(statement);
    const headers = {
      "Cache-Control": "private, no-store",
      ETag: tag,
      Vary: "Authorization",
      [TRUST_HEADER]: trustedUntil,
      [MAC_HEADER]: encodeBase64url(statementMac(key, statement)),
    };
    if (known === tag) return { status: 304, headers, body: "" };
    const body = `{"version":${version},"trustedUntil":"${trustedUntil}","pages":${index}}`;
    return { status: 200, headers: { ...headers, ...JSON_TYPE }, body };
  }

  async #page(name: string): Promise<FeedAnswer> {
    // Another process of this issuer may have published an index that names this page. This process then has to
    // publish the newest list first.
    if (this.#publication.page(name) === undefined) {
      await this.#publication.list(formatTime(this.#clock()));
    }
    const body = this.#publication.page(name);
    if (body === undefined) return NO_PAGE;
    return { status: 200, headers: { "Cache-Control": "private, no-store", ...JSON_TYPE }, body };
  }

  /**
   * Answers a Fetch request, for use in your own server. It accepts `GET` at any path, has no rate limit, and
   * reads no bodies.
   *
   * @throws The same errors as {@link RevocationFeed.answer}.
   */
  async fetch(request: Request): Promise<Response> {
    const { authenticator } = this;
    const { method, url } = request;
    if (method !== "GET") {
      return new Response(faultBody(405, "method_not_allowed", "only GET is answered"), {
        status: 405,
        headers: { ...JSON_TYPE, Allow: "GET" },
      });
    }
    const authorization = request.headers.get("Authorization") ?? undefined;
    const found = await authenticator.authenticate({ method, url, headers: { authorization } });
    if (!found.ok) {
      const challenge = wwwAuthenticate(found.denial, authenticator);
      const { code, message } = found.denial;
      const headers = {
        "WWW-Authenticate": challenge,
        "Cache-Control": "no-store",
        ...JSON_TYPE,
      };
      return new Response(faultBody(401, code, message), { status: 401, headers });
    }
    const known = request.headers.get("If-None-Match") ?? undefined;
    const nonce = request.headers.get(NONCE_HEADER) ?? undefined;
    const page = new URL(url).searchParams.get(PAGE_PARAMETER) ?? undefined;
    const { status, headers, body } = await this.answer(found.caller.invoker, {
      known,
      nonce,
      page,
    });
    return new Response(body === "" ? null : body, { status, headers });
  }
}

/**
 * Creates the feed through which an issuer publishes its revocation list to the services that have keys from
 * the issuer. `proviso serve` mounts the feed; your own server can answer with {@link RevocationFeed.fetch}.
 *
 * @throws TypeError if an option is wrong.
 *
 * @example
 * ```ts
 * import { createKeyring, createRevocationList, importKeyring } from "proviso/issuer";
 * import { createRevocationFeed, followRevocations } from "proviso/revocations";
 *
 * const keys = createKeyring();
 * const revocations = createRevocationList();
 * const feed = createRevocationFeed({ keys, revocations });
 *
 * const service = followRevocations({
 *   url: "https://agent.example/revocations",
 *   keys: importKeyring(keys.serviceKeys("documents")),
 *   fetch: (input, init) => feed.fetch(new Request(input, init)),
 * });
 * revocations.add({ kind: "key", id: "key_1", at: "2026-01-01T00:00:00Z" });
 * await service.refresh();
 * service.size; // => 1
 * service.close();
 * ```
 */
export function createRevocationFeed(options: RevocationFeedOptions): RevocationFeed {
  return new RevocationFeed(options);
}
