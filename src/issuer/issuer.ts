import { type AuthenticToken, authenticate } from "../capability/authenticate.js";
import {
  type CheckContext,
  checkToken,
  type Decision,
  ownExpiry,
  revocationQueryFor,
} from "../capability/authorize.js";
import type { Denial } from "../capability/denial.js";
import { type CapabilityLimits, capabilityLimits } from "../capability/limits.js";
import {
  DEFAULT_MAX_LIFETIME,
  LONGEST_LIFETIME,
  type MintedCapability,
  type MintRequest,
  mintToken,
} from "../capability/mint.js";
import type { Invocation } from "../caveats/invocation.js";
import { formatTime } from "../caveats/time.js";
import type { RevocationEntry, RevocationSource } from "../revocation/list.js";
import { Keyring, randomBytes } from "./keyring.js";

export interface IssuerOptions {
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
      /** Why adding the entry would change nothing. */
      readonly needless?: "revoked" | "expired";
    }
  | { readonly ok: false; readonly denial: Denial };

const OPTIONS = [
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
 *
 * @example
 * ```ts
 * import { createIssuer, createKeyring, Issuer, RevocationList } from "proviso/issuer";
 *
 * const revocations = new RevocationList();
 * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
 * [issuer instanceof Issuer, issuer.name]; // => [true, "documents-agent"]
 * ```
 */
export class Issuer {
  readonly name: string;
  readonly #keys: () => Keyring;
  readonly #context: CheckContext;
  readonly #maxLifetime: number;
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
    this.#maxLifetime = maxLifetime;
    this.#random = options.random ?? randomBytes;
    this.#context = {
      issuer: name,
      keys: { find: (kid) => this.#keys().find(kid) },
      revocations,
      limits: capabilityLimits(options.limits),
      clock: options.clock ?? Date.now,
      audience,
    };
  }

  /**
   * Makes a capability under the key that mints. Without `expires` it lives for 15 minutes.
   *
   * @throws TypeError if the request is not valid, or lives longer than this issuer allows.
   */
  mint(request: MintRequest): MintedCapability {
    return mintToken(request, {
      issuer: this.name,
      key: this.#keys().minting,
      clock: this.#context.clock,
      random: this.#random,
      maxLifetime: this.#maxLifetime,
    });
  }

  /**
   * Checks a token against an invocation: limits and form, issuer and key, every signature,
   * revocation, then every rule of every hop. Nothing else needs to be called, and a bad token is a
   * refusal, never an exception.
   *
   * @throws TypeError if the token is not a string or the invocation has a wrong shape.
   * @throws StorageError if `keys` follows a key file that can not be read: nothing is allowed then.
   */
  authorize(token: string, invocation: Invocation): Decision {
    return checkToken(token, invocation, this.#context);
  }

  /**
   * The entry that revokes a presented token and all that descends from it; add it to a list or
   * store. Whoever presents a token may have it revoked, so only its signatures are checked. For a
   * token that is revoked already, or has expired, adding is needless, and says so: otherwise one
   * holder could fill the list with the children of a dead token.
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
    return { ok: true, entry, capability, ...(needless === undefined ? {} : { needless }) };
  }

  #needless(token: AuthenticToken, { until }: RevocationEntry, now: number): TokenState {
    if (this.#context.revocations.find(revocationQueryFor(token)).length > 0) return "revoked";
    return until !== undefined && until <= formatTime(now) ? "expired" : undefined;
  }
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
 * const issuer = createIssuer({ name: "documents-agent", keys: createKeyring(), revocations });
 * const { token } = issuer.mint({ grant: "documents:read", operations: ["retrieve"] });
 *
 * issuer.authorize(token, { operation: "retrieve" }).allowed; // => true
 * const refused = issuer.authorize(token, { operation: "delete" });
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
