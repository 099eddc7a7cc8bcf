import { TokenError } from "../bytes/token-error.js";
import { described } from "../checks/kinds.js";
import { digestOfText } from "../macaroon/hmac.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { maxCharacters } from "../macaroon/read.js";
import type { RootKey } from "../macaroon/root-key.js";
import {
  type SignatureFailure,
  type VerifiedChain,
  verifySignatures,
} from "../macaroon/signatures.js";
import { revocationIdOf } from "../revocation/id.js";
import { type AuthenticToken, authenticToken, originOf } from "./authentic-token.js";
import { type Denial, tokenDenialCode } from "./denial.js";
import { decodeIdentifier, type Identifier } from "./identifier.js";
import { type CapabilityLimits, overCapabilityLimits } from "./limits.js";
import { type AuthenticChain, readLinks, readToken } from "./read-token.js";
import type { VerificationCache } from "./verification-cache.js";

/** Finds root keys by id. */
export interface KeySource {
  find(kid: string): RootKey | undefined;
}

/** The data needed to verify that a token is the issuer's own. */
export interface AuthenticationContext {
  /** The issuer's name, as in its tokens. */
  readonly issuer: string;
  readonly keys: KeySource;
  readonly limits: CapabilityLimits;
  /** The cache of verified tokens; without it, each check verifies every signature again. */
  readonly cache?: VerificationCache | undefined;
}

/** An authentic token, or the denial of a string that was refused. */
export type Authentication = { readonly ok: true; readonly token: AuthenticToken } | Refused;

interface Refused {
  readonly ok: false;
  readonly denial: Denial;
}

/**
 * Authenticates a token by the first three steps of a check (docs/spec.md, section 7): limits and strict parsing;
 * issuer and key; every signature. No hop is judged. For a cached token, only the key is looked up again.
 */
export function authenticate(text: string, context: AuthenticationContext): Authentication {
  const { cache, limits } = context;
  if (typeof text !== "string") {
    const message = `the token must be a string, not ${described(text)}`;
    return denied({ code: "token_malformed", message });
  }
  if (cache === undefined || text.length > maxCharacters(limits)) return verify(text, context);
  // The digest covers the whole presented string, including signatures and discharges.
  const digest = digestOfText(text);
  const known = cache.find(digest);
  if (known !== undefined) {
    const again = authenticateAgain(known, context);
    if (again.ok) return again;
    cache.forget(digest);
  }
  const result = verify(text, context);
  if (result.ok) cache.keep(digest, result.token, text.length);
  return result;
}

function verify(text: string, context: AuthenticationContext): Authentication {
  let macaroons: readonly [Macaroon, ...Macaroon[]];
  let identifier: Identifier;
  try {
    macaroons = readToken(text, context.limits);
    identifier = decodeIdentifier(partsOf(macaroons[0]).identifier);
  } catch (error) {
    return denied(tokenDenial(error));
  }
  const found = keyOf(identifier, context);
  if (!found.ok) return found;
  const { key } = found;
  const { limits } = context;
  const [root, ...discharges] = macaroons;
  const result = verifySignatures(root, key, discharges, limits.nesting);
  if (!result.ok) return denied(signatureDenial(result.failure));
  const [own, ...others] = result.chains;
  const chains = [authenticChain(own), ...others.map(authenticChain)] as const;
  return { ok: true, token: authenticToken(identifier, chains, { key, macaroons, limits }) };
}

function authenticChain({ macaroon, tags }: VerifiedChain): AuthenticChain {
  return { links: readLinks(macaroon), revocationIds: tags.map(revocationIdOf) };
}

/**
 * Looks up the key of an authentic token again: the key may have been retired, or replaced by another key with the
 * same id. Also checks the limits of `context`, in case another issuer object with other limits verified the token.
 *
 * @throws TypeError if `token` is not authentic.
 */
export function authenticateAgain(
  token: AuthenticToken,
  context: AuthenticationContext,
): Authentication {
  const { key, macaroons, limits } = originOf(token);
  const found = keyOf(token.identifier, context);
  if (!found.ok) return found;
  if (!found.key.equals(key)) return denied(MISMATCH);
  const denial =
    limits === context.limits ? undefined : limitDenial(macaroons, key, context.limits);
  return denial === undefined ? { ok: true, token } : denied(denial);
}

/** Returns a denial if macaroons exceed `limits`. The macaroons have been verified already, but with other limits. */
function limitDenial(
  macaroons: readonly [Macaroon, ...Macaroon[]],
  key: RootKey,
  limits: CapabilityLimits,
): Denial | undefined {
  const over = overCapabilityLimits(macaroons, limits);
  if (over !== undefined) return tokenDenial(over);
  const [root, ...discharges] = macaroons;
  // Follow the discharges again, since they may be nested deeper than `limits` allows.
  const result = verifySignatures(root, key, discharges, limits.nesting);
  return result.ok ? undefined : signatureDenial(result.failure);
}

/**
 * Authenticates a string; for an authentic token, looks up its key again.
 *
 * @throws TypeError if `given` is an object but not an authentic token.
 */
export function authenticateOrRecheck(
  given: string | AuthenticToken,
  context: AuthenticationContext,
): Authentication {
  return typeof given === "object" && given !== null
    ? authenticateAgain(given, context)
    : authenticate(given, context);
}

/** Returns the root key that an identifier names; a denial if the token has another issuer, or the key is unknown. */
function keyOf(
  { iss, kid }: Identifier,
  { issuer, keys }: AuthenticationContext,
): { readonly ok: true; readonly key: RootKey } | Refused {
  if (iss !== issuer) {
    const message = "the token was issued by someone else";
    return denied({ code: "foreign_issuer", rule: "iss", expected: issuer, actual: iss, message });
  }
  const key = keys.find(kid);
  if (key !== undefined) return { ok: true, key };
  const message = "the token was made under a key that this issuer does not have, or has retired";
  return denied({ code: "unknown_key", rule: "kid", actual: kid, message });
}

function denied(denial: Denial): Refused {
  return { ok: false, denial };
}

/** Converts the error about an unreadable token to a denial. */
function tokenDenial(error: unknown): Denial {
  if (!(error instanceof TokenError)) throw error;
  const { code, message } = error;
  return { code: tokenDenialCode(code), rule: code, message: withHint(message, code) };
}

function withHint(message: string, code: TokenError["code"]): string {
  if (code !== "truncated") return message;
  return `${message}; it was cut short, copy the whole token`;
}

const MISMATCH: Denial = /* @__PURE__ */ Object.freeze({
  code: "signature_mismatch",
  message: "the signature does not match: the token was altered, or is not this issuer's",
});

function signatureDenial(failure: SignatureFailure): Denial {
  if (failure.code === "signature_mismatch") {
    return MISMATCH;
  }
  const code = failure.code === "discharge_missing" ? "discharge_missing" : "discharge_invalid";
  const { caveat, macaroon, message } = failure;
  return {
    code,
    rule: failure.code,
    message,
    ...(caveat === undefined ? {} : { hop: caveat }),
    ...(macaroon === 0 ? {} : { discharge: macaroon }),
  };
}
