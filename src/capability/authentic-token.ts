import { canonicalBytes, type Json } from "../bytes/json.js";
import { parseTime } from "../caveats/time.js";
import { Macaroon } from "../macaroon/macaroon.js";
import type { RootKey } from "../macaroon/root-key.js";
import { bytesOf, WORDS, type Words } from "../macaroon/sha256.js";
import type { RevocationQuery } from "../revocation/source.js";
import type { Identifier } from "./identifier.js";
import { revocableKeyIds } from "./key-id.js";
import type { AuthenticChain } from "./token.js";
import { type VerifiedCapability, verifiedCapability } from "./verified-capability.js";

/**
 * The key that an authentic token was verified under.
 *
 * @throws TypeError for anything else.
 */
export let keyOfToken: (token: AuthenticToken) => RootKey;

/** An authentic token as a macaroon, without its discharges. */
export let macaroonOfToken: (token: AuthenticToken) => Macaroon;

/**
 * The last two tags that were computed of a token, or the only one, each as eight words. Secret: their reader can
 * append links.
 *
 * @throws TypeError for a token that has its macaroon.
 */
export let tagsOfToken: (token: AuthenticToken) => Words;

/**
 * Makes a token of what was verified.
 *
 * @param origin - The macaroon; or the last of its tags, at most two of eight words each, where all its links are
 *   hops and it has no location and no discharges: the rest can be written from what was read, since only
 *   canonical forms are read.
 */
export let authenticToken: (
  identifier: Identifier,
  chains: readonly [AuthenticChain, ...AuthenticChain[]],
  key: RootKey,
  origin: Macaroon | Words,
) => AuthenticToken;

// Only this module has it: a token leads to its class, and the class must make no other.
const MADE_HERE = Symbol("made here");

/** What to ask a revocation list about a token. */
export let revocationQueryFor: (token: AuthenticToken) => RevocationQuery;

/** A token as a decision shows it. */
export let capabilityOfToken: (token: AuthenticToken) => VerifiedCapability;

/**
 * A token whose every signature holds. Only `authenticate` and `extend` make these; whatever is asked of one
 * afterwards needs no HMAC and no parsing. It shows nothing of its signature.
 */
export class AuthenticToken {
  readonly identifier: Identifier;
  /** The token's own chain, then its discharges'. */
  readonly chains: readonly [AuthenticChain, ...AuthenticChain[]];
  readonly #key: RootKey;
  readonly #origin: Macaroon | Words;
  // What each call with one token would otherwise work out anew.
  #query: RevocationQuery | undefined;
  #capability: VerifiedCapability | undefined;

  static {
    keyOfToken = (token) => {
      if (#key in token) return token.#key;
      throw new TypeError("token must be a string, or an authentic token");
    };
    macaroonOfToken = (token) => {
      keyOfToken(token);
      return token.#macaroon();
    };
    tagsOfToken = (token) => {
      const origin = token.#origin;
      if (origin instanceof Macaroon) throw new TypeError("no tags are kept of this token");
      return origin;
    };
    authenticToken = (...parts) => new AuthenticToken(MADE_HERE, ...parts);
    revocationQueryFor = (token) => {
      token.#query ??= queryOf(token);
      return token.#query;
    };
    capabilityOfToken = (token) => {
      token.#capability ??= verifiedCapability(token.identifier, token.chains);
      return token.#capability;
    };
  }

  /**
   * @internal
   * @throws TypeError for a caller outside this module.
   */
  constructor(
    made: symbol,
    identifier: Identifier,
    chains: readonly [AuthenticChain, ...AuthenticChain[]],
    key: RootKey,
    origin: Macaroon | Words,
  ) {
    if (made !== MADE_HERE) throw new TypeError("only a check makes an authentic token");
    this.identifier = identifier;
    this.chains = chains;
    this.#key = key;
    this.#origin = origin;
  }

  #macaroon(): Macaroon {
    if (this.#origin instanceof Macaroon) return this.#origin;
    const caveats = this.chains[0].links.map((link) => {
      if (link.kind !== "hop") throw new TypeError("only a hop can be written from what was read");
      return { kind: "first-party", identifier: canonicalBytes(asJson(link.hop)) } as const;
    });
    return new Macaroon({
      location: undefined,
      identifier: canonicalBytes(asJson(this.identifier)),
      caveats,
      signature: bytesOf(this.#origin, this.#origin.length - WORDS),
    });
  }
}

/** What was read from JSON is JSON, whatever its type says beyond that. */
function asJson(value: object): Json {
  return { ...value };
}

function queryOf({ identifier, chains }: AuthenticToken): RevocationQuery {
  const { principal } = identifier;
  const links = chains.length === 1 ? chains[0].revocationIds : allIds(chains);
  Object.freeze(links);
  const { id: capability } = identifier;
  const keys = Object.freeze(revocableKeyIds(identifier.kid));
  const issued = parseTime(identifier.issued) ?? Number.NEGATIVE_INFINITY;
  return Object.freeze(
    principal === undefined
      ? { links, capability, keys, issued }
      : { links, capability, keys, issued, principal },
  );
}

function allIds(chains: readonly AuthenticChain[]): readonly string[] {
  return [...new Set(chains.flatMap(({ revocationIds }) => revocationIds))];
}
