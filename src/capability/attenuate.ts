import { encodeBase64url } from "../bytes/base64.js";
import { canonicalJson, type Json } from "../bytes/json.js";
import { randomBytes } from "../bytes/random.js";
import { TokenError } from "../bytes/token-error.js";
import { deadOperations, intersectHop, overreaches } from "../caveats/attenuation.js";
import type { Authority } from "../caveats/authority.js";
import { assertTimes, withoutDurations } from "../caveats/durations.js";
import type { Hop, HopInit } from "../caveats/hop.js";
import type { Overreach } from "../caveats/hop-rule.js";
import { meet, meetOf } from "../caveats/meet.js";
import { forOperations, operationsIn } from "../caveats/operation-entries.js";
import { mistakesIn, prefixesOfPaths } from "../caveats/operation-mistakes.js";
import { shownList } from "../caveats/scalar.js";
import { parseTime } from "../caveats/time.js";
import { canonicalHop, plainHop } from "../caveats/write-hop.js";
import { assertString } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";
import { addFirstPartyCaveat } from "../macaroon/chain.js";
import { type Macaroon, partsOf } from "../macaroon/macaroon.js";
import { macaroonToText } from "../macaroon/write.js";
import { revocationIdOf } from "../revocation/id.js";
import { decodeIdentifier } from "./identifier.js";
import {
  assertHopFits,
  CAPABILITY_LIMITS,
  type CapabilityLimits,
  overCapabilityLimits,
} from "./limits.js";
import { hopsOf, type ReadLink, readLinks, readToken } from "./read-token.js";

export interface AttenuateOptions {
  /**
   * `false` leaves out the random nonce. Children with equal hops are then the same token, and revoking one child
   * revokes the other.
   */
  readonly nonce?: boolean;
  /**
   * `true` reduces a hop that goes beyond the token to what the token still allows, instead of refusing it. The hop
   * is still refused in these cases: the token is sealed or has an unreadable caveat; the hop would leave no call of
   * any operation; the hop limits the arguments of an operation that the token does not have; or the hop has a `prefix`
   * for a path or a URL.
   */
  readonly intersect?: boolean;
  /** The time from which durations are counted, in milliseconds since 1970; by default, the current time. */
  readonly now?: number;
}

/** A narrowed token, or every reason why the hop was not appended. */
export type Attenuation =
  | {
      readonly ok: true;
      readonly token: string;
      /** The hop as appended, in canonical form. */
      readonly hop: Hop;
      /** The id that revokes the new token and all its descendants; the given token stays valid. */
      readonly revocationId: string;
      /**
       * A sentence about the result; absent if there is nothing to report. It reports that the token has expired,
       * that no call of some operations is left, that the hop takes nothing away, or that the token allows every
       * operation, so the names of operations in the hop could not be checked.
       */
      readonly note?: string;
    }
  | Overreaching;

/** The values that a hop allows but the token does not allow. */
export interface Overreaching {
  readonly ok: false;
  readonly overreaches: readonly Overreach[];
}

const OPTIONS = ["nonce", "intersect", "now"];
const NONCE_BYTES = 12;
// Random bytes for many nonces at once: a call of the runtime for each nonce takes longer than the HMAC of a hop.
let drawn: Uint8Array = new Uint8Array();

/**
 * Returns a random nonce, which distinguishes a hop from other hops with the same contents. {@link attenuate} adds a
 * nonce by itself.
 */
export function createNonce(): string {
  if (drawn.length === 0) drawn = randomBytes(64 * NONCE_BYTES);
  const nonce = drawn.subarray(0, NONCE_BYTES);
  drawn = drawn.subarray(NONCE_BYTES);
  return encodeBase64url(nonce);
}

