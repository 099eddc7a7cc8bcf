import { type CapabilityLimits, capabilityLimits } from "../capability/limits.js";
import { DEFAULT_MAX_LIFETIME, MAX_LIFETIME } from "../capability/mint.js";
import {
  CACHE_BOUNDS,
  type CacheBounds,
  VerificationCache,
} from "../capability/verification-cache.js";
import { described } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";
import type { RevocationSource } from "../revocation/source.js";
import type { Grant } from "./grant.js";
import { Keyring } from "./keyring.js";

export interface IssuerOptions {
  /**
   * The grants and their operations. If given, an operation outside a token's grant is refused whatever the hops say,
   * and minting without `operations` writes the grant's operations into the hop. Without `grants`, every invocation
   * must name its grant.
   */
  readonly grants?: readonly Grant[] | undefined;
  /** The issuer's name. Every token contains it, and tokens with another name are refused. */
  readonly name: string;
  /**
   * The keys: a fixed keyring, or a function that returns the current keyring at each call, such as the result of
   * {@link followKeyringFile}.
   */
  readonly keys: Keyring | (() => Keyring);
  /** The source of revocations: a `RevocationList`, or a store. */
  readonly revocations: RevocationSource;
  /** This service's name in `audience`, for invocations without an `audience`. */
  readonly audience?: string | undefined;
  /** Longest lifetime of a capability in seconds, at most 90 days; by default, 24 hours. */
  readonly maxLifetime?: number | undefined;
  /** Limits on tokens. Each may be lower than in the specification, but not higher. */
  readonly limits?: Partial<CapabilityLimits> | undefined;
  /**
   * Limits of the cache of verified tokens, by default 1,000 entries and 16 MiB; `false` disables the cache. For a
   * cached token, a check computes one digest instead of every signature. With or without the cache, every call
   * checks every rule, the revocations and the times (docs/threat-model.md).
   */
  readonly cache?: CacheBounds | false | undefined;
  /** Returns milliseconds since 1970; by default, `Date.now`. */
  readonly clock?: (() => number) | undefined;
  /** Returns cryptographically random bytes. */
  readonly random?: ((length: number) => Uint8Array) | undefined;
}

const OPTIONS = [
  "grants",
  "name",
  "keys",
  "revocations",
  "audience",
  "maxLifetime",
  "limits",
  "cache",
  "clock",
  "random",
];

interface CheckedOptions extends IssuerOptions {
  readonly maxLifetime: number;
  readonly clock: () => number;
  readonly limits: CapabilityLimits;
}

/** @throws TypeError that names the wrong option. */
export function checkedOptions(options: IssuerOptions): CheckedOptions {
  const own = knownMembers(options, OPTIONS, "options");
  const { name, keys, revocations, audience, maxLifetime = DEFAULT_MAX_LIFETIME } = own;
  const { clock = Date.now, random } = own;
  if (typeof name !== "string" || name === "") {
    throw new TypeError(`name must be a non-empty string, not ${described(name)}`);
  }
  if (!(keys instanceof Keyring) && typeof keys !== "function") {
    const expected = "a Keyring, or a function that gives one";
    throw new TypeError(`keys must be ${expected}, not ${described(keys)}`);
  }
  if (typeof revocations?.find !== "function" || typeof revocations.isCurrent !== "function") {
    const expected = "a RevocationList, such as createRevocationList() makes, or a store";
    throw new TypeError(`revocations must be ${expected}, not ${described(revocations)}`);
  }
  if (audience !== undefined && typeof audience !== "string") {
    throw new TypeError(`audience must be a string, not ${described(audience)}`);
  }
  for (const [option, value] of Object.entries({ clock, random })) {
    if (value === undefined || typeof value === "function") continue;
    throw new TypeError(`${option} must be a function, not ${described(value)}`);
  }
  if (!Number.isSafeInteger(maxLifetime) || maxLifetime < 1 || maxLifetime > MAX_LIFETIME) {
    throw new TypeError(`maxLifetime must be 1 to ${MAX_LIFETIME} whole seconds`);
  }
  return {
    ...own,
    maxLifetime,
    cache: checkedBounds(own.cache),
    clock: checkedClock(clock),
    limits: capabilityLimits(own.limits),
  };
}

function checkedBounds(cache: IssuerOptions["cache"]): CacheBounds | false {
  if (cache === false || cache === undefined) return cache ?? {};
  const bounds = knownMembers(cache, Object.keys(CACHE_BOUNDS), "cache");
  for (const [name, value] of Object.entries(bounds)) {
    if (value === undefined || (Number.isSafeInteger(value) && value >= 1)) continue;
    throw new TypeError(
      `cache.${name} must be a whole number of at least 1; false remembers nothing`,
    );
  }
  return bounds;
}

/** Creates the cache that the options describe; `undefined` if the cache is disabled. */
export function verificationCache(options: CheckedOptions): VerificationCache | undefined {
  const { cache, clock } = options;
  return cache === false ? undefined : new VerificationCache(cache ?? {}, clock);
}

/** Wraps a clock so that it throws if it returns anything but a finite number. */
function checkedClock(clock: () => number): () => number {
  return () => {
    const now: unknown = clock();
    if (typeof now === "number" && Number.isFinite(now)) return now;
    throw new TypeError("clock must give milliseconds since 1970, as a finite number");
  };
}
