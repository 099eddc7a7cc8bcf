import type { JSONWebKeySet } from "jose";

/** Members that only private and secret keys have (RFC 7518, sections 6.2.2, 6.3.2 and 6.4). */
const SECRET_MEMBERS = ["d", "k", "p", "q", "dp", "dq", "qi", "oth"];

/**
 * Checks that a value is a JWK Set of public keys, as far as that shows before they are used.
 *
 * @throws TypeError saying what is wrong, without showing a key.
 */
export function checkedJwkSet(value: unknown): JSONWebKeySet {
  if (!isSet(value)) throw new TypeError('it is not a JWK Set, an object with an array "keys"');
  if (value.keys.length === 0) throw new TypeError("it has no key");
  const keys = value.keys.map((key: unknown, at) => {
    if (!isKey(key)) throw new TypeError(`keys[${at}] is not a JWK`);
    if (SECRET_MEMBERS.some((member) => Object.hasOwn(key, member))) {
      throw new TypeError(`keys[${at}] is not a public key; never give away the private one`);
    }
    return key;
  });
  return { keys };
}

/**
 * Reads a JWK Set of public keys.
 *
 * @throws TypeError as {@link checkedJwkSet} does.
 */
export function readJwkSet(text: string): JSONWebKeySet {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new TypeError("it is not JSON");
  }
  return checkedJwkSet(value);
}

function isSet(value: unknown): value is { readonly keys: readonly unknown[] } {
  return (
    typeof value === "object" && value !== null && "keys" in value && Array.isArray(value.keys)
  );
}

function isKey(value: unknown): value is { kty: string } {
  return (
    typeof value === "object" && value !== null && "kty" in value && typeof value.kty === "string"
  );
}
