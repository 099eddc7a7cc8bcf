import { randomBytes } from "../bytes/random.js";
import { encodeUtf8 } from "../bytes/utf8.js";
import { type AuthenticToken, authenticate } from "../capability/authenticate.js";
import {
  type CheckContext,
  checkStanding,
  checkToken,
  type Decision,
  ownExpiry,
  type Presentation,
  revocationQueryFor,
  type VerifiedCapability,
} from "../capability/authorize.js";
import type { Denial } from "../capability/denial.js";
import { decodeIdentifier } from "../capability/identifier.js";
import { type CapabilityLimits, capabilityLimits } from "../capability/limits.js";
import {
  DEFAULT_MAX_LIFETIME,
  type IssuedToken,
  LONGEST_LIFETIME,
  type MintedCapability,
  type MintRequest,
  mintToken,
  newCapabilityId,
  remakeToken,
} from "../capability/mint.js";
import type { Invocation } from "../caveats/invocation.js";
import { formatTime } from "../caveats/time.js";
import type { RevocationEntry } from "../revocation/entry.js";
import type { RevocationSource } from "../revocation/list.js";
import { type Grant, grantsById, operationsOf } from "./grant.js";
import { Keyring } from "./keyring.js";

export interface IssuerOptions {
  /**
   * The grants and their operations. With them, an operation outside a token's grant is refused
   * whatever its hops say, and minting without `operations` writes the grant's into the hop. Without
   * them, every invocation names the grant it acts under.
   */
  readonly grants?: readonly Grant[];
  /** The issuer's name: it stands in every token, and tokens with another name are refused. */
  readonly name: string;
  /**
   * The keys: a keyring, which is used as it is for good, or a function that gives the present one
   * each time, such as {@link followKeyringFile} makes.
   */
  readonly keys: Keyring | (() => Keyring);
  /** Where revocations are looked up: a `RevocationList`, or a store. */
  readonly revocations: RevocationSource;
  /** The name this service goes by in `audience`, for invocations that name none. */
  readonly audience?: string;
  /** Seconds that a capability may live; 24 hours unless given, 90 days at most. */
  readonly maxLifetime?: number;
  /** Bounds lower than the specification's. */
  readonly limits?: Partial<CapabilityLimits>;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: () => number;
  /** Cryptographically random bytes. */
  readonly random?: (length: number) => Uint8Array;
}

/** The entry that revokes a presented token, or why the token was not accepted for it. */
export type TokenRevocation =
  | {
      readonly ok: true;
      /** What to add to a list or store, unless `needless` says that nothing is to be done. */
      readonly entry: RevocationEntry;
      readonly capability: string;
      /** Whether the token is the capability as it was issued, so that all of it is revoked. */
      readonly whole: boolean;
      /** Why adding the entry would change nothing. */
      readonly needless?: "revoked" | "expired";
    }
  | { readonly ok: false; readonly denial: Denial };

/** A capability in the making. */
export interface CapabilityDraft {
  readonly id: string;
  /**
   * Seals the name of a resource.
   *
   * @param name - 1 to 512 bytes of UTF-8.
   */
  handle(name: string): string;
}

const OPTIONS = [
  "grants",
  "name",
  "keys",
  "revocations",
  "audience",
  "maxLifetime",
  "limits",
  "clock",
  "random",
];

type TokenState = "revoked" | "expired" | undefined;

/**
 * What an issuing agent does with capabilities. Made by {@link createIssuer}.
 */
export class Issuer {
  readonly name: string;
  /** Seconds that a capability may live. */
  readonly maxLifetime: number;
  /** By id; absent if the issuer does not know its grants. */
  readonly grants: ReadonlyMap<string, Grant> | undefined;
  readonly #keys: () => Keyring;
  readonly #context: CheckContext;
  readonly #random: (length: number) => Uint8Array;

