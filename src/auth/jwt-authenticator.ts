import { hash } from "node:crypto";
import type { errors, JWTPayload } from "jose";
import type {
  Authenticator,
  Caller,
  CallerAuthentication,
  CallerRequest,
} from "../agent/caller.js";
import { errorCode } from "../system/error-code.js";
import { readBearer, refused } from "./bearer.js";
import { IDENTITY, isIdentity } from "./identity.js";
import { checkedOptions, type JwtAuthenticatorOptions, type Settings } from "./jwt-options.js";
import { type FindKey, keySource } from "./key-source.js";

/**
 * Authenticates callers by access tokens of an authorization server: JWTs as in RFC 9068, with an asymmetric
 * signature, the right issuer and audience, and valid times. Refuses tokens that are bound to a key (`cnf`), since
 * the authenticator cannot check possession of that key. A valid token is not checked again for up to a minute.
 *
 * Follows changes of a key file. Fetches keys from a URL when the first token arrives, when the keys are old, and
 * when a token names an unknown key. If the keys cannot be read or fetched, `authenticate` throws a {@link
 * KeysUnavailableError}.
 *
 * @throws TypeError if an option is wrong.
 * @throws KeysUnavailableError if a key file cannot be read at the start.
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
 * const requestWith = (authorization) => ({ method: "GET", url: "/", headers: { authorization } });
 * const known = await authenticator.authenticate(requestWith(`Bearer ${token}`));
 * known; // => { ok: true, caller: { principal: "alice", invoker: "orchestrator" } }
 *
 * const unknown = await authenticator.authenticate(requestWith("Bearer abc"));
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
  const { issuer, audience, type, algorithms, requiredScope, clockTolerance } = settings;
  const scope = requiredScope === undefined ? "" : ` with scope ${requiredScope}`;
  const advice = `get a new access token from ${issuer} for audience ${audience}${scope}`;
  const wrongToken = (wrong: string): CallerAuthentication =>
    refused("token_invalid", `the access token ${wrong}; ${advice}`);
  // Keyed by the digest of each token, since a token is a secret.
  const cache = new LRUCache<string, Known>({ max: MAX_CACHED });
  /** The keys with which the cached tokens were checked. */
  let cachedFor: FindKey | undefined;
  return {
    issuer,
    audience,
    scope: requiredScope,
    async authenticate(request: CallerRequest): Promise<CallerAuthentication> {
      const bearer = readBearer(request, advice);
      if (!bearer.ok) return bearer;
      const find = keys();
      if (find !== cachedFor) {
        cache.clear();
        cachedFor = find;
      }
      const now = settings.clock();
      const digest = hash("sha256", bearer.token, "base64");
      const known = cache.get(digest);
      // If the clock was set back, the cached token is from the future: check it again.
      if (known !== undefined && now >= known.from && now < known.until) {
        return { ok: true, caller: known.caller };
      }

      let payload: JWTPayload;
      try {
        ({ payload } = await jose.jwtVerify(bearer.token, find, {
          issuer,
          audience,
          algorithms: [...algorithms],
          clockTolerance,
          ...(type === "any" ? {} : { typ: type }),
          currentDate: new Date(now),
          requiredClaims: ["exp", "iat"],
        }));
      } catch (error) {
        const wrong = whatIsWrong(error, settings, jose.errors);
        if (wrong === undefined) throw error;
        return wrongToken(wrong);
      }
      const caller = callerIn(payload, now, settings);
      if (typeof caller === "string") return wrongToken(caller);
      // If the keys changed during verification, the cache already belongs to the new keys.
      if (payload.exp !== undefined && find === cachedFor) {
        const until = Math.min(payload.exp * 1000, now + CACHED_FOR);
        cache.set(digest, { caller, from: now, until });
      }
      return { ok: true, caller };
    },
  };
}

function loadPackages(): Promise<[typeof import("jose"), typeof import("lru-cache")]> {
  return Promise.all([import("jose"), import("lru-cache")]).catch((cause: unknown) => {
    const message = "access tokens need the packages jose and lru-cache, and one cannot be loaded";
    throw new Error(`${message}: npm install jose lru-cache`, { cause });
  });
}

/**
 * Milliseconds for which a verified token is not checked again. During this time, tokens of a withdrawn key may still
 * be accepted.
 */
const CACHED_FOR = 60_000;
const MAX_CACHED = 1000;

