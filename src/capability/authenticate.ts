import { TokenError } from "../bytes/token-error.js";
import { NONE } from "../caveats/hop-rule.js";
import type { CompactMacaroon } from "../macaroon/compact.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import type { RootKey } from "../macaroon/root-key.js";
import { WORDS } from "../macaroon/sha256.js";
import { type SignatureFailure, verifySignatures } from "../macaroon/signatures.js";
import { revocationIdOf, revocationIdsOfWords } from "../revocation/id.js";
import {
  type AuthenticToken,
  authenticToken,
  keyOfToken,
  macaroonOfToken,
  tagsOfToken,
} from "./authentic-token.js";
import { type Denial, tokenDenialCode } from "./denial.js";
import { deepFrozen } from "./frozen.js";
import { decodeIdentifier, type Identifier } from "./identifier.js";
import type { CapabilityLimits } from "./limits.js";
import {
  areHopsWithin,
  ifCompact,
  type ReadLink,
  readLinks,
  readLinksFrom,
  readToken,
} from "./token.js";
import type { KeySource, VerificationCache } from "./verification-cache.js";

/** What is needed to verify that a token is the issuer's own. */
export interface AuthenticationContext {
  /** The issuer's name, as in its tokens. */
  readonly issuer: string;
  readonly keys: KeySource;
  readonly limits: CapabilityLimits;
  /** What was verified before, by this issuer within these limits; absent, each check verifies all. */
  readonly cache?: VerificationCache | undefined;
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
  const { limits } = context;
  const compact = ifCompact(text, limits, (macaroon) => verifiedCompact(macaroon, text, context));
  return compact ?? verifiedWhole(text, context);
}