/**
 * Narrows a token by one hop: one HMAC, no key, no network. The given token does not change.
 *
 * The child token allows only what both the given token and the hop allow; no hop can widen a token. To catch
 * mistakes, a hop that names something the token does not allow is refused. The hop gets a random `nonce` unless it
 * has one, so that each child can be revoked alone. `expires` may be a duration: `5m` means at most five minutes from
 * now.
 *
 * @param token - The token, without discharges.
 * @returns The child token as base64url of v2 binary, or the values of the hop that go beyond the given token.
 * @throws TokenError if the token is malformed, is not a capability or exceeds a limit, or if the child would exceed
 *   a limit.
 * @throws TypeError if the token is not a string, `hop` is invalid or not plain data at every level, or an option is
 *   unknown.
 *
 * @example
 * ```ts
 * import { attenuate } from "proviso";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 *
 * const issuer = createIssuer({
 *   name: "documents-agent",
 *   keys: createKeyring(),
 *   revocations: createRevocationList(),
 * });
 * const { token } = issuer.mint({ grant: "documents:read", operations: ["retrieve", "search"] });
 *
 * const child = attenuate(token, { operations: ["retrieve"] });
 * child.ok; // => true
 * const widened = attenuate(token, { operations: ["retreive"] });
 * widened.ok ? "" : widened.overreaches[0]?.nearest; // => "retrieve"
 * ```
 */
export function attenuate(
  token: string,
  hop: HopInit,
  options: AttenuateOptions = {},
): Attenuation {
  assertString(token, "token");
  const parent = readSingle(token);
  const appended = appendHop(parent, readLinks(parent), hop, options);
  if (!appended.ok) return appended;
  const { child, hop: own, note } = appended;
  return { ok: true, ...written(child), hop: own, ...(note === undefined ? {} : { note }) };
}

/** Returns the token to hand out, and the id that revokes it. */
export function written(child: Macaroon): {
  readonly token: string;
  readonly revocationId: string;
} {
  return { token: macaroonToText(child), revocationId: revocationIdOf(partsOf(child).signature) };
}

/**
 * Appends a hop to a macaroon, or returns the values of the hop that the macaroon does not allow.
 *
 * @param links - The links of `parent`, as {@link readLinks} returns them.
 * @throws TokenError if the child would exceed a limit.
 * @throws TypeError as {@link attenuate} does.
 */
export function appendHop(
  parent: Macaroon,
  links: readonly ReadLink[],
  init: HopInit,
  options: AttenuateOptions,
  limits: CapabilityLimits = CAPABILITY_LIMITS,
): Appended | Overreaching {
  const given = knownMembers(options, OPTIONS, "options");
  const { nonce = true, intersect = false, now = Date.now() } = given;
  if (typeof nonce !== "boolean") throw new TypeError("options.nonce must be a boolean");
  if (typeof intersect !== "boolean") throw new TypeError("options.intersect must be a boolean");
  if (!Number.isFinite(now)) throw new TypeError("options.now must be milliseconds since 1970");
  const own = plainHop(init);
  const unreadable = unreadableLinks(links);
  if (unreadable.length > 0) return { ok: false, overreaches: unreadable };

  const authority = meetOf([hopsOf(links)]);
  const wanted = canonicalHop(withNonce(withoutDurations(own, now, authority), nonce), (bytes) => {
    // Enforce the limits of one hop first, since comparing large sets is expensive.
    assertHopFits(bytes, limits);
    assertTimes(own);
  });
  if (intersect) {
    // Look for mistakes first, since intersecting removes entries for operations that the child does not have.
    const mistakes = mistakesIn(wanted.hop, authority.operations ?? wanted.hop.operations);
    if (mistakes.length > 0) return { ok: false, overreaches: mistakes };
  }
  const { bytes, hop } = intersect ? canonicalHop(intersectHop(authority, wanted.hop)) : wanted;
  // A reduced hop may leave no call of some operations. If it leaves no call of any operation, it is refused.
  const dead = intersect ? deadOperations(authority, hop) : [];
  const alive = operationsIn(hop).filter((operation) => !dead.includes(operation));
  const compared = dead.length === 0 ? hop : forOperations(hop, alive);
  const found = [...overreaches(authority, compared), ...prefixesOfPaths(wanted.hop)];
  if (found.length > 0) return { ok: false, overreaches: found };
  const child = addFirstPartyCaveat(parent, bytes);
  const over = overCapabilityLimits([child], limits);
  if (over !== undefined) throw over;
  const note = noteOn(authority, hop, dead, now);
  return { ok: true, child, hop, ...(note === undefined ? {} : { note }) };
}

