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
 * Mints and checks the capabilities of an issuing agent, and returns the entries that revoke them. Made by {@link
 * createIssuer}.
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
   * Mints a capability with the minting key of the keyring or, if `service` is given, with that service's key. Without
   * `expires`, the capability expires after 15 minutes, or after `maxLifetime` if that is shorter.
   *
   * @throws TypeError if the request is invalid, or the lifetime is longer than this issuer allows.
   */
  mint(request: MintRequest): MintedCapability {
    const own = plainRequest(request);
    return this.issue(() => own, { service: own.service }).capability;
  }

  /**
   * Issues a capability whose request depends on the capability's id or names resources. The draft seals resource
   * numbers into handles for this capability only, with the key that mints it.
   *
   * @param options - `id` to issue a capability again; `service` if only one service is to accept it.
   * @returns The capability, and its identifier's canonical JSON for {@link Issuer.remake}.
   * @throws TypeError as {@link Issuer.mint} does, or if a resource number or an option is invalid.
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
   * Rebuilds the token of a capability that this issuer has issued. None of the arguments is secret.
   *
   * @param issued - The canonical JSON of the identifier, the issuer's hop and the hops after it, as they were
   *   issued.
   * @returns `undefined` if the key that made the token no longer exists.
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
   * Opens handles in a scope. Returns the resource number of each handle; leaves out handles that do not open in this
   * scope.
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
   * Seals resource numbers as handles without issuing a capability: for a capability that is not limited to handles,
   * or for calls without a capability.
   *
   * @returns The handle of each number; empty if the key that made the capability no longer exists.
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
   * Verifies every signature of a token once. The other methods accept the resulting authentic token in place
   * of the string, and then need no HMAC and no parsing. No hop is judged.
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
   * Narrows an authentic token on behalf of a party that cannot narrow it itself, in the same way as {@link
   * attenuate}. The child is authentic, too.
   *
   * @throws TokenError `has_discharges`, or if the child would exceed a limit.
   * @throws TypeError if the hop is invalid or an option is unknown.
   */
  extend(token: AuthenticToken, hop: HopInit, options: AttenuateOptions = {}): Extension {
    return attenuateAuthentic(token, hop, options, this.#context.limits);
  }

  /**
   * Checks a token without a call: checks everything except the grant and the rules on operation, handles and
   * arguments. Returns what the token allows. The result does not allow a call; only {@link Issuer.authorize} does.
   *
   * @throws TypeError if `by` has the wrong shape.
   */
  standing(token: string | AuthenticToken, by: Presentation = {}): Decision {
    return checkStanding(token, by, this.#context);
  }

  /**
   * Checks again whether a token that was just allowed is still valid for the same party; call it right before an
   * operation runs. Only checks what time can change: the key, the revocation and the times of the token. For the
   * reasons, call {@link Issuer.standing}. Only {@link Issuer.authorize} allows a call; the result `true` means that
   * the token has remained valid.
   *
   * @throws TypeError if the token is not authentic.
   */
  isStillValid(token: AuthenticToken): boolean {
    return isStillValid(token, this.#context);
  }

  /**
   * Waits until the revocation list is as recent as possible. {@link Issuer.authorize}, {@link Issuer.standing} and
   * {@link Issuer.isStillValid} are synchronous: they use the list that was read last, until it is too old to be
   * trusted. Code that can wait should call `catchUp` first. Never rejects.
   */
  async catchUp(): Promise<void> {
    await this.#context.revocations.catchUp?.();
  }

  /**
   * Checks a token against an invocation. First checks limits and form, issuer and key, and every signature; the
   * first failure is the only denial. Then checks revocation, the grant and every rule of every hop, and returns all
   * denials together, in this order. No other call is needed. A bad token is refused, and never causes an exception.
   *
   * @param token - The token as a string, or an authentic token. For an authentic token, the key is looked up but no
   *   signature is verified again.
   * @throws TypeError if the invocation has the wrong shape or does not determine the grant; the message names the
   *   candidates.
   * @throws StorageError if `keys` follows a key file that cannot be read; nothing is allowed then.
   */
  authorize(token: string | AuthenticToken, invocation: Invocation): Decision {
    return checkToken(token, invocation, this.#context);
  }

  /**
   * Returns the entry that revokes a presented token and everything narrowed from it. Add the entry to a list or
   * store. Only checks that the token is authentic: whoever presents a token may have it revoked. If the token is
   * already revoked or expired, `needless` says so, so that a holder cannot fill the list with children of a dead
   * token. A revoked discharge does not make the entry needless.
   */
  revocationOf(token: string | AuthenticToken, reason?: string): TokenRevocation {
    return tokenRevocation(token, reason, this.#context);
  }

  /**
   * Encrypts and authenticates a string that is handed out and comes back: a cursor, a cookie, the state of a login.
   * Other parties can neither read nor change the string. {@link Issuer.open} opens it only for the same purpose, and
   * only as long as the sealing key exists and is not revoked.
   *
   * @param purpose - The purpose, such as `a2a-cursor`: 1 to 64 printable ASCII characters without spaces.
   * @param text - The string, at most 16,384 bytes of UTF-8. Its length is not hidden.
   * @param expires - The expiry: a timestamp, a `Date` or a duration such as `15m`. By default, the string does not
   *   expire.
   * @returns A base64url string.
   * @throws TypeError if purpose, text or expiry is invalid.
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
   * Opens a string that {@link Issuer.seal} sealed for this purpose with a key of this issuer. A string that a
   * service sealed with its derived key opens only at that service.
   *
   * @param sealed - The sealed string as it came back; may be any value.
   * @returns The string; `undefined` if `sealed` was not sealed for this purpose, was changed or has expired. Also
   *   `undefined` if its key no longer exists or is revoked, or if the revocation list is too old to be trusted.
   * @throws TypeError if the purpose is invalid.
   */
  open(purpose: string, sealed: unknown): string | undefined {
    const now = this.#context.clock();
    return openText(purpose, sealed, (kid) => this.#textKey(kid, now), now);
  }

  /**
   * Returns whether a string is a token made with one of this issuer's keys, even if it has expired, is revoked or
   * lacks its discharges. Use it to find tokens that must not be stored or passed on. The result does not allow a
   * call.
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
 * Creates an issuer. It mints capabilities, checks them, and returns the entries that revoke them.
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
