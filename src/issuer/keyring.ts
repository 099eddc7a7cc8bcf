import { isObject } from "../bytes/json.js";
import { randomBytes } from "../bytes/random.js";
import type { KeySource } from "../capability/authenticate.js";
import { assertServiceName, readServiceKeyId, serviceKeyId } from "../capability/key-id.js";
import { formatTime } from "../caveats/time.js";
import { assertString, notA } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import { plainCopy, plainObject } from "../checks/plain.js";
import type { RootKey } from "../macaroon/root-key.js";
import type { FeedKey } from "./derived-keys.js";
import type { HandleKey } from "./handle.js";
import { type KeyInUse, keyInUse, serviceOf } from "./key-in-use.js";
import {
  checkedJwk,
  copyOf,
  newJwk,
  type RootJwk,
  type RootJwkSet,
  serviceJwk,
} from "./root-jwk.js";
import type { TextKey } from "./sealed-text.js";

/** A key without its secret. */
export interface KeyInfo {
  readonly kid: string;
  /** `true` if new capabilities are made with the key; other keys only verify. */
  readonly mints: boolean;
  readonly created: string;
}

/** The property names of {@link KeyringOptions}. */
export const KEYRING_OPTIONS: readonly string[] = ["clock", "random"];
/**
 * Maximum number of derived service keys that a keyring caches, so that invented service names cannot fill the
 * memory.
 */
const MAX_DERIVED = 256;

export interface KeyringOptions {
  /** Returns milliseconds since 1970. */
  readonly clock?: () => number;
  /** Returns cryptographically random bytes. */
  readonly random?: (length: number) => Uint8Array;
}

interface HeldKey {
  readonly jwk: RootJwk;
  readonly key: KeyInUse;
}

/**
 * The root keys of an issuer, or the keys of one service, which are derived from root keys. One key mints; older keys
 * only verify. A keyring is immutable: rotating and retiring return a new keyring. Secrets are in private fields;
 * only {@link Keyring.exportJwkSet} and {@link Keyring.serviceKeys} return them.
 */
export class Keyring implements KeySource {
  readonly #keys: ReadonlyMap<string, HeldKey>;
  readonly #minting: HeldKey;
  readonly #options: Required<KeyringOptions>;
  readonly #derived = new Map<string, KeyInUse>();
  /** The service whose keys these are; `undefined` if the keys are an issuer's root keys. */
  readonly service: string | undefined;

