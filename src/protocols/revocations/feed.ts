import { equalBytes } from "@noble/ciphers/utils.js";
import type { Authenticator, CallerAuthentication, CallerRequest } from "../../agent/caller.js";
import { readBearer, refused, wwwAuthenticate } from "../../auth/bearer.js";
import { decodeBase64, encodeBase64url } from "../../bytes/base64.js";
import { TokenError } from "../../bytes/token-error.js";
import { decodeUtf8 } from "../../bytes/utf8.js";
import { readServiceKeyId, revocableKeyIds } from "../../capability/key-id.js";
import { assertMembers } from "../../caveats/known-members.js";
import { formatTime } from "../../caveats/time.js";
import { Keyring } from "../../issuer/keyring.js";
import type { RevocationSnapshot } from "../../revocation/list.js";
import type { RevocationSource } from "../../revocation/source.js";
import { type WrittenList, writtenList } from "./pages.js";
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

/** A revocation list that can be published: a `RevocationList`, or a store. */
export interface PublishedRevocations extends RevocationSource {
  /** Grows with every change and never shrinks, also when the issuer starts again. */
  readonly version: number;
  /** Until when it may itself be relied on, in milliseconds since 1970; absent or `Infinity` for good. */
  readonly trustedUntil?: number;
  snapshot(trustedUntil: string): RevocationSnapshot | Promise<RevocationSnapshot>;
}

export interface RevocationFeedOptions {
  /** The issuer's root keys: a keyring, or a function that gives the present one each time. */
  readonly keys: Keyring | (() => Keyring);
  readonly revocations: PublishedRevocations;
  /** Seconds for which services may rely on an answer, 86,400 at most; 300 unless given. */
  readonly maxAge?: number | undefined;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

/** What a service asks, whatever serves it. */
export interface FeedQuestion {
  /** The header `If-None-Match`. */
  readonly known?: string | undefined;
  /** The header `Proviso-Feed-Nonce`: up to 64 characters of base64url. */
  readonly nonce?: string | undefined;
  /** The query's `page`: one page of entries, by its name in an answer that had none. */
  readonly page?: string | undefined;
}

/** An answer to a service, whatever serves it. */
export interface FeedAnswer {
  readonly status: 200 | 304 | 400 | 404 | 503;
  readonly headers: Readonly<Record<string, string>>;
  /** JSON; empty with 304. */
  readonly body: string;
}

const ADVICE = "a service reads the revocations by a credential derived from its key";
const OPTIONS = ["keys", "revocations", "maxAge", "clock"];
/** Characters; key ids are short. */
const LONGEST_CREDENTIAL = 2048;
const JSON_TYPE = { "Content-Type": "application/json" };
const NONCE = /^[\w-]{0,64}$/;
const NOT_KNOWN = `the credential is not of a service of this issuer; ${ADVICE}`;

/** A list that is written out, or is going to be. */
interface Writing {
  /** What it is at least as new as. */
  readonly version: number;
  readonly list: Promise<WrittenList>;
}

/** Publishes a revocation list to services. Made by {@link createRevocationFeed}. */
export class RevocationFeed {
  readonly #keys: () => Keyring;
  readonly #revocations: PublishedRevocations;
  readonly #maxAge: number;
  readonly #clock: () => number;
  /** The last one; while it is being written, all that ask wait for it. */
  #written: Writing | undefined;
  /** The list before: a service may be reading its pages yet. */
  #before: WrittenList | undefined;

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
  }

  /**
   * Identifies the service that asks: `principal` is the service, `invoker` its key's id. A key that is revoked,
   * by itself or with its root key, reads nothing.
   */
  get authenticator(): Authenticator {
    return {
      audience: "proviso-revocations",
      authenticate: async (request) => this.#authenticate(request),
    };
  }

