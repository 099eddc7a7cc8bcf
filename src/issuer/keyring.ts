import { decodeBase64, encodeBase64url } from "../bytes/base64.js";
import { randomBytes } from "../bytes/random.js";
import type { KeySource } from "../capability/authenticate.js";
import { assertMembers } from "../caveats/known-members.js";
import { formatTime } from "../caveats/time.js";
import { RootKey } from "../macaroon/root-key.js";
import { HandleKey } from "./handle.js";

/** A root key as a JSON Web Key (RFC 7517, RFC 7518 section 6.4). It holds the secret. */
export interface RootJwk {
  readonly kty: "oct";
  readonly kid: string;
  readonly alg: "HS256";
  /** The one key that mints may `sign`; all may `verify`. */
  readonly key_ops: readonly ("sign" | "verify")[];
  /** When it was made, in seconds since 1970. */
  readonly iat: number;
  /** 32 bytes, base64url. */
  readonly k: string;
}

/** A JWK Set with the secrets in it. */
export interface RootJwkSet {
  readonly keys: readonly RootJwk[];
}

/** What may be shown of a key: everything but the secret. */
export interface KeyInfo {
  readonly kid: string;
  /** Whether new capabilities are made under it; the others only verify. */
  readonly mints: boolean;
  readonly created: string;
}

const SECRET_LENGTH = 32;
const KID_BYTES = 9;
/** The last second of the year 9999, in seconds since 1970. */
const LATEST = 253_402_300_799;
/** The members of {@link KeyringOptions}. */
export const KEYRING_OPTIONS: readonly string[] = ["clock", "random"];
const MEMBERS = ["kty", "kid", "alg", "key_ops", "iat", "k"];

export interface KeyringOptions {
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Cryptographically random bytes. */
  readonly random?: (length: number) => Uint8Array;
}

/** One root key, for what is made under it. */
export interface KeyInUse {
  readonly kid: string;
  readonly root: RootKey;
  /** Derived from the same secret; seals numbers of resources. */
  readonly handles: HandleKey;
}

interface HeldKey {
  readonly jwk: RootJwk;
  readonly key: KeyInUse;
}

/**
 * An issuer's root keys: one that mints, and older ones that still verify. An immutable value;
 * rotating and retiring give a new keyring. Secrets are held in private fields and leave only
 * through {@link Keyring.exportJwkSet}.
 */
export class Keyring implements KeySource {
  readonly #keys: ReadonlyMap<string, HeldKey>;
  readonly #minting: HeldKey;
  readonly #options: Required<KeyringOptions>;

