import { TokenError } from "../bytes/token-error.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import type { RootKey } from "../macaroon/root-key.js";
import { type SignatureFailure, verifyFrom, verifySignatures } from "../macaroon/signatures.js";
import { revocationIdOf } from "../revocation/id.js";
import { type Denial, tokenDenialCode } from "./denial.js";
import { decodeIdentifier, type Identifier } from "./identifier.js";
import type { CapabilityLimits } from "./limits.js";
import { type ReadLink, readLinks, readToken } from "./token.js";
import type { KeySource, VerificationCache, VerifiedLinks } from "./verification-cache.js";

/** What is needed to verify that a token is the issuer's own. */
export interface AuthenticationContext {
  /** The issuer's name, as in its tokens. */
  readonly issuer: string;
  readonly keys: KeySource;
  readonly limits: CapabilityLimits;
  /** What was verified before, by this issuer within these limits; absent, each check verifies all. */
  readonly cache?: VerificationCache<AuthenticToken> | undefined;
}

/** One macaroon of a token whose signatures have all been verified. */
export interface AuthenticChain {
  readonly links: readonly ReadLink[];
  /** The revocation id of the identifier, then of each link. */
  readonly revocationIds: readonly string[];
}

declare const authentic: unique symbol;

/**
 * A token whose every signature holds. Only {@link authenticateToKeep} and {@link extend} hand these out; whatever
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

type Verification =
  | { readonly ok: true; readonly token: AuthenticToken; readonly key: RootKey }
  | Refused;

/**
 * Limits and strict parsing, then issuer and key, then the whole chain and every discharge: the
 * first three steps of a check (docs/spec.md, section 7). Judges no hop.
 */
export function authenticate(text: string, context: AuthenticationContext): Authentication {
  return verification(text, context);
}

/** Verifies a token, or finds that this text has been verified before and its key is still here. */
function verification(text: string, context: AuthenticationContext): Verification {
  const { cache } = context;
  const place = typeof text === "string" ? cache?.ofText(text) : undefined;
  if (cache === undefined || place === undefined) return verified(text, undefined, context);
  const known = cache.find(place, context.keys);
  if (known?.token === undefined) return verified(text, place, context);
  cache.used(place);
  return { ok: true, token: known.token, key: known.key };
}

function verified(
  text: string,
  place: string | undefined,
  context: AuthenticationContext,
): Verification {
  let macaroons: readonly [Macaroon, ...Macaroon[]];
  let identifier: Identifier;
  let before: LinksBefore | undefined;
  try {
    macaroons = readToken(text, context.limits).macaroons;
    const [root, ...discharges] = macaroons;
    before = discharges.length > 0 ? undefined : linksBefore(root, context);
    if (before?.links !== undefined)
      return verifiedChild(root, before.links, before.place, place, context);
    identifier = decodeIdentifier(partsOf(root).identifier);
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
    return refuse(tokenDenial(error));
  }
  const found = keyOf(identifier, context);
  if (!found.ok) return found;
  const { key } = found;
  const [root, ...discharges] = macaroons;
  const result = verifySignatures(root, key, discharges, context.limits.nesting);
  if (!result.ok) return refuse(signatureDenial(result.failure));

  const [own, ...others] = result.chains.map(({ tags }, at) => ({
    links: readLinks(macaroons[at] ?? root),
    revocationIds: tags.map(revocationIdOf),
  }));
  const [chain] = result.chains;
  if (own === undefined || chain === undefined) {
    throw new TypeError("a verified token has a chain of its own");
  }
  const token = authenticToken(identifier, root, [own, ...others]);
  const [beforeLast, tag = beforeLast] = chain.tags.slice(-2);
  if (others.length === 0 && beforeLast !== undefined && tag !== undefined) {
    const siblings =
      before === undefined ? {} : { before: { place: before.place, tag: beforeLast } };
    keep(token, key, { text: place, tag, ...siblings }, context);
  }
  return { ok: true, token, key };
}

interface LinksBefore {
  readonly place: string;
  readonly links: VerifiedLinks<AuthenticToken> | undefined;
}

/** What is known of a chain without its last link. A prefix without links saves less than it costs to find. */
function linksBefore(
  root: Macaroon,
  { cache, keys }: AuthenticationContext,
): LinksBefore | undefined {
  const parts = partsOf(root);
  const count = parts.caveats.length - 1;
  if (cache === undefined || count < 1 || parts.caveats[count]?.kind !== "first-party")
    return undefined;
  const place = cache.ofLinks(parts, count);
  return place === undefined ? undefined : { place, links: cache.find(place, keys) };
}

