import { createHash } from "node:crypto";
import type { JWTPayload } from "jose";
import type { LRUCache } from "lru-cache";
import type { Authenticator, Caller, CallerAuthentication } from "../agent/caller.js";
import { readBearer } from "./bearer.js";
import { IDENTITY, isIdentity } from "./identity.js";
import { checkedOptions, type JwtAuthenticatorOptions, type Settings } from "./jwt-options.js";
import { momentOf, whatIsWrong } from "./jwt-refusal.js";
import { type FindKey, type KeySource, keySource } from "./key-source.js";

/**
 * Authenticates callers by access tokens of an authorization server: JWTs as in RFC 9068, with an
 * asymmetric signature, the right issuer and audience, within their time. Tokens that are bound to
 * a key (`cnf`) are refused, since that key is not checked here. A token that was good is not
 * checked again for at most a minute.
 *
 * Keys in a file are followed when it changes; keys at a URL are fetched when first needed, when
 * they are old, and when a token names one that is not known. Where it
 * cannot get them, `authenticate` throws {@link KeysUnavailableError}.
 *
 * @throws TypeError on wrong options.
 * @throws KeysUnavailableError if a file of keys cannot be read at the start.
 * @throws Error if the package `jose` or `lru-cache` is not installed.
 *
 * @example
 * ```ts
 * import { exportJWK, generateKeyPair, SignJWT } from "jose";
 * import { createJwtAuthenticator } from "proviso/auth";
 *
 * const { publicKey, privateKey } = await generateKeyPair("ES256");
 * const authenticator = await createJwtAuthenticator({
 *   issuer: "https://login.example",
 *   audience: "https://documents.example",
 *   jwks: { keys: [await exportJWK(publicKey)] },
 * });
 *
 * const token = await new SignJWT({ client_id: "orchestrator" })
 *   .setProtectedHeader({ alg: "ES256", typ: "at+jwt" })
 *   .setIssuer("https://login.example")
 *   .setAudience("https://documents.example")
 *   .setSubject("alice")
 *   .setIssuedAt()
 *   .setExpirationTime("5 minutes")
 *   .sign(privateKey);
 * const known = await authenticator.authenticate(`Bearer ${token}`);
 * known; // => { ok: true, caller: { principal: "alice", invoker: "orchestrator" } }
 *
 * const unknown = await authenticator.authenticate("Bearer abc");
 * unknown.ok ? "" : unknown.denial.code; // => "token_invalid"
 * ```
 */
export async function createJwtAuthenticator(
  options: JwtAuthenticatorOptions,
): Promise<Authenticator> {
  const settings = checkedOptions(options);
  const [jose, { LRUCache }] = await loadPackages();
  const keys = keySource(jose, options.jwks, options);
  keys();
  return new JwtAuthenticator(settings, jose.jwtVerify, keys, new LRUCache({ max: MAX_CACHED }));
}

function loadPackages(): Promise<[typeof import("jose"), typeof import("lru-cache")]> {
  return Promise.all([import("jose"), import("lru-cache")]).catch((cause: unknown) => {
    const message = "access tokens need the packages jose and lru-cache, and one cannot be loaded";
    throw new Error(`${message}: npm install jose lru-cache`, { cause });
  });
}

/** Milliseconds for which a token is not checked again: for so long a withdrawn key still counts. */
const CACHED_FOR = 60_000;
const MAX_CACHED = 1000;

/** A token that was good a moment ago: a signature takes a hundred times as long as a hash. */
interface Known {
  readonly caller: Caller;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
}

class JwtAuthenticator implements Authenticator {
  readonly issuer: string;
  readonly audience: string;
  readonly scope?: string;
  readonly #settings: Settings;
  readonly #verify: typeof import("jose").jwtVerify;
  readonly #keys: KeySource;
  readonly #advice: string;
  /** By the digest of each token, since a token is a secret. */
  readonly #cache: LRUCache<string, Known>;
  /** The keys that the tokens in the cache were checked with. */
  #cachedFor: FindKey | undefined;

