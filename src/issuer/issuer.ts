import { randomBytes } from "../bytes/random.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import type { AttenuateOptions } from "../capability/attenuate.js";
import type { AuthenticToken } from "../capability/authentic-token.js";
import { type Authentication, authenticate } from "../capability/authenticate.js";
import {
  type CheckContext,
  checkStanding,
  checkToken,
  type Decision,
  type Presentation,
} from "../capability/authorize.js";
import { attenuateAuthentic, type Extension } from "../capability/extend.js";
import { decodeIdentifier, isCapabilityId } from "../capability/identifier.js";
import { revocableKeyIds } from "../capability/key-id.js";
import {
  type IssuedToken,
  type MintedCapability,
  type MintRequest,
  mintToken,
  newCapabilityId,
  plainRequest,
  remakeToken,
} from "../capability/mint.js";
import type { HopInit } from "../caveats/hop.js";
import type { Invocation } from "../caveats/invocation.js";
import { assertArray, assertString } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";
import { plainObject } from "../checks/plain.js";
import { type CapabilityDraft, ISSUE_OPTIONS, type IssueOptions } from "./draft.js";
import { type Grant, grantsById, operationsOf } from "./grant.js";
import { ambientScope, assertScope, type HandleScope } from "./handle.js";
import { checkedOptions, type IssuerOptions, verificationCache } from "./issuer-options.js";
import { Keyring } from "./keyring.js";
import { openText, type SealedTextExpiry, sealText, type TextKey } from "./sealed-text.js";
import { isStillValid } from "./still-valid.js";
import { type TokenRevocation, tokenRevocation } from "./token-revocation.js";

/**
 * Mints and checks the capabilities of an issuing agent, and returns the entries that revoke them.
 * Made by {@link createIssuer}.
 */
export class Issuer {
  readonly name: string;
  /** Longest lifetime of a capability, in seconds. */
  readonly maxLifetime: number;
  /** The grants by id; absent if the issuer does not know its grants. */
  readonly grants: ReadonlyMap<string, Grant> | undefined;
  readonly #keys: () => Keyring;
  readonly #context: CheckContext;
  readonly #random: (length: number) => Uint8Array;

  /** @internal */
  constructor(options: IssuerOptions) {
    const checked = checkedOptions(options);
    const { name, keys, revocations, audience, maxLifetime, clock, limits, grants } = checked;
    const cache = verificationCache(checked);
    this.name = name;
    this.#keys = keys instanceof Keyring ? () => keys : keys;
    this.maxLifetime = maxLifetime;
    this.grants = grants === undefined ? undefined : grantsById(grants);
    this.#random = checked.random ?? randomBytes;
    this.#context = {
      issuer: name,
      keys: { find: (kid) => this.#keys().find(kid) },
      revocations,
      limits,
      cache,
      clock,
      grants: this.grants === undefined ? undefined : operationsOf(this.grants),
      audience,
    };
  }

  /**
   * Makes a capability under the key that mints. Without `expires` it lives for 15 minutes.
   *
   * @throws TypeError if the request is not valid, or lives longer than this issuer allows.
   */
  mint(request: MintRequest): MintedCapability {
    const own = plainRequest(request);
    return this.issue(() => own, { service: own.service }).capability;
  }