  /** @internal Use {@link createKeyring} or {@link importKeyring}. */
  constructor(jwks: readonly RootJwk[], options: KeyringOptions = {}) {
    this.#options = { clock: Date.now, random: randomBytes, ...options };
    const held = jwks.map((jwk): HeldKey => ({ jwk: copyOf(jwk), key: keyOf(jwk) }));
    this.#keys = new Map(held.map((one) => [one.key.kid, one]));
    const minting = held.filter(({ jwk }) => jwk.key_ops.includes("sign"));
    const [only, ...others] = minting;
    if (only === undefined || others.length > 0) {
      throw new TypeError(`a keyring has exactly one key that may "sign", not ${minting.length}`);
    }
    if (this.#keys.size !== held.length) throw new TypeError("two keys have the same kid");
    this.#minting = only;
  }

  /** The key under which new capabilities are made. */
  get minting(): KeyInUse {
    return this.#minting.key;
  }

  find(kid: string): RootKey | undefined {
    return this.#keys.get(kid)?.key.root;
  }

  /** The key that unseals the handles of capabilities made under the root key `kid`. */
  handleKey(kid: string): HandleKey | undefined {
    return this.#keys.get(kid)?.key.handles;
  }

  /** Every key without its secret, oldest first. */
  list(): KeyInfo[] {
    return [...this.#keys.values()].map(({ jwk }) => ({
      kid: jwk.kid,
      mints: jwk.key_ops.includes("sign"),
      created: formatTime(jwk.iat * 1000),
    }));
  }

  /** A keyring with a new key that mints; the present ones go on verifying. */
  rotate(): Keyring {
    const older = this.#jwks().map((jwk): RootJwk => ({ ...jwk, key_ops: ["verify"] }));
    return new Keyring([...older, newJwk(this.#options)], this.#options);
  }

  /**
   * A keyring without the key `kid`: its tokens are refused as `unknown_key` from now on, and its
   * secret is gone.
   *
   * @throws TypeError if there is no such key, or it is the one that mints.
   */
  retire(kid: string): Keyring {
    if (!this.#keys.has(kid)) throw new TypeError(`there is no key ${JSON.stringify(kid)}`);
    if (kid === this.#minting.key.kid) {
      throw new TypeError(`key ${kid} is the one that mints; rotate first, then retire it`);
    }
    return new Keyring(
      this.#jwks().filter((jwk) => jwk.kid !== kid),
      this.#options,
    );
  }

  /** The keys with their secrets, for a key file or a backup. Handle it as the secret it is. */
  exportJwkSet(): RootJwkSet {
    return { keys: this.#jwks().map(copyOf) };
  }

  toJSON(): string {
    return "[keyring, secrets withheld]";
  }

  #jwks(): RootJwk[] {
    return [...this.#keys.values()].map(({ jwk }) => jwk);
  }
}

/**
 * A keyring with one new key.
 *
 * @example
 * ```ts
 * import { createKeyring } from "proviso/issuer";
 *
 * const keyring = createKeyring().rotate();
 * keyring.list().map((key) => key.mints); // => [false, true]
 * ```
 */
export function createKeyring(options: KeyringOptions = {}): Keyring {
  assertMembers(options, KEYRING_OPTIONS, "options");
  return new Keyring([newJwk({ clock: Date.now, random: randomBytes, ...options })], options);
}

/**
 * A keyring from a JWK Set, such as {@link Keyring.exportJwkSet} gives.
 *
 * @throws TypeError naming the member that is wrong; never showing a secret.
 *
 * @example
 * ```ts
 * import { createKeyring, importKeyring } from "proviso/issuer";
 *
 * const keyring = createKeyring();
 * const copy = importKeyring(keyring.exportJwkSet());
 * copy.minting.kid === keyring.minting.kid; // => true
 * ```
 */
export function importKeyring(set: unknown, options: KeyringOptions = {}): Keyring {
  assertMembers(options, KEYRING_OPTIONS, "options");
  const keys = typeof set === "object" && set !== null && "keys" in set ? set.keys : undefined;
  if (!Array.isArray(keys)) throw new TypeError('a JWK Set is an object with an array "keys"');
  return new Keyring(keys.map(checkJwk), options);
}

function checkJwk(value: unknown, at: number): RootJwk {
  const where = `keys[${at}]`;
  if (typeof value !== "object" || value === null) throw new TypeError(`${where} is not an object`);
  const jwk = value as Record<string, unknown>;
  assertMembers(jwk, MEMBERS, where);
  const { kty, kid, alg, key_ops, iat, k } = jwk;
  if (kty !== "oct") throw new TypeError(`${where}.kty must be "oct"`);
  if (alg !== "HS256") throw new TypeError(`${where}.alg must be "HS256"`);
  if (typeof kid !== "string" || kid === "") throw new TypeError(`${where}.kid must be a string`);
  if (typeof iat !== "number" || !Number.isSafeInteger(iat) || iat < 0 || iat > LATEST) {
    throw new TypeError(`${where}.iat must be whole seconds since 1970`);
  }
  const operations = Array.isArray(key_ops) ? key_ops.join() : "";
  if (operations !== "verify" && operations !== "sign,verify") {
    throw new TypeError(`${where}.key_ops must be ["verify"] or ["sign","verify"]`);
  }
  if (typeof k !== "string" || secretLength(k) !== SECRET_LENGTH) {
    throw new TypeError(`${where}.k must be ${SECRET_LENGTH} bytes of base64url`);
  }
  const ops = operations === "verify" ? (["verify"] as const) : (["sign", "verify"] as const);
  return { kty, kid, alg, key_ops: ops, iat, k };
}

function copyOf(jwk: RootJwk): RootJwk {
  return { ...jwk, key_ops: [...jwk.key_ops] };
}

function keyOf({ kid, k }: RootJwk): KeyInUse {
  const secret = decodeBase64(k);
  if (secret.length !== SECRET_LENGTH) {
    throw new TypeError(`the secret of key ${kid} must have ${SECRET_LENGTH} bytes`);
  }
  return { kid, root: new RootKey(secret), handles: new HandleKey(secret) };
}

function secretLength(k: string): number {
  try {
    return decodeBase64(k).length;
  } catch {
    return 0;
  }
}

function newJwk({ clock, random }: Required<KeyringOptions>): RootJwk {
  return {
    kty: "oct",
    kid: `key_${encodeBase64url(random(KID_BYTES))}`,
    alg: "HS256",
    key_ops: ["sign", "verify"],
    iat: Math.floor(clock() / 1000),
    k: encodeBase64url(random(SECRET_LENGTH)),
  };
}
