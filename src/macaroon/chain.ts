import { concatBytes } from "@noble/hashes/utils.js";
import { assertString, notA } from "../checks/kinds.js";
import { plainObject } from "../checks/plain.js";
import { hmac } from "./hmac.js";
import { assertMacaroon, type Caveat, Macaroon, partsOf, toBytes } from "./macaroon.js";
import { assertRootKey, deriveKey, type RootKey } from "./root-key.js";
import { caveatNonce, sealCaveatKey } from "./third-party.js";

const ZERO_KEY: Uint8Array = /* @__PURE__ */ new Uint8Array(32);

/** Returns `HMAC(key, HMAC(key, a) ‖ HMAC(key, b))`, libmacaroons' construction for two fields. */
function hash2(key: Uint8Array, a: Uint8Array, b: Uint8Array): Uint8Array {
  return hmac(key, concatBytes(hmac(key, a), hmac(key, b)));
}

/** Returns the tag after `caveat`, computed from the tag before the caveat. */
export function nextTag(tag: Uint8Array, caveat: Caveat): Uint8Array {
  return caveat.kind === "first-party"
    ? hmac(tag, caveat.identifier)
    : hash2(tag, caveat.verificationId, caveat.identifier);
}

/** Returns the signature of a discharge, bound to the root macaroon with which the discharge is presented. */
export function bindSignature(
  rootSignature: Uint8Array,
  dischargeSignature: Uint8Array,
): Uint8Array {
  return hash2(ZERO_KEY, rootSignature, dischargeSignature);
}

export interface MacaroonInit {
  /** Identifies the macaroon and its key to the issuer. A string is encoded as UTF-8. */
  readonly identifier: string | Uint8Array;
  /** The service where the macaroon is used. Only a hint, since locations are not signed. */
  readonly location?: string;
}

/**
 * Creates a macaroon without caveats.
 *
 * @throws TypeError if an argument is wrong.
 */
export function createMacaroon(key: RootKey, init: MacaroonInit): Macaroon {
  assertRootKey(key, "key");
  const own = plainObject(init, "init");
  const identifier = toBytes(own.identifier, "init.identifier");
  if (identifier.length === 0) throw new TypeError("init.identifier must not be empty");
  const location = own.location === undefined ? undefined : checkLocation(own.location);
  return new Macaroon({ location, identifier, caveats: [], signature: key.tag(identifier) });
}

/**
 * Appends a first-party caveat: one HMAC, no key. The given macaroon does not change.
 *
 * @throws TypeError if an argument is wrong.
 */
export function addFirstPartyCaveat(macaroon: Macaroon, caveat: string | Uint8Array): Macaroon {
  assertMacaroon(macaroon, "macaroon");
  const identifier = toBytes(caveat, "caveat");
  if (identifier.length === 0) throw new TypeError("caveat must not be empty");
  return append(macaroon, { kind: "first-party", identifier });
}

export interface ThirdPartyInit {
  /** The secret shared with the third party. The third party makes the discharge with this secret. */
  readonly key: Uint8Array;
  /** Tells the third party what to check. The discharge must have the same identifier. */
  readonly identifier: string | Uint8Array;
  /** The address from which to get the discharge. Only a hint, since locations are not signed. */
  readonly location?: string;
  /** A 24-byte nonce, never reused for the same macaroon; random if absent. */
  readonly nonce?: Uint8Array;
}

/**
 * Appends a third-party caveat. The macaroon then verifies only together with a discharge made with `init.key`
 * for `init.identifier`.
 *
 * @throws TypeError if an argument is wrong.
 *
 * @example
 * ```ts
 * import { addThirdPartyCaveat, bindDischarge, createMacaroon, createRootKey, verifyMacaroon } from "proviso/macaroon";
 *
 * const secret = new TextEncoder().encode("shared with the third party");
 * const key = createRootKey(new TextEncoder().encode("an example key, not a good one"));
 * const root = addThirdPartyCaveat(createMacaroon(key, { identifier: "id" }), {
 *   key: secret,
 *   identifier: "is it Alice?",
 * });
 * const discharge = createMacaroon(createRootKey(secret), { identifier: "is it Alice?" });
 * const discharges = [bindDischarge(root, discharge)];
 * verifyMacaroon(root, key, { discharges, check: () => true }).ok; // => true
 * ```
 */
export function addThirdPartyCaveat(macaroon: Macaroon, init: ThirdPartyInit): Macaroon {
  assertMacaroon(macaroon, "macaroon");
  const own = plainObject(init, "init");
  const { key, nonce = caveatNonce() } = own;
  const identifier = toBytes(own.identifier, "init.identifier");
  if (identifier.length === 0) throw new TypeError("init.identifier must not be empty");
  if (!(key instanceof Uint8Array)) throw notA("init.key", "a non-empty Uint8Array", key);
  if (key.length === 0) throw new TypeError("init.key must be a non-empty Uint8Array");
  if (!(nonce instanceof Uint8Array)) throw notA("init.nonce", "a Uint8Array of 24 bytes", nonce);
  const { signature } = partsOf(macaroon);
  const verificationId = sealCaveatKey(signature, deriveKey(new Uint8Array(key)), nonce);
  const location = own.location === undefined ? undefined : checkLocation(own.location);
  const caveat = { kind: "third-party", identifier, verificationId } as const;
  return append(macaroon, location === undefined ? caveat : { ...caveat, location });
}

/**
 * Binds a discharge to the macaroon with which it will be presented. Bind every discharge, including nested
 * ones, to the *root* macaroon in its final form: if a caveat is appended later, the discharges are no longer
 * bound.
 *
 * @throws TypeError if an argument is wrong.
 */
export function bindDischarge(root: Macaroon, discharge: Macaroon): Macaroon {
  assertMacaroon(root, "root");
  assertMacaroon(discharge, "discharge");
  const parts = partsOf(discharge);
  return new Macaroon({
    ...parts,
    signature: bindSignature(partsOf(root).signature, parts.signature),
  });
}

function append(macaroon: Macaroon, caveat: Caveat): Macaroon {
  const parts = partsOf(macaroon);
  return new Macaroon({
    ...parts,
    caveats: [...parts.caveats, caveat],
    signature: nextTag(parts.signature, caveat),
  });
}

function checkLocation(location: string): string | undefined {
  assertString(location, "init.location");
  toBytes(location, "init.location");
  return location === "" ? undefined : location;
}