function noteOn(
  authority: Authority,
  hop: Hop,
  dead: readonly string[],
  now: number,
): string | undefined {
  const { expires } = authority;
  const end = expires === undefined ? undefined : parseTime(expires);
  if (end !== undefined && end <= now) {
    return `the token expired at ${expires}: it is refused, and so is whatever is narrowed from it`;
  }
  const own = hop.expires === undefined ? undefined : parseTime(hop.expires);
  if (own !== undefined && own <= now) {
    return `the expiry ${hop.expires} is in the past: the child is refused, and so is whatever is narrowed from it`;
  }
  if (dead.length > 0) return `no call of ${shownList(dead)} is left`;
  if (!takesAway(authority, hop))
    return "nothing is taken away; the child can be revoked on its own";
  if (authority.operations !== undefined || hop.operations !== undefined) return undefined;
  const named = operationsIn(hop);
  if (named.length === 0) return undefined;
  return `the token allows every operation, so nothing checks the names ${shownList(named)}`;
}

interface Appended {
  readonly ok: true;
  readonly child: Macaroon;
  readonly hop: Hop;
  readonly note?: string;
}

/**
 * Returns whether a hop narrows the authority. Ignores that the number of further hops falls by one, since every
 * appended hop lowers it.
 */
function takesAway(authority: Authority, hop: Hop): boolean {
  const { furtherHops, ...rest } = authority;
  const linked = furtherHops === undefined ? rest : { ...rest, furtherHops: furtherHops - 1 };
  return !isDeepEqual(meet(linked, hop, 0), linked);
}

function isDeepEqual(one: Authority, other: Authority): boolean {
  return canonicalJson({ ...one } as Json) === canonicalJson({ ...other } as Json);
}

function unreadableLinks(links: readonly ReadLink[]): Overreach[] {
  return links.flatMap((link, at) => {
    if (link.kind !== "unreadable") return [];
    return link.problems.map(({ message }) => ({
      rule: "caveats",
      value: at + 1,
      allowed: null,
      message: `hop ${at + 1} cannot be read, so every check would refuse this token: ${message}`,
    }));
  });
}

function withNonce(init: HopInit, wanted: boolean): HopInit {
  return !wanted || Object.hasOwn(init, "nonce") ? init : { ...init, nonce: createNonce() };
}

/** Reads a capability without discharges. */
function readSingle(token: string): Macaroon {
  const [root, ...discharges] = readToken(token, CAPABILITY_LIMITS);
  if (discharges.length > 0) throw hasDischarges();
  decodeIdentifier(partsOf(root).identifier);
  return root;
}

/** Returns the error for a token with discharges. */
export function hasDischarges(): TokenError {
  const message =
    "discharges are bound to this token as it is; attenuate it first, then bind them to the child";
  return new TokenError("has_discharges", message);
}

/**
 * Returns the revocation id of a token's last link. The id can be published safely. If the id is revoked, the token and
 * everything narrowed from the token are refused; the token's parent and siblings stay valid.
 *
 * @throws TokenError if the token is malformed.
 * @throws TypeError if `token` is not a string.
 *
 * @example
 * ```ts
 * import { revocationId } from "proviso";
 *
 * revocationId("AgIBYQAABiDy1zQRnrm14nj2Sbcnq5xpVI7Hw9j8NPgiov7aWHLqzA"); // => "rv_6xKR9-E0ePxTq4lBDnHVzA"
 * ```
 */
export function revocationId(token: string): string {
  assertString(token, "token");
  const [root] = readToken(token, CAPABILITY_LIMITS);
  return revocationIdOf(partsOf(root).signature);
}