  /**
   * The list's index, or a page of it, for a service that is known by now.
   *
   * @param kid - Its key's id, as {@link RevocationFeed.authenticator} returns it.
   * @throws Error whatever the list's `snapshot` rejects with, such as a StorageError.
   */
  async answer(kid: string, { known, nonce = "", page }: FeedQuestion = {}): Promise<FeedAnswer> {
    if (page !== undefined) return this.#page(page);
    if (!NONCE.test(nonce)) {
      const message = `${NONCE_HEADER} must have 1 to 64 characters of base64url`;
      return failed(400, "nonce_invalid", message);
    }
    const now = this.#clock();
    const key = this.#keys().feedKey(kid);
    const { trustedUntil: own = Number.POSITIVE_INFINITY } = this.#revocations;
    const until = Math.min(now + this.#maxAge * 1000, own);
    if (key === undefined || until <= now || this.#revocations.isCurrent(now) !== true) {
      const message = "the revocation list cannot be relied on at the moment; try again soon";
      return failed(503, "unavailable", message, { "Retry-After": "5" });
    }
    const trustedUntil = formatTime(until);
    const { version, index, digest } = await this.#list(trustedUntil);
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
    // The index that names it may be of another process of this issuer, with changes not written here yet.
    if ((await this.#pageNamed(name)) === undefined) await this.#list(formatTime(this.#clock()));
    const body = await this.#pageNamed(name);
    if (body === undefined) {
      return failed(
        404,
        "not_found",
        "the list has no such page any more; ask for its index again",
      );
    }
    return { status: 200, headers: { "Cache-Control": "private, no-store", ...JSON_TYPE }, body };
  }

  async #pageNamed(name: string): Promise<string | undefined> {
    const written = await this.#written?.list.catch(() => undefined);
    return written?.pages.get(name) ?? this.#before?.pages.get(name);
  }

  /**
   * Answers a request of Fetch's, for a server of one's own: `GET` of any path. It counts no requests and
   * reads no body.
   *
   * @throws Error as {@link RevocationFeed.answer} does.
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
        ...{ "WWW-Authenticate": challenge, "Cache-Control": "no-store" },
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

  #authenticate(request: CallerRequest): CallerAuthentication {
    const bearer = readBearer(request, ADVICE, LONGEST_CREDENTIAL);
    if (!bearer.ok) return bearer;
    const credential = credentialIn(bearer.token);
    const id = credential && readServiceKeyId(credential.kid);
    const key = credential && this.#keys().feedKey(credential.kid);
    if (credential === undefined || id === undefined || key === undefined) {
      return refused("token_invalid", NOT_KNOWN);
    }
    if (!equalBytes(credential.proof, key.credential())) return refused("token_invalid", NOT_KNOWN);
    const { kid } = credential;
    const keys = revocableKeyIds(kid);
    const revoked = this.#revocations.find({ links: [], capability: "", keys, issued: 0 });
    if (revoked.length > 0) return refused("token_invalid", "the service's key is revoked");
    return { ok: true, caller: { principal: id.service, invoker: kid } };
  }

  /** Written out once for each version. */
  async #list(trustedUntil: string): Promise<WrittenList> {
    const last = this.#written;
    const isNew = last !== undefined && last.version >= this.#revocations.version;
    const written = isNew ? last : this.#write(trustedUntil, last?.list);
    this.#written = written;
    try {
      return await written.list;
    } catch (error) {
      // The next one that asks tries again.
      if (this.#written === written) this.#written = undefined;
      throw error;
    }
  }

  #write(trustedUntil: string, last: Promise<WrittenList> | undefined): Writing {
    // Until it begins, it is going to be as new as any question: one write at most waits for another.
    const written = { version: Number.POSITIVE_INFINITY };
    const write = async (): Promise<WrittenList> => {
      this.#before = (await last?.catch(() => undefined)) ?? this.#before;
      written.version = this.#revocations.version;
      const list = await writtenList(await this.#revocations.snapshot(trustedUntil), this.#before);
      written.version = list.version;
      return list;
    };
    return Object.assign(written, { list: write() });
  }
}

/** An error, as clients of an agent read it. */
export function faultBody(code: number, reason: string, message: string): string {
  return JSON.stringify({ error: { code, status: reason.toUpperCase(), message } });
}

function failed(
  status: 400 | 404 | 503,
  reason: string,
  message: string,
  more: Readonly<Record<string, string>> = {},
): FeedAnswer {
  const headers = { "Cache-Control": "no-store", ...JSON_TYPE, ...more };
  return { status, headers, body: faultBody(status, reason, message) };
}

function credentialIn(
  token: string,
): { readonly kid: string; readonly proof: Uint8Array } | undefined {
  const [name = "", proof = "", ...more] = token.split(".");
  if (more.length > 0) return undefined;
  try {
    const kid = decodeUtf8(decodeBase64(name));
    return kid === undefined ? undefined : { kid, proof: decodeBase64(proof) };
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

/**
 * What an issuer publishes its revocation list by, to the services that have keys of it. `proviso serve`
 * mounts it; a server of one's own answers with {@link RevocationFeed.fetch}.
 *
 * @throws TypeError on wrong options.
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