  /** @internal */
  constructor(options: IssuerOptions) {
    const { name, keys, revocations, audience, maxLifetime = DEFAULT_MAX_LIFETIME } = options;
    if (typeof name !== "string" || name === "")
      throw new TypeError("name must be a non-empty string");
    const unknown = Object.keys(options).find((option) => !OPTIONS.includes(option));
    if (unknown !== undefined) {
      throw new TypeError(`unknown option "${unknown}"; there are ${OPTIONS.join(", ")}`);
    }
    if (!(keys instanceof Keyring) && typeof keys !== "function") {
      throw new TypeError("keys must be a Keyring, or a function that gives one");
    }
    if (typeof revocations?.find !== "function" || typeof revocations.isCurrent !== "function") {
      throw new TypeError("revocations must be named: a RevocationList or a store");
    }
    if (!Number.isSafeInteger(maxLifetime) || maxLifetime < 1 || maxLifetime > LONGEST_LIFETIME) {
      throw new TypeError(`maxLifetime must be 1 to ${LONGEST_LIFETIME} whole seconds`);
    }
    this.name = name;
    this.#keys = keys instanceof Keyring ? () => keys : keys;
    this.maxLifetime = maxLifetime;
    this.grants = options.grants === undefined ? undefined : grantsById(options.grants);
    this.#random = options.random ?? randomBytes;
    this.#context = {
      issuer: name,
      keys: { find: (kid) => this.#keys().find(kid) },
      revocations,
      limits: capabilityLimits(options.limits),
      clock: checkedClock(options.clock ?? Date.now),
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
    return this.issue(() => request).capability;
  }

  /**
   * Makes a capability whose request needs to know its id, or names resources: their handles are
   * sealed for this capability alone, under the key that mints it.
   *
   * @returns The capability, and its identifier's canonical JSON for {@link Issuer.remake}.
   * @throws TypeError as {@link Issuer.mint}, or for a name that is too long for a handle.
   *
   * @example
   * ```ts
   * import { createIssuer, createKeyring, RevocationList } from "proviso/issuer";
   *
   * const revocations = new RevocationList();
   * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
   * const { capability } = issuer.issue((draft) => ({
   *   grant: "documents:read",
   *   operations: ["retrieve"],
   *   resourceHandles: [draft.handle("reports/q1.md")],
   * }));
   * const [handle = ""] = capability.hop.resourceHandles ?? [];
   *
   * const decision = issuer.authorize(capability.token, {
   *   grant: "documents:read",
   *   operation: "retrieve",
   *   resourceHandles: [handle],
   * });
   * decision.allowed && issuer.openHandle(decision.capability, handle); // => "reports/q1.md"
   * ```
   */
  issue(build: (draft: CapabilityDraft) => MintRequest): IssuedToken {
    const key = this.#keys().minting;
    const id = newCapabilityId(this.#random);
    const request = build({ id, handle: (name) => key.handles.seal(id, name) });
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
   * The token of a capability that was issued here, from what is no secret of it.
   *
   * @param issued - Identifier and hop in canonical JSON, as they were issued.
   * @returns `undefined` if the key it was made under is gone.
   * @throws TokenError if the identifier is none.
   */
  remake(issued: { readonly identifier: string; readonly hop: string }): string | undefined {
    const { kid } = decodeIdentifier(encodeUtf8(issued.identifier));
    const root = this.#keys().find(kid);
    return root === undefined ? undefined : remakeToken(root, issued.identifier, issued.hop);
  }

  /**
   * The resource that a handle stands for in a capability.
   *
   * @returns The resource's name, or `undefined` for a handle that was not sealed for it.
   */
  openHandle(
    capability: Pick<VerifiedCapability, "id" | "keyId">,
    handle: string,
  ): string | undefined {
    return this.#keys().handleKey(capability.keyId)?.open(capability.id, handle);
  }

  /**
   * A handle that was not issued with a capability, for one that is not limited to any.
   *
   * @returns `undefined` if the key it was made under is gone.
   */
  sealHandle(
    capability: Pick<VerifiedCapability, "id" | "keyId">,
    name: string,
  ): string | undefined {
    return this.#keys().handleKey(capability.keyId)?.seal(capability.id, name);
  }

  /**
   * A handle outside any capability, for callers that use ambient authority.
   *
   * @param scope - Whose it is; the handle is noise to anybody else.
   */
  sealAmbient(scope: string, name: string): string {
    return this.#keys().minting.handles.seal(`ambient:${scope}`, name);
  }

  /** The resource that a handle from {@link Issuer.sealAmbient} stands for. */
  openAmbient(scope: string, handle: string): string | undefined {
    const keys = this.#keys();
    for (const { kid } of keys.list()) {
      const name = keys.handleKey(kid)?.open(`ambient:${scope}`, handle);
      if (name !== undefined) return name;
    }
    return undefined;
  }

  /**
   * Whether a token is good for anything at all, and what it leaves: the whole check but for the
   * rules on operation, handles and arguments. It allows no call; {@link Issuer.authorize} does.
   *
   * @throws TypeError if the token is not a string or `by` has a wrong shape.
   */
  standing(token: string, by: Presentation = {}): Decision {
    return checkStanding(token, by, this.#context);
  }

  /**
   * Checks a token against an invocation: limits and form, issuer and key, every signature,
   * revocation, the grant, then every rule of every hop. Nothing else needs to be called, and a bad
   * token is a refusal, never an exception.
   *
   * @throws TypeError if the token is not a string, the invocation has a wrong shape, or leaves open
   *   under which grant the service acts; the message names the candidates.
   * @throws StorageError if `keys` follows a key file that can not be read: nothing is allowed then.
   */
  authorize(token: string, invocation: Invocation): Decision {
    return checkToken(token, invocation, this.#context);
  }

  /**
   * The entry that revokes a presented token and all that descends from it; add it to a list or
   * store. Whoever presents a token may have it revoked, so only its signatures are checked. For a
   * token that is revoked already, or has expired, adding is needless, and says so: otherwise one
   * holder could fill the list with the children of a dead token. A revoked discharge does not count.
   *
   * @throws TypeError if the token is not a string.
   */
  revocationOf(token: string, reason?: string): TokenRevocation {
    const result = authenticate(token, this.#context);
    if (!result.ok) return result;
    const now = this.#context.clock();
    const ids = result.token.chains[0].revocationIds;
    const entry: RevocationEntry = {
      kind: "link",
      id: ids[ids.length - 1] ?? "",
      until: ownExpiry(result.token) ?? latestExpiry(now),
      at: formatTime(now),
      ...(reason === undefined ? {} : { reason }),
    };
    const { id: capability } = result.token.identifier;
    const needless = this.#needless(result.token, entry, now);
    const whole = ids.length <= 2;
    return { ok: true, entry, capability, whole, ...(needless === undefined ? {} : { needless }) };
  }

  /**
   * Whether a text is a token made under one of this issuer's keys, expired, revoked or without its
   * discharges as it may be. It allows nothing: it tells what must not be kept or passed on.
   *
   * @throws TypeError if it is not a string.
   */
  isAuthentic(text: string): boolean {
    const result = authenticate(text, this.#context);
    return result.ok || result.denial.code.startsWith("discharge_");
  }

  #needless(token: AuthenticToken, { until }: RevocationEntry, now: number): TokenState {
    // Another discharge may take a revoked one's place: only the token's own links count.
    const query = { ...revocationQueryFor(token), links: token.chains[0].revocationIds };
    if (this.#context.revocations.find(query).length > 0) return "revoked";
    return until !== undefined && until <= formatTime(now) ? "expired" : undefined;
  }
}

/** A clock that answers something else than a number must not be compared with times. */
function checkedClock(clock: () => number): () => number {
  return () => {
    const now: unknown = clock();
    if (typeof now === "number" && Number.isFinite(now)) return now;
    throw new TypeError("clock must give milliseconds since 1970, as a finite number");
  };
}

/**
 * The latest moment at which a token that exists at `now`, in milliseconds since 1970, can expire,
 * however its issuer was configured: `until` when a revocation entry can go.
 *
 * @example
 * ```ts
 * import { latestExpiry } from "proviso/issuer";
 *
 * latestExpiry(Date.parse("2026-01-01T00:00:00Z")); // => "2026-04-01T00:00:00Z"
 * ```
 */
export function latestExpiry(now: number): string {
  return formatTime(now + LONGEST_LIFETIME * 1000);
}

/**
 * An issuer: mints capabilities, checks them, and tells what revokes them.
 *
 * @throws TypeError on wrong options.
 *
 * @example
 * ```ts
 * import { createIssuer, createKeyring, RevocationList } from "proviso/issuer";
 *
 * const revocations = new RevocationList();
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