  /** @internal Use {@link createKeyring} or {@link importKeyring}. */
  constructor(jwks: readonly RootJwk[], options: KeyringOptions = {}) {
    this.#options = { clock: Date.now, random: randomBytes, ...options };
    const held = jwks.map((jwk): HeldKey => ({ jwk: copyOf(jwk), key: keyInUse(jwk) }));
    this.#keys = new Map(held.map((one) => [one.key.kid, one]));
    const minting = held.filter(({ jwk }) => jwk.key_ops.includes("sign"));
    const [only, ...others] = minting;
    if (only === undefined || others.length > 0) {
      throw new TypeError(`a keyring has exactly one key that may "sign", not ${minting.length}`);
    }
    if (this.#keys.size !== held.length) throw new TypeError("two keys have the same kid");
    this.#minting = only;
    this.service = serviceOf([...this.#keys.keys()]);
  }

  /** The key with which new capabilities are made. */
  get minting(): KeyInUse {
    return this.#minting.key;
  }

  /**
   * Returns the key with which new capabilities for one service are made.
   *
   * @throws TypeError if the service's name is invalid, or this keyring has the keys of another service.
   */
  mintingFor(service: string): KeyInUse {
    assertServiceName(service);
    if (this.service === service) return this.minting;
    const key = this.#find(serviceKeyId(this.minting.kid, service));
    if (key === undefined) throw this.#isOfService();
    return key;
  }

  /**
   * Finds the key `kid`: a key of this keyring, or a service's key derived from one of its root keys, `KID@SERVICE`.
   */
  find(kid: string): RootKey | undefined {
    assertString(kid, "kid");
    return this.#find(kid)?.root;
  }

  /** Returns the key that opens the handles of capabilities made with the key `kid`. */
  handleKey(kid: string): HandleKey | undefined {
    assertString(kid, "kid");
    return this.#find(kid)?.handles;
  }

  /**
   * Returns the key that opens strings sealed with the key `kid`, which must be a key of this keyring itself. A
   * service knows its derived key, so a string sealed with the derived key may not come from the issuer.
   */
  textKey(kid: string): TextKey | undefined {
    return this.#keys.get(kid)?.key.texts;
  }

  /** Returns the feed key of the service whose key is `kid`; `undefined` for a root key. */
  feedKey(kid: string): FeedKey | undefined {
    assertString(kid, "kid");
    return readServiceKeyId(kid) === undefined ? undefined : this.#find(kid)?.feed;
  }

  /** Returns every key without its secret, oldest first. */
  list(): KeyInfo[] {
    return [...this.#keys.values()].map(({ jwk }) => ({
      kid: jwk.kid,
      mints: jwk.key_ops.includes("sign"),
      created: formatTime(jwk.iat * 1000),
    }));
  }

  /**
   * Returns a keyring with a new key that mints; the existing keys still verify.
   *
   * @throws TypeError if this keyring has the keys of a service. Only the issuer can rotate them.
   */
  rotate(): Keyring {
    if (this.service !== undefined) throw this.#isOfService();
    const older = this.#jwks().map((jwk): RootJwk => ({ ...jwk, key_ops: ["verify"] }));
    return new Keyring([...older, newJwk(this.#options)], this.#options);
  }

  /**
   * Returns a keyring without the key `kid`. Tokens made with it are refused as `unknown_key` from then on, and its
   * secret is lost.
   *
   * @throws TypeError if the keyring has no key `kid`, or if `kid` is the key that mints.
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

  /** Returns the keys with their secrets, for a key file or a backup. Keep the result secret. */
  exportJwkSet(): RootJwkSet {
    return { keys: this.#jwks().map(copyOf) };
  }

  /**
   * Derives the keys for one service, one from each root key, as a JWK Set for {@link importKeyring}. The set
   * includes the secrets of the derived keys. With these keys, the service can check, narrow and mint tokens for
   * itself only. The derived keys do not reveal the root keys.
   *
   * @param service - The name in `audience`: 1 to 255 printable ASCII characters without spaces and "@".
   * @throws TypeError if the service's name is invalid, or this keyring itself has the keys of a service.
   */
  serviceKeys(service: string): RootJwkSet {
    assertServiceName(service);
    if (this.service !== undefined) throw this.#isOfService();
    return { keys: this.#jwks().map((jwk) => serviceJwk(jwk, service)) };
  }

  toJSON(): string {
    return "[keyring, secrets withheld]";
  }

  #find(kid: string): KeyInUse | undefined {
    const known = this.#keys.get(kid)?.key ?? this.#derived.get(kid);
    if (known !== undefined || this.service !== undefined) return known;
    const id = readServiceKeyId(kid);
    const root = id === undefined ? undefined : this.#keys.get(id.root);
    if (id === undefined || root === undefined) return undefined;
    const [oldest] = this.#derived.size < MAX_DERIVED ? [] : this.#derived.keys();
    if (oldest !== undefined) this.#derived.delete(oldest);
    const key = keyInUse(serviceJwk(root.jwk, id.service));
    this.#derived.set(kid, key);
    return key;
  }

  #isOfService(): TypeError {
    return new TypeError(
      `these are the keys of the service ${this.service}: only the issuer's root keys give others`,
    );
  }

  #jwks(): RootJwk[] {
    return [...this.#keys.values()].map(({ jwk }) => jwk);
  }
}

/** @throws TypeError that names the argument that is not a {@link Keyring}. */
export function assertKeyring(value: unknown, where: string): asserts value is Keyring {
  if (value instanceof Keyring) return;
  throw notA(where, "a Keyring, as createKeyring() or importKeyring() gives it", value);
}

/**
 * Creates a keyring with one new key.
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
 * Creates a keyring from a JWK Set, such as {@link Keyring.exportJwkSet} returns.
 *
 * @throws TypeError that names the property that is wrong; the message never shows a secret.
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
  const keys = isObject(set) ? plainCopy(plainObject(set, "set"), "")["keys"] : undefined;
  if (!Array.isArray(keys)) {
    throw new TypeError('set must be a JWK Set: an object with an array "keys"');
  }
  return new Keyring(keys.map(checkedJwk), options);
}