/** A recently verified token. Checking a token's signature takes a hundred times as long as hashing the token. */
interface Known {
  readonly caller: Caller;
  /** Milliseconds since 1970. */
  readonly from: number;
  readonly until: number;
}

/** Returns the caller that a signed token names, or a string that says what is wrong with the token. */
function callerIn(payload: JWTPayload, now: number, settings: Settings): Caller | string {
  const { clockTolerance, requiredScope, principalClaim, invokerClaims } = settings;
  if (payload.iat !== undefined && payload.iat > now / 1000 + clockTolerance) {
    return `was issued in the future, at ${momentOf(payload.iat)} ("iat")`;
  }
  if (payload["cnf"] !== undefined) {
    return 'is bound to a key ("cnf"), and a plain bearer token is needed';
  }
  if (requiredScope !== undefined && !scopesIn(payload).includes(requiredScope)) {
    return `lacks the scope "${requiredScope}" ("scope")`;
  }
  const invokerClaim = invokerClaims.find((name) => Object.hasOwn(payload, name));
  if (invokerClaim === undefined) {
    const names = invokerClaims.map((name) => `"${name}"`).join(" or ");
    return `names no client: it has no ${names}`;
  }
  const principal = payload[principalClaim];
  if (!isIdentity(principal)) return `has no good "${principalClaim}": ${IDENTITY}`;
  const invoker = payload[invokerClaim];
  if (!isIdentity(invoker)) return `has no good "${invokerClaim}": ${IDENTITY}`;
  // Every call with this token gets the same object, so the object must not change.
  return Object.freeze({ principal, invoker });
}

function scopesIn(payload: JWTPayload): readonly string[] {
  const scope = payload["scope"];
  return typeof scope === "string" ? scope.split(" ") : [];
}

const SHOWN = 120;
/** Latest possible date, in milliseconds since 1970. */
const FARTHEST = 8.64e15;

/**
 * Describes why jose refuses an access token, for messages after "the access token".
 *
 * @param jose - The error classes of the package `jose`, which is loaded only when needed.
 * @returns `undefined` if the error is not about the token.
 */
function whatIsWrong(error: unknown, expected: Settings, jose: typeof errors): string | undefined {
  if (error instanceof jose.JWTExpired) {
    return `expired at ${momentOf(error.payload.exp)} ("exp")`;
  }
  if (error instanceof jose.JWTClaimValidationFailed) return wrongClaim(error, expected);
  switch (errorCode(error)) {
    case "ERR_JOSE_ALG_NOT_ALLOWED":
      return `is not signed by an accepted algorithm ("alg"): ${expected.algorithms.join(", ")}`;
    case "ERR_JWKS_NO_MATCHING_KEY":
      return `is signed with a key that ${expected.issuer} does not publish ("kid")`;
    case "ERR_JWKS_MULTIPLE_MATCHING_KEYS":
      return 'does not say which of several keys it is signed with ("kid")';
    case "ERR_JWS_SIGNATURE_VERIFICATION_FAILED":
      return "has a signature that does not hold";
    case "ERR_JWS_INVALID":
    case "ERR_JWT_INVALID":
    case "ERR_JOSE_NOT_SUPPORTED":
      return "is not a signed JWT";
    default:
      return undefined;
  }
}

function wrongClaim(
  { claim: name, reason, payload }: errors.JWTClaimValidationFailed,
  expected: Settings,
): string {
  const found = payload[name];
  if (reason === "missing") return `has no "${name}"`;
  if (reason === "invalid") return `has a "${name}" that is not a number`;
  switch (name) {
    case "typ":
      return `is of another type ("typ") than at+jwt: an ID token, maybe, and no access token`;
    case "iss":
      return `has the issuer ("iss") ${shown(found)}, not "${expected.issuer}"`;
    case "aud":
      return `is for the audience ("aud") ${shown(found)}, not "${expected.audience}"`;
    case "nbf":
      return `is not valid before ${momentOf(found)} ("nbf")`;
    default:
      return `has a wrong "${name}"`;
  }
}

/** Formats a claim for people: one line of limited length. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? "none";
  return text.length <= SHOWN ? text : `${text.slice(0, SHOWN)}…`;
}

/** Formats seconds since 1970 as `YYYY-MM-DDTHH:MM:SSZ`; `no time` if there is no such time. */
function momentOf(seconds: unknown): string {
  if (typeof seconds !== "number" || Math.abs(seconds * 1000) > FARTHEST) return "no time";
  return new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, "Z");
}
