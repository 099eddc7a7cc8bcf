import type { TokenErrorCode } from "../bytes/token-error.js";
import { assertArray, notA } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";
import { completeLimits, MACAROON_LIMITS, type MacaroonLimits } from "./limits.js";
import { assertMacaroon, type Macaroon, partsOf } from "./macaroon.js";
import { overLimits } from "./over-limits.js";
import { assertRootKey, type RootKey } from "./root-key.js";
import { type SignatureFailureCode, verifySignatures } from "./signatures.js";

export interface VerifyOptions {
  /** Bound discharges, in any order. Each must be needed exactly once. */
  readonly discharges?: readonly Macaroon[];
  /**
   * Judges one first-party caveat. Only the result `true` accepts the caveat, so a callback that returns nothing
   * refuses it. Called only after every signature is verified.
   */
  readonly check: (caveat: Uint8Array, macaroon: number) => boolean;
  readonly limits?: Partial<MacaroonLimits>;
}

/** One reason why a macaroon is refused. */
export interface VerifyFailure {
  readonly code: SignatureFailureCode | TokenErrorCode | "caveat_unmet";
  /** 0 for the macaroon itself, k for the k-th discharge presented. */
  readonly macaroon: number;
  /** The number of the caveat with the fault, counted from 1. */
  readonly caveat?: number;
  readonly message: string;
}

export type VerifyResult =
  | { readonly ok: true }
  | { readonly ok: false; readonly failures: readonly VerifyFailure[] };

/**
 * Checks a generic macaroon completely: limits, every signature, then every first-party caveat. Never throws for a
 * bad macaroon. Returns a single failure for an exceeded limit or a bad signature, otherwise one failure for each
 * violated caveat.
 *
 * @throws TypeError on wrong arguments.
 *
 * @example
 * ```ts
 * import { addFirstPartyCaveat, createMacaroon, createRootKey, verifyMacaroon } from "proviso/macaroon";
 *
 * const key = createRootKey(new TextEncoder().encode("an example key, not a good one"));
 * const macaroon = addFirstPartyCaveat(createMacaroon(key, { identifier: "id" }), "door = front");
 * const check = (caveat) => new TextDecoder().decode(caveat) === "door = back";
 * const result = verifyMacaroon(macaroon, key, { check });
 * result.ok ? [] : result.failures.map((failure) => failure.code); // => ["caveat_unmet"]
 * ```
 */
export function verifyMacaroon(
  macaroon: Macaroon,
  key: RootKey,
  options: VerifyOptions,
): VerifyResult {
  assertMacaroon(macaroon, "macaroon");
  assertRootKey(key, "key");
  const own = knownMembers(options, ["discharges", "check", "limits"], "options");
  const { discharges = [], check } = own;
  if (typeof check !== "function") throw notA("options.check", "a function", check);
  assertArray(discharges, "options.discharges", "macaroons");
  for (const [at, one] of discharges.entries()) assertMacaroon(one, `options.discharges[${at}]`);
  const limits = completeLimits(MACAROON_LIMITS, own.limits);

  const over = overLimits([macaroon, ...discharges], limits);
  if (over !== undefined) return { ok: false, failures: [{ ...over, macaroon: 0 }] };

  const result = verifySignatures(macaroon, key, discharges, limits.nesting);
  if (!result.ok) return { ok: false, failures: [result.failure] };

  const failures: VerifyFailure[] = [];
  for (const [index, { macaroon: one }] of result.chains.entries()) {
    for (const [at, caveat] of partsOf(one).caveats.entries()) {
      if (caveat.kind !== "first-party") continue;
      if (check(caveat.identifier.slice(), index) === true) continue;
      const message = `caveat ${at + 1} is not met`;
      failures.push({ code: "caveat_unmet", macaroon: index, caveat: at + 1, message });
    }
  }
  return failures.length === 0 ? { ok: true } : { ok: false, failures };
}