  /**
   * Makes a capability from a request that needs its id or names resources: the draft seals
   * resource numbers into handles for this capability alone, under the key that mints it.
   *
   * @param options - The id, to issue a capability again, and the one service that accepts it.
   * @returns The capability, and its identifier's canonical JSON for {@link Issuer.remake}.
   * @throws TypeError as {@link Issuer.mint}, for an invalid resource number, or for wrong options.
   *
   * @example
   * ```ts
   * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
   *
   * const revocations = createRevocationList();
   * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
   * const { capability } = issuer.issue((draft) => ({
   *   grant: "documents:read",
   *   operations: ["retrieve"],
   *   resourceHandles: [...draft.handles([7]).values()],
   * }));
   * const [handle = ""] = capability.hop.resourceHandles ?? [];
   *
   * const decision = issuer.authorize(capability.token, {
   *   grant: "documents:read",
   *   operation: "retrieve",
   *   resourceHandles: [handle],
   * });
   * decision.allowed && issuer.openHandles(decision.capability, [handle]).get(handle); // => 7
   * ```
   */
  issue(build: (draft: CapabilityDraft) => MintRequest, options: IssueOptions = {}): IssuedToken {
    if (typeof build !== "function") {
      throw new TypeError("build must be a function that gives the request for a draft");
    }
    const { id = newCapabilityId(this.#random), service } = knownMembers(
      options,
      ISSUE_OPTIONS,
      "options",
    );
    if (typeof id !== "string" || !isCapabilityId(id)) {
      throw new TypeError("options.id must be cap_ and at least 16 base64url characters");
    }
    const keys = this.#keys();
    const key = service === undefined ? keys.minting : keys.mintingFor(service);
    const request = plainRequest(
      build({ id, handles: (numbers) => key.handles.seal(id, numbers) }),
    );
    if (request.service !== undefined && request.service !== service) {
      throw new TypeError(
        "service: name it in the options of issue, since its key seals the handles",
      );
    }
    return mintToken(request, id, {
      issuer: this.name,
      key,
      clock: this.#context.clock,
      random: this.#random,
      maxLifetime: this.maxLifetime,
      grants: this.#context.grants,
    });
  }

  /**
   * Rebuilds the token of a capability issued here from its parts, none of which is secret.
   *
   * @param issued - Identifier, hop and the hops after it in canonical JSON, as they were issued.
   * @returns `undefined` if the key it was made under is gone.
   * @throws TokenError if the identifier is invalid.
   */
  remake(issued: {
    readonly identifier: string;
    readonly hop: string;
    readonly further?: readonly string[];
  }): string | undefined {
    const { identifier, hop, further = [] } = plainObject(issued, "issued");
    assertString(identifier, "issued.identifier");
    assertString(hop, "issued.hop");
    const { kid } = decodeIdentifier(encodeUtf8(identifier));
    const root = this.#keys().find(kid);
    return root === undefined ? undefined : remakeToken(root, identifier, [hop, ...further]);
  }

  /**
   * Opens handles in a scope: returns the resource number of each, and omits handles that do not
   * open there.
   */
  openHandles(scope: HandleScope, handles: readonly string[]): Map<string, number> {
    assertScope(scope);
    assertArray(handles, "handles", "handles");
    const keys = this.#keys();
    if (!("ambient" in scope)) {
      return keys.handleKey(scope.keyId)?.open(scope.id, handles) ?? new Map();
    }
    const opened = keys
      .list()
      .map(({ kid }) => keys.handleKey(kid)?.open(ambientScope(scope), handles) ?? []);
    return new Map(opened.flatMap((some) => [...some]));
  }

  /**
   * Seals handles apart from issuing, for a capability that is not limited to handles or for calls
   * without a capability.
   *
   * @returns The handle of each number; none if the key that the capability was made under is gone.
   * @throws TypeError if a number is not an integer from 0 to 2^53 - 1.
   */
  sealHandles(scope: HandleScope, numbers: readonly number[]): Map<number, string> {
    assertScope(scope);
    assertArray(numbers, "numbers", "numbers");
    const keys = this.#keys();
    if ("ambient" in scope) return keys.minting.handles.seal(ambientScope(scope), numbers);
    return keys.handleKey(scope.keyId)?.seal(scope.id, numbers) ?? new Map();
  }

  /**
   * Verifies every signature of a token once: the other methods accept the authentic token in place
   * of the string, and then need no HMAC and no parsing. Judges no hop.
   *
   * @example
   * ```ts
   * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
   *
   * const revocations = createRevocationList();
   * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
   * const { token } = issuer.mint({ grant: "documents:read", operations: ["retrieve"] });
   * const known = issuer.authenticate(token);
   * if (!known.ok) throw new Error(known.denial.message);
   *
   * const call = { grant: "documents:read", operation: "retrieve" };
   * issuer.authorize(known.token, call).allowed; // => true
   * const revocation = issuer.revocationOf(known.token);
   * if (revocation.ok) revocations.add(revocation.entry);
   * issuer.authorize(known.token, call).allowed; // => false
   * ```
   */
  authenticate(token: string): Authentication {
    return authenticate(token, this.#context);
  }

  /**
   * Narrows an authentic token for a party that cannot do so itself, by the same code as
   * {@link attenuate}. The child is authentic too.
   *
   * @throws TokenError `has_discharges`, or if the child would exceed a limit.
   * @throws TypeError if the hop is invalid or an option is not known.
   */
  extend(token: AuthenticToken, hop: HopInit, options: AttenuateOptions = {}): Extension {
    return attenuateAuthentic(token, hop, options, this.#context.limits);
  }

  /**
   * Checks a token without a call, and returns what it allows: everything but its grant and the
   * rules on operation, handles and arguments. The answer allows no call; {@link Issuer.authorize}
   * does.
   *
   * @throws TypeError if `by` has a wrong shape.
   */
  standing(token: string | AuthenticToken, by: Presentation = {}): Decision {
    return checkStanding(token, by, this.#context);
  }

  /**
   * Rechecks a token that was allowed before, for the same party, right before something runs: its
   * key, its revocation and its times, and no rule that time does not change. Returns no reasons
   * and allows nothing; {@link Issuer.standing} returns reasons.
   *
   * @throws TypeError if the token is not authentic.
   */
  isStillValid(token: AuthenticToken): boolean {
    return isStillValid(token, this.#context);
  }

  /**
   * Waits until the revocation list is as recent as it can be. {@link Issuer.authorize},
   * {@link Issuer.standing} and {@link Issuer.isStillValid} are synchronous and use the list as it
   * is known, until it is too old to be relied on; code that can wait calls `catchUp` first. Never
   * rejects.
   */
  async catchUp(): Promise<void> {
    await this.#context.revocations.catchUp?.();
  }

  /**
   * Checks a token against an invocation: limits and form, issuer and key, every signature; then
   * revocation, the grant and every rule of every hop, whose denials are listed together in this
   * order. Nothing else needs to be called, and a bad token is a refusal, never an exception.
   *
   * @param token - The token as a string, or an authentic token, whose key is looked up again
   *   instead of verifying its signatures.
   * @throws TypeError if the invocation has a wrong shape or does not determine the grant; the
   *   message names the candidates.
   * @throws StorageError if `keys` follows a key file that cannot be read: nothing is allowed then.
   */
  authorize(token: string | AuthenticToken, invocation: Invocation): Decision {
    return checkToken(token, invocation, this.#context);
  }

  /**
   * The entry that revokes a presented token and all that descends from it; add it to a list or
   * store. Checks only that the token is authentic: any party that presents a token may have it
   * revoked. For a token that is revoked or expired already, `needless` says so, so that no holder
   * can fill the list with the children of a dead token. A revoked discharge does not make the
   * entry needless.
   */
  revocationOf(token: string | AuthenticToken, reason?: string): TokenRevocation {
    return tokenRevocation(token, reason, this.#context);
  }

  /**
   * Seals a text that is handed out and comes back: a cursor, a cookie, the state of a login.
   * Others can neither read nor change it; {@link Issuer.open} opens it for the same purpose alone,
   * while the key that sealed it is kept and not revoked.
   *
   * @param purpose - The purpose, such as `a2a-cursor`: 1 to 64 printable ASCII characters without
   *   spaces.
   * @param text - At most 16,384 bytes of UTF-8; its length shows.
   * @param expires - The expiry: a time, a `Date` or a duration such as `15m`; none by default.
   * @returns A base64url string.
   * @throws TypeError for a purpose, text or expiry that is not valid.
   *
   * @example
   * ```ts
   * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
   *
   * const revocations = createRevocationList();
   * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
   * const cursor = issuer.seal("listing", "alice after 70", "1h");
   *
   * issuer.open("listing", cursor); // => "alice after 70"
   * issuer.open("login", cursor); // => undefined
   * ```
   */
  seal(purpose: string, text: string, expires?: SealedTextExpiry): string {
    const given = { expires, now: this.#context.clock() };
    return sealText(purpose, text, this.#keys().minting, given, this.#random);
  }

  /**
   * Opens a text that {@link Issuer.seal} sealed for this purpose under a key of this issuer; a
   * text sealed by a service under its derived key opens at that service alone.
   *
   * @param sealed - The sealed text as it came back: any value.
   * @returns `undefined` if `sealed` was not sealed for this purpose, was changed or has expired,
   *   if its key is gone or revoked, or if the revocation list is too old to be relied on.
   * @throws TypeError for a purpose that is not valid.
   */
  open(purpose: string, sealed: unknown): string | undefined {
    const now = this.#context.clock();
    return openText(purpose, sealed, (kid) => this.#textKey(kid, now), now);
  }

  /**
   * Returns whether a string is a token made under one of this issuer's keys, even if it is
   * expired, revoked or without its discharges. Finds tokens that must not be stored or passed on;
   * the answer allows nothing.
   *
   * @throws TypeError if `text` is not a string.
   */
  isAuthentic(text: string): boolean {
    assertString(text, "text");
    const result = authenticate(text, this.#context);
    return result.ok || result.denial.code.startsWith("discharge_");
  }

  #textKey(kid: string, now: number): TextKey | undefined {
    const { revocations } = this.#context;
    const key = this.#keys().textKey(kid);
    if (key === undefined || revocations.isCurrent(now) !== true) return undefined;
    const asked = { links: [], capability: "", keys: revocableKeyIds(kid), issued: now };
    return revocations.find(asked).length === 0 ? key : undefined;
  }
}

/**
 * Creates an issuer, which mints capabilities, checks them, and returns the entries that revoke them.
 *
 * @throws TypeError if an option is wrong.
 *
 * @example
 * ```ts
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 *
 * const revocations = createRevocationList();
 * const grants = [{ id: "documents:read", operations: ["retrieve", "search"] }];
 * const keys = createKeyring();
 * const issuer = createIssuer({ name: "documents-agent", keys, revocations, grants });
 * const { token } = issuer.mint({ grant: "documents:read", operations: ["retrieve"] });
 *
 * issuer.authorize(token, { operation: "retrieve" }).allowed; // => true
 * const refused = issuer.authorize(token, { operation: "search" });
 * refused.allowed ? [] : refused.denials.map((denial) => denial.code); // => ["operation_denied"]
 *
 * const revocation = issuer.revocationOf(token, "task done");
 * if (revocation.ok) revocations.add(revocation.entry);
 * issuer.authorize(token, { operation: "retrieve" }).allowed; // => false
 * ```
 */
export function createIssuer(options: IssuerOptions): Issuer {
  return new Issuer(options);
}