/** Verifies the last link alone, after links that have been verified before. */
function verifiedChild(
  root: Macaroon,
  known: VerifiedLinks<AuthenticToken>,
  before: string,
  place: string | undefined,
  context: AuthenticationContext,
): Verification {
  const { key, identifier } = known;
  const [tag] = verifyFrom(root, known.tag, known.links.length) ?? [];
  if (tag === undefined) return refuse(MISMATCH);
  const links = [...known.links, ...readLinks(root, known.links.length)];
  const revocationIds = [...known.revocationIds, revocationIdOf(tag)];
  const token = authenticToken(identifier, root, [{ links, revocationIds }]);
  context.cache?.used(before);
  keep(token, key, { text: place, tag }, context);
  return { ok: true, token, key };
}

/** Where a verified token is kept, and the tags that belong there. */
interface Places {
  /** The text's; absent for one that has no digest. */
  readonly text: string | undefined;
  /** After the last link. */
  readonly tag: Uint8Array;
  /** The links before the last, for its siblings; absent where they are kept already. */
  readonly before?: { readonly place: string; readonly tag: Uint8Array };
}

/** Keeps a verified token: by its text, by its links for its children, and by those before the last. */
function keep(
  token: AuthenticToken,
  key: RootKey,
  { text, tag, before }: Places,
  { cache }: AuthenticationContext,
): void {
  if (cache === undefined) return;
  const { identifier, macaroon, chains } = deepFrozen(token);
  const [{ links, revocationIds }] = chains;
  const parts = partsOf(macaroon);
  const all = { key, identifier, parts, links, revocationIds, tag };
  const place = links.length < 1 ? undefined : cache.ofLinks(parts, links.length);
  if (place !== undefined) cache.keep(place, all);
  if (text !== undefined) cache.keep(text, { ...all, token });
  if (before === undefined) return;
  const [some, ids] = [links.slice(0, -1), revocationIds.slice(0, -1)];
  cache.keep(before.place, { ...all, links: some, revocationIds: ids, tag: before.tag });
}

/**
 * Authenticates a token for more than one question: nothing in it can be changed then.
 *
 * @see authenticate
 */
export function authenticateToKeep(text: string, context: AuthenticationContext): Authentication {
  const result = verification(text, context);
  return result.ok ? { ok: true, token: kept(result.token, result.key) } : result;
}

/**
 * Whether a token that was authenticated before is still this issuer's: its key may be gone since, or
 * another have taken its id.
 *
 * @throws TypeError for what {@link authenticateToKeep} and {@link extend} have not made.
 */
export function authenticateAgain(
  token: AuthenticToken,
  context: AuthenticationContext,
): Authentication {
  const key = keyOfKept(token);
  const found = keyOf(token.identifier, context);
  if (!found.ok) return found;
  if (found.key !== key) {
    const tag = found.key.tag(partsOf(token.macaroon).identifier);
    if (revocationIdOf(tag) !== token.chains[0].revocationIds[0]) return refuse(MISMATCH);
  }
  return { ok: true, token };
}

/** The token with one more link, which the issuer itself has appended: nothing is verified again. */
export function extend(token: AuthenticToken, child: Macaroon): AuthenticToken {
  const key = keyOfKept(token);
  const {
    identifier,
    chains: [own],
  } = token;
  const { signature } = partsOf(child);
  const links = [...own.links, ...readLinks(child).slice(own.links.length)];
  const revocationIds = [...own.revocationIds, revocationIdOf(signature)];
  return kept(authenticToken(identifier, child, [{ links, revocationIds }]), key);
}

// The brand is a promise to the compiler alone; this holds against a caller of JavaScript. The key distinguishes a
// token of this issuer from one of a namesake whose key has the same id.
const keys = /* @__PURE__ */ new WeakMap<AuthenticToken, RootKey>();

/** @throws TypeError for what {@link authenticateToKeep} and {@link extend} have not made. */
export function keyOfKept(token: AuthenticToken): RootKey {
  const key = keys.get(token);
  if (key === undefined) throw new TypeError("token must be a string, or an authentic token");
  return key;
}

function kept(token: AuthenticToken, key: RootKey): AuthenticToken {
  keys.set(token, key);
  return deepFrozen(token);
}

/** What is in a macaroon cannot be changed anyway: its parts are private. */
export function deepFrozen<T extends object>(value: T): T {
  if (Object.isFrozen(value)) return value;
  for (const member of Object.values(value)) {
    if (typeof member === "object" && member !== null) deepFrozen(member);
  }
  return Object.freeze(value);
}

function authenticToken(
  identifier: Identifier,
  macaroon: Macaroon,
  chains: AuthenticToken["chains"],
): AuthenticToken {
  return { identifier, macaroon, chains } as unknown as AuthenticToken;
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