/** Any form, with discharges or without. */
function verifiedWhole(text: string, context: AuthenticationContext): Authentication {
  let macaroons: readonly [Macaroon, ...Macaroon[]];
  let identifier: Identifier;
  try {
    macaroons = readToken(text, context.limits).macaroons;
    identifier = decodeIdentifier(partsOf(macaroons[0]).identifier);
  } catch (error) {
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
  const token = authenticToken(identifier, [own, ...others], found.key, root);
  return { ok: true, token };
}

/** The form that nearly all tokens have: from what is known of its links, or of all but the last, or from the start. */
function verifiedCompact(
  macaroon: CompactMacaroon,
  text: string,
  context: AuthenticationContext,
): Authentication | undefined {
  const { cache, keys, limits } = context;
  const { caveats } = macaroon;
  const place = cache?.place(macaroon, caveats);
  const known = place === undefined ? undefined : cache?.find(place, keys);
  if (place !== undefined && known !== undefined) {
    resume(macaroon, known, caveats);
    if (!macaroon.isAuthentic) return refuse(MISMATCH);
    cache?.used(place);
    return { ok: true, token: withLinks(known, caveats) };
  }
  const before = caveats < 2 ? undefined : cache?.place(macaroon, caveats - 1);
  const start = before === undefined ? undefined : cache?.find(before, keys);
  // What is known was within the limits.
  if (!areHopsWithin(macaroon, limits, start === undefined ? 1 : caveats)) return undefined;
  const result =
    start === undefined ? fromIdentifier(macaroon, context) : fromLinks(macaroon, start);
  if (!result.ok) return result;
  const { token } = result;
  // What cannot be read is refused anyway, and cannot be written again from its reading.
  if (!token.chains[0].links.every(isHop)) {
    const [root] = readToken(text, limits).macaroons;
    return {
      ok: true,
      token: authenticToken(token.identifier, token.chains, keyOfToken(token), root),
    };
  }
  if (cache === undefined || place === undefined) return result;
  cache.keep(place, token, caveats, macaroon.length);
  if (before === undefined) return result;
  if (start === undefined) cache.keep(before, token, caveats - 1, macaroon.length);
  else cache.used(before);
  return result;
}

function isHop({ kind }: ReadLink): boolean {
  return kind === "hop";
}

function fromIdentifier(macaroon: CompactMacaroon, context: AuthenticationContext): Authentication {
  let identifier: Identifier;
  try {
    identifier = decodeIdentifier(macaroon.part(0));
  } catch (error) {
    return refuse(tokenDenial(error));
  }
  const found = keyOf(identifier, context);
  if (!found.ok) return found;
  macaroon.begin(found.key);
  if (!macaroon.isAuthentic) return refuse(MISMATCH);
  return { ok: true, token: readOn(macaroon, identifier, found.key, NONE, NONE) };
}

/** Verifies the last link alone, after links that have been verified before. */
function fromLinks(macaroon: CompactMacaroon, known: AuthenticToken): Authentication {
  const before = macaroon.caveats - 1;
  resume(macaroon, known, before);
  if (!macaroon.isAuthentic) return refuse(MISMATCH);
  const [{ links, revocationIds }] = known.chains;
  const [some, ids] = [links.slice(0, before), revocationIds.slice(0, before + 1)];
  const { identifier } = known;
  return { ok: true, token: readOn(macaroon, identifier, keyOfToken(known), some, ids) };
}

/** Takes up the tag after so many links of a token that is known: all of them, or all but the last. */
function resume(macaroon: CompactMacaroon, known: AuthenticToken, count: number): void {
  const tags = tagsOfToken(known);
  const isWhole = known.chains[0].links.length === count;
  macaroon.resume(tags, tags.length - (isWhole ? 1 : 2) * WORDS, count);
}

/** The token that has so many of the links of one that is known: all of them, or all but the last. */
function withLinks(known: AuthenticToken, count: number): AuthenticToken {
  const [{ links, revocationIds }] = known.chains;
  if (links.length === count) return known;
  const chain = { links: links.slice(0, count), revocationIds: revocationIds.slice(0, count + 1) };
  const tag = Array.from(tagsOfToken(known)).slice(0, WORDS);
  return authenticToken(known.identifier, [chain], keyOfToken(known), tag);
}

/** Reads what follows the links that were read before, of a macaroon that is authentic. */
function readOn(
  macaroon: CompactMacaroon,
  identifier: Identifier,
  key: RootKey,
  before: readonly ReadLink[],
  ids: readonly string[],
): AuthenticToken {
  const more = readLinksFrom(macaroon, before.length + 1);
  const moreIds = revocationIdsOfWords(macaroon.tags, ids.length, macaroon.caveats + 1);
  const chain =
    before.length === 0
      ? { links: more, revocationIds: moreIds }
      : { links: [...before, ...more], revocationIds: [...ids, ...moreIds] };
  return authenticToken(identifier, [chain], key, macaroon.lastTags());
}

/**
 * Authenticates a token for more than one question: nothing in it can be changed then.
 *
 * @see authenticate
 */
export function authenticateToKeep(text: string, context: AuthenticationContext): Authentication {
  const result = authenticate(text, context);
  return result.ok ? { ok: true, token: deepFrozen(result.token) } : result;
}

/**
 * Whether a token that was authenticated before is still this issuer's: its key may be gone since, or
 * another have taken its id.
 *
 * @throws TypeError for what is no authentic token.
 */
export function authenticateAgain(
  token: AuthenticToken,
  context: AuthenticationContext,
): Authentication {
  const key = keyOfToken(token);
  const found = keyOf(token.identifier, context);
  if (!found.ok) return found;
  if (found.key !== key) {
    const tag = found.key.tag(partsOf(macaroonOfToken(token)).identifier);
    if (revocationIdOf(tag) !== token.chains[0].revocationIds[0]) return refuse(MISMATCH);
  }
  return { ok: true, token };
}

/**
 * The token with one more link, which the issuer itself has appended: nothing is verified again.
 *
 * @throws TypeError for what is no authentic token.
 */
export function extend(token: AuthenticToken, child: Macaroon): AuthenticToken {
  const key = keyOfToken(token);
  const {
    identifier,
    chains: [own],
  } = token;
  const { signature } = partsOf(child);
  const links = [...own.links, ...readLinks(child).slice(own.links.length)];
  const revocationIds = [...own.revocationIds, revocationIdOf(signature)];
  return deepFrozen(authenticToken(identifier, [{ links, revocationIds }], key, child));
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