  constructor(
    settings: Settings,
    verify: typeof import("jose").jwtVerify,
    keys: KeySource,
    cache: LRUCache<string, Known>,
  ) {
    const { issuer, audience, requiredScope } = settings;
    this.issuer = issuer;
    this.audience = audience;
    const scope = requiredScope === undefined ? "" : ` with scope ${requiredScope}`;
    if (requiredScope !== undefined) this.scope = requiredScope;
    this.#settings = settings;
    this.#verify = verify;
    this.#keys = keys;
    this.#cache = cache;
    this.#advice = `get a new access token from ${issuer} for audience ${audience}${scope}`;
  }

  async authenticate(authorization: string | undefined): Promise<CallerAuthentication> {
    const bearer = readBearer(authorization, this.#advice);
    if (!bearer.ok) return bearer;
    const find = this.#keys();
    if (find !== this.#cachedFor) {
      this.#cache.clear();
      this.#cachedFor = find;
    }
    const now = this.#settings.clock();
    const digest = createHash("sha256").update(bearer.token).digest("base64");
    const known = this.#cache.get(digest);
    // A clock that is set back makes tokens too new that were not.
    if (known !== undefined && now >= known.from && now < known.until) {
      return { ok: true, caller: known.caller };
    }

    const { issuer, audience, type, algorithms, clockTolerance } = this.#settings;
    let payload: JWTPayload;
    try {
      ({ payload } = await this.#verify(bearer.token, find, {
        ...{ issuer, audience, algorithms: [...algorithms], clockTolerance },
        ...(type === "any" ? {} : { typ: type }),
        currentDate: new Date(now),
        requiredClaims: ["exp", "iat"],
      }));
    } catch (error) {
      const wrong = whatIsWrong(error, this.#settings);
      if (wrong === undefined) throw error;
      return this.#refused(wrong);
    }
    const result = this.#callerIn(payload, now);
    // If the keys have changed meanwhile, those in the cache are others than this one's.
    if (result.ok && payload.exp !== undefined && find === this.#cachedFor) {
      const until = Math.min(payload.exp * 1000, now + CACHED_FOR);
      this.#cache.set(digest, { caller: result.caller, from: now, until });
    }
    return result;
  }

  #callerIn(payload: JWTPayload, now: number): CallerAuthentication {
    const { clockTolerance, requiredScope, principalClaim, invokerClaims } = this.#settings;
    if (payload.iat !== undefined && payload.iat > now / 1000 + clockTolerance) {
      return this.#refused(`was issued in the future, at ${momentOf(payload.iat)} ("iat")`);
    }
    if (payload["cnf"] !== undefined) {
      return this.#refused('is bound to a key ("cnf"), and a plain bearer token is needed');
    }
    if (requiredScope !== undefined && !scopesIn(payload).includes(requiredScope)) {
      return this.#refused(`lacks the scope "${requiredScope}" ("scope")`);
    }
    const invokerClaim = invokerClaims.find((name) => Object.hasOwn(payload, name));
    if (invokerClaim === undefined) {
      return this.#refused(`names no client: it has no ${quoted(invokerClaims)}`);
    }
    const principal = payload[principalClaim];
    if (!isIdentity(principal))
      return this.#refused(`has no good "${principalClaim}": ${IDENTITY}`);
    const invoker = payload[invokerClaim];
    if (!isIdentity(invoker)) return this.#refused(`has no good "${invokerClaim}": ${IDENTITY}`);
    // It is given to every call with this token.
    return { ok: true, caller: Object.freeze({ principal, invoker }) };
  }

  #refused(wrong: string): CallerAuthentication {
    const message = `the access token ${wrong}; ${this.#advice}`;
    return { ok: false, denial: { code: "token_invalid", message } };
  }
}

function scopesIn(payload: JWTPayload): readonly string[] {
  const scope = payload["scope"];
  return typeof scope === "string" ? scope.split(" ") : [];
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `"${name}"`).join(" or ");
}
