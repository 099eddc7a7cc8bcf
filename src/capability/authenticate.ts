import { TokenError } from "../bytes/token-error.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import type { RootKey } from "../macaroon/root-key.js";
import { type SignatureFailure, verifySignatures } from "../macaroon/signatures.js";
import { revocationIdOf } from "../revocation/id.js";
import { type Denial, tokenDenialCode } from "./denial.js";
import { decodeIdentifier, type Identifier } from "./identifier.js";
import type { CapabilityLimits } from "./limits.js";
import { type ReadLink, readLinks, readToken } from "./token.js";

/** Where root keys are looked up by id. */
export interface KeySource {
  find(kid: string): RootKey | undefined;
}

/** What is needed to tell whether a token is the issuer's own. */
export interface AuthenticationContext {
  /** The issuer's name, as in its tokens. */
  readonly issuer: string;
  readonly keys: KeySource;
  readonly limits: CapabilityLimits;
}

/** One macaroon of a token whose signatures have all been verified. */
export interface AuthenticChain {
  readonly links: readonly ReadLink[];
  /** The revocation id of the identifier, then of each link. */
  readonly revocationIds: readonly string[];
}

declare const authentic: unique symbol;

/**
 * A token whose every signature holds. Only {@link authenticate} and {@link extend} make these; whatever
 * is asked of one afterwards needs no HMAC and no parsing.
 */
export interface AuthenticToken {
  readonly [authentic]: true;
  readonly identifier: Identifier;
  /** Without its discharges; it shows nothing of its signature. */
  readonly macaroon: Macaroon;
  /** The token's own chain, then its discharges'. */
  readonly chains: readonly [AuthenticChain, ...AuthenticChain[]];
}

/** Whether a token is the issuer's own. */
export type Authentication = { readonly ok: true; readonly token: AuthenticToken } | Refused;

interface Refused {
  readonly ok: false;
  readonly denial: Denial;
}

/**
 * Limits and strict parsing, then issuer and key, then the whole chain and every discharge: the
 * first three steps of a check (docs/spec.md, section 7). Judges no hop.
 */
export function authenticate(text: string, context: AuthenticationContext): Authentication {
  let macaroons: readonly [Macaroon, ...Macaroon[]];
  let identifier: Identifier;
  try {
    macaroons = readToken(text, context.limits).macaroons;
    identifier = decodeIdentifier(partsOf(macaroons[0]).identifier);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return refuse(tokenDenial(error));
  }
  const found = keyOf(identifier, context);
  if (!found.ok) return found;
  const [root, ...discharges] = macaroons;
  const result = verifySignatures(root, found.key, discharges, context.limits.nesting);
  if (!result.ok) return refuse(signatureDenial(result.failure));

  const [own, ...others] = result.chains.map(({ tags }, at) => ({
    links: readLinks(macaroons[at] ?? root),
    revocationIds: tags.map(revocationIdOf),
  }));
  if (own === undefined) throw new TypeError("a verified token has a chain of its own");
  return { ok: true, token: authenticToken(identifier, root, [own, ...others]) };
}

/**
 * Whether a token that was authenticated before is still this issuer's: its key may be gone since.
 *
 * @throws TypeError for what {@link authenticate} and {@link extend} have not made.
 */
export function authenticateAgain(
  token: AuthenticToken,
  context: AuthenticationContext,
): Authentication {
  assertAuthentic(token);
  const found = keyOf(token.identifier, context);
  return found.ok ? { ok: true, token } : found;
}

/** The token with one more link, of which no other party has had a say: nothing is verified again. */
export function extend(token: AuthenticToken, child: Macaroon): AuthenticToken {
  const {
    identifier,
    chains: [own],
  } = token;
  const { signature } = partsOf(child);
  const links = [...own.links, ...readLinks(child).slice(own.links.length)];
  const revocationIds = [...own.revocationIds, revocationIdOf(signature)];
  return authenticToken(identifier, child, [{ links, revocationIds }]);
}

// The brand is a promise to the compiler alone; this holds against a caller of JavaScript.
const made = /* @__PURE__ */ new WeakSet<AuthenticToken>();

/** @throws TypeError for what {@link authenticate} and {@link extend} have not made. */
export function assertAuthentic(token: AuthenticToken): void {
  if (!made.has(token)) throw new TypeError("token must be a string, or an authentic token");
}

function authenticToken(
  identifier: Identifier,
  macaroon: Macaroon,
  chains: AuthenticToken["chains"],
): AuthenticToken {
  const token = { identifier, macaroon, chains } as unknown as AuthenticToken;
  made.add(token);
  return token;
}

/** The root key that an identifier names, if it is this issuer's. */
function keyOf(
  { iss, kid }: Identifier,
  { issuer, keys }: AuthenticationContext,
): { readonly ok: true; readonly key: RootKey } | Refused {
  if (iss !== issuer) {
    const message = "the token was issued by someone else";
    return refuse({ code: "foreign_issuer", rule: "iss", expected: issuer, actual: iss, message });
  }
  const key = keys.find(kid);
  if (key !== undefined) return { ok: true, key };
  const message = "the token was made under a key that this issuer does not have, or has retired";
  return refuse({ code: "unknown_key", rule: "kid", actual: kid, message });
}

function refuse(denial: Denial): Refused {
  return { ok: false, denial };
}

/** A token that could not be read, as a denial. */
function tokenDenial(error: TokenError): Denial {
  const { code, message } = error;
  return { code: tokenDenialCode(code), rule: code, message: withHint(message, code) };
}

function withHint(message: string, code: TokenError["code"]): string {
  if (code !== "truncated") return message;
  return `${message}; it was cut short, copy the whole token`;
}

function signatureDenial(failure: SignatureFailure): Denial {
  if (failure.code === "signature_mismatch") {
    const message = "the signature does not match: the token was altered, or is not this issuer's";
    return { code: "signature_mismatch", message };
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
