import { TokenError } from "../bytes/token-error.js";
import type { Macaroon } from "../macaroon/macaroon.js";
import { partsOf } from "../macaroon/macaroon.js";
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

/** A token whose every signature holds. Only {@link authenticate} makes these. */
export interface AuthenticToken {
  readonly [authentic]: true;
  readonly identifier: Identifier;
  /** The token's own chain, then its discharges'. */
  readonly chains: readonly [AuthenticChain, ...AuthenticChain[]];
}

export type Authentication =
  | { readonly ok: true; readonly token: AuthenticToken }
  | { readonly ok: false; readonly denial: Denial };

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
  if (identifier.iss !== context.issuer) {
    const message = "the token was issued by someone else";
    return refuse({
      code: "foreign_issuer",
      rule: "iss",
      expected: context.issuer,
      actual: identifier.iss,
      message,
    });
  }
  const key = context.keys.find(identifier.kid);
  if (key === undefined) {
    const message = "the token was made under a key that this issuer does not have, or has retired";
    return refuse({ code: "unknown_key", rule: "kid", actual: identifier.kid, message });
  }
  const [root, ...discharges] = macaroons;
  const result = verifySignatures(root, key, discharges, context.limits.nesting);
  if (!result.ok) return refuse(signatureDenial(result.failure));

  const chains = result.chains.map(({ tags }, at) => ({
    links: readLinks(macaroons[at] ?? root),
    revocationIds: tags.map(revocationIdOf),
  }));
  const token = { identifier, chains } as unknown as AuthenticToken;
  return { ok: true, token };
}

function refuse(denial: Denial): Authentication {
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
