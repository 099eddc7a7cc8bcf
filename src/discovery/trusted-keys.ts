import type { CryptoKey, JWK, KeyObject } from "jose";
import { checkedJwkSet, readJwkSet } from "../auth/key-source.js";
import { readUrl } from "../client/address.js";
import { ClientError } from "../client/client-error.js";
import { type BoundedFetch, type FetchOptions, getJson } from "./fetch-card.js";

type Jose = typeof import("jose");

/** The keys that a caller trusts. */
export interface TrustOptions {
  /** Public keys as JWKs, each identified by its `kid`, or by its thumbprint (RFC 7638) if it has no `kid`. */
  readonly trustedKeys?: readonly JWK[] | undefined;
  /** The URL of a JWK Set whose keys are all trusted. */
  readonly jwksUrl?: string | undefined;
}

/** The keys with one id, or the reason why no key was found. */
type FoundKeys = { readonly keys: readonly JWK[] } | { readonly missing: string };

/** Finds keys by a signature's `kid` and `jku`. */
export type FindKeys = (kid: string, jku: string | undefined) => Promise<FoundKeys>;

const MAX_SET_BYTES = 64 * 1024;
const MOST_KEYS = 64;
/** Maximum number of keys with one id: the signing key and its successor. */
const MOST_OF_A_NAME = 2;

/**
 * Returns a function that finds keys: first among the caller's own keys, then in the caller's JWK Set, then at
 * a `jku` on an origin that the caller has named. It never uses a key from the card.
 *
 * @param named - Origins that the caller has named.
 * @throws TypeError if one of the caller's own keys is not a public key, or `jwksUrl` is invalid.
 */
export async function trustedKeys(
  jose: Jose,
  { trustedKeys = [], jwksUrl }: TrustOptions,
  named: readonly string[],
  options: BoundedFetch,
): Promise<FindKeys> {
  const own = await byName(jose, checkedKeys(trustedKeys));
  const fetched = new Map<string, Promise<FoundSet>>();
  const setAt = (url: URL, origins: readonly string[]): Promise<FoundSet> => {
    const found = fetched.get(url.href) ?? fetchSet(jose, url, origins, options);
    fetched.set(url.href, found);
    return found;
  };
  const set = jwksUrl === undefined ? undefined : ownUrl(jwksUrl, options);
  return async (kid, jku) => {
    const problems: string[] = [];
    const given = own.get(kid);
    if (given !== undefined) return { keys: given };
    const places = [
      ...(set === undefined ? [] : [{ url: set, origins: [...named, set.origin] }]),
      ...placesOf(jku, named),
    ];
    for (const { url, origins } of places) {
      const found = await setAt(url, origins);
      const keys = "keys" in found ? found.keys.get(kid) : undefined;
      if (keys !== undefined) return { keys };
      if ("problem" in found) problems.push(found.problem);
    }
    const [problem = "no key of that name is trusted"] = problems;
    return { missing: problem };
  };
}

type FoundSet =
  | { readonly keys: ReadonlyMap<string, readonly JWK[]> }
  | { readonly problem: string };

function placesOf(jku: string | undefined, named: readonly string[]) {
  if (jku === undefined || !URL.canParse(jku)) return [];
  const url = new URL(jku);
  return named.includes(url.origin) && url.username === "" ? [{ url, origins: named }] : [];
}

async function fetchSet(
  jose: Jose,
  url: URL,
  origins: readonly string[],
  options: BoundedFetch,
): Promise<FoundSet> {
  try {
    const { text } = await getJson(url, origins, options, MAX_SET_BYTES);
    const { keys } = readJwkSet(text);
    if (keys.length > MOST_KEYS) return { problem: `the JWK Set has more than ${MOST_KEYS} keys` };
    const named = await byName(jose, keys);
    const isCrowded = [...named.values()].some((ones) => ones.length > MOST_OF_A_NAME);
    if (isCrowded)
      return { problem: `the JWK Set has more than ${MOST_OF_A_NAME} keys of one name` };
    return { keys: named };
  } catch (error) {
    if (error instanceof ClientError) return { problem: error.message };
    if (error instanceof TypeError) return { problem: `the JWK Set is not one: ${error.message}` };
    throw error;
  }
}

async function byName(
  jose: Jose,
  keys: readonly JWK[],
): Promise<ReadonlyMap<string, readonly JWK[]>> {
  const found = new Map<string, JWK[]>();
  for (const key of keys) {
    const name = typeof key.kid === "string" ? key.kid : await thumbprintOf(jose, key);
    if (name === undefined) continue;
    found.set(name, [...(found.get(name) ?? []), key]);
  }
  return found;
}

async function thumbprintOf(jose: Jose, key: JWK): Promise<string | undefined> {
  try {
    return await jose.calculateJwkThumbprint(key);
  } catch {
    // A key of an unknown type cannot verify anything.
    return undefined;
  }
}

function checkedKeys(keys: readonly JWK[]): readonly JWK[] {
  if (!Array.isArray(keys)) throw new TypeError("options.trustedKeys: expected an array of JWKs");
  if (keys.length === 0) return [];
  try {
    return checkedJwkSet({ keys }).keys;
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw new TypeError(`options.trustedKeys: ${cause.message.replace(/^keys/, "")}`, { cause });
  }
}

function ownUrl(text: string, { insecure }: FetchOptions): URL {
  try {
    return readUrl(text, "options.jwksUrl", { insecure: insecure === true });
  } catch (cause) {
    throw cause instanceof ClientError ? new TypeError(cause.message, { cause }) : cause;
  }
}

/** A signing key that `jose` accepts. */
export type SigningKey = CryptoKey | KeyObject | JWK;
