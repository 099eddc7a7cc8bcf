import { readFileSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWSHeaderParameters } from "jose";
import { assertNoTwin, isObject } from "../bytes/json.js";
import { errorCode, reasonFor } from "../system/error-code.js";
import { following, stampOf } from "../system/file-stamp.js";
import type { KeySourceOptions, PublicJwkSet } from "./jwt-options.js";

type Jose = typeof import("jose");

/**
 * Finds the key for a token. Throws an error of jose if no key or several keys of the set match, and a {@link
 * KeysUnavailableError} if the set cannot be read or fetched.
 */
export type FindKey = (header: JWSHeaderParameters, token: FlattenedJWSInput) => Promise<CryptoKey>;

/**
 * Returns the function that finds keys. If a key file has changed since the last call, returns a different function.
 * For a URL or a fixed set, always returns the same function.
 *
 * @throws KeysUnavailableError if the key file cannot be used.
 */
type KeySource = () => FindKey;

/** Milliseconds after a failed fetch in which no other fetch starts. */
const PAUSE = 1000;
/** Largest key file, in bytes. */
const MAX_FILE_BYTES = 1024 * 1024;
const NEVER = Number.NEGATIVE_INFINITY;
/** Properties of private and secret keys (RFC 7518, sections 6.2.2, 6.3.2 and 6.4). */
const SECRET_MEMBERS = ["d", "k", "p", "q", "dp", "dq", "qi", "oth"];

/**
 * Opens a source of keys.
 *
 * @param jwks - A JWK Set, the path or `file:` URL of a file with a JWK Set, or an `https:` URL. `http:` is accepted
 *   only on loopback, since whoever can change the answer can impersonate any caller.
 * @throws TypeError if `jwks` is anything else, or an option is wrong.
 */
export function keySource(
  jose: Jose,
  jwks: string | URL | PublicJwkSet,
  options: KeySourceOptions,
): KeySource {
  if (typeof jwks === "object" && !(jwks instanceof URL)) return fixedKeys(jose, jwks);
  const url = typeof jwks === "string" ? urlIn(jwks) : jwks;
  if (url === undefined) return fileKeys(jose, String(jwks), options);
  if (url.protocol === "file:") return fileKeys(jose, fileURLToPath(url), options);
  return remoteKeys(jose, checkedUrl(url), options);
}

function fixedKeys(jose: Jose, jwks: PublicJwkSet): KeySource {
  let find: FindKey;
  try {
    find = jose.createLocalJWKSet(checkedJwkSet(jwks));
  } catch (cause) {
    throw new TypeError(`jwks: ${reasonOf(cause)}`, { cause });
  }
  const known = findingOnly(find, "the JWK Set");
  return () => known;
}

function fileKeys(jose: Jose, path: string, options: KeySourceOptions): KeySource {
  const refreshEvery = checked(options.refreshEvery ?? 100, "refreshEvery");
  if (path === "") throw new TypeError("jwks: must be a JWK Set, a file, or an https: URL");
  const find = following(
    refreshEvery,
    () => fileStamp(path),
    () => findingOnly(jose.createLocalJWKSet(readJwkSet(readFileSync(path, "utf8"))), path),
  );
  return () => {
    try {
      return find();
    } catch (cause) {
      throw new KeysUnavailableError(path, reasonOf(cause), { cause });
    }
  };
}

function fileStamp(path: string): string {
  const stat = statSync(path, { bigint: true });
  // Reading a named pipe would wait for its writer.
  if (!stat.isFile()) throw new TypeError("it is not a regular file");
  if (stat.size > MAX_FILE_BYTES) throw new TypeError("it is larger than 1 MiB");
  return stampOf(stat);
}

function remoteKeys(jose: Jose, url: URL, options: KeySourceOptions): KeySource {
  const timeout = checked(options.jwksTimeout ?? 5, "jwksTimeout");
  const maxAge = checked(options.jwksMaxAge ?? 600, "jwksMaxAge");
  const cooldown = checked(options.jwksCooldown ?? 30, "jwksCooldown");
  let failure: unknown;
  let failedAt = NEVER;
  const find = jose.createRemoteJWKSet(url, {
    timeoutDuration: Math.round(timeout * 1000),
    cacheMaxAge: maxAge * 1000,
    cooldownDuration: cooldown * 1000,
    [jose.customFetch]: async (address, request) => {
      if (performance.now() - failedAt < PAUSE) throw failure;
      try {
        const response = await fetch(address, request);
        if (response.status !== 200) throw new TypeError(`it answers ${response.status}`);
        const text = await response.text();
        readJwkSet(text);
        return new Response(text);
      } catch (error) {
        failure = error;
        failedAt = performance.now();
        throw error;
      }
    },
  });
  const known = findingOnly(find, url.origin + url.pathname);
  return () => known;
}

/**
 * Wraps a function that finds keys. Its errors become KeysUnavailableErrors, except if no key or several keys of the
 * set match the token.
 */
function findingOnly(find: FindKey, source: string): FindKey {
  return async (header, token) => {
    try {
      return await find(header, token);
    } catch (error) {
      const code = errorCode(error);
      if (code === "ERR_JWKS_NO_MATCHING_KEY" || code === "ERR_JWKS_MULTIPLE_MATCHING_KEYS") {
        throw error;
      }
      throw new KeysUnavailableError(source, reasonOf(error), { cause: error });
    }
  };
}

/** Parses a URL; `undefined` for a path, including a Windows path. */
function urlIn(text: string): URL | undefined {
  return /^[a-z][a-z0-9+.-]+:/i.test(text) && URL.canParse(text) ? new URL(text) : undefined;
}

function checkedUrl(url: URL): URL {
  const { protocol, hostname, username, password } = url;
  if (protocol !== "https:" && protocol !== "http:") {
    throw new TypeError(`jwks: ${protocol} cannot be fetched; use https: or a file`);
  }
  if (protocol === "http:" && !/^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname)) {
    throw new TypeError(`jwks: http: is for loopback only; use https://${url.host}`);
  }
  if (username !== "" || password !== "") {
    throw new TypeError("jwks: the URL must not hold a user name or a password");
  }
  return url;
}

function checked(value: number, name: string): number {
  if (Number.isFinite(value) && value >= 0) return value;
  throw new TypeError(`${name} must be a number, 0 or more`);
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  if (errorCode(error) === "ERR_JWKS_TIMEOUT" || error.name === "TimeoutError") {
    return "no answer in time";
  }
  // Errors of fetch, and errors about several attempts, have the problem in their cause.
  const code = errorCode(error.cause) || errorCode(error);
  return code === "" || code.startsWith("ERR_J") ? error.message : reasonFor(code, "read");
}

/**
 * Checks that a value is a JWK Set of public keys, as far as possible before the keys are used.
 *
 * @throws TypeError that describes the problem without showing a key.
 */
export function checkedJwkSet(value: unknown): JSONWebKeySet {
  const given = isObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(given)) {
    throw new TypeError('it is not a JWK Set, an object with an array "keys"');
  }
  if (given.length === 0) throw new TypeError("it has no key");
  const keys = given.map((key: unknown, at) => {
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
  // RFC 7517, section 4, allows two ways to read duplicate properties: to refuse them, or to use the last one.
  // Duplicates are refused, as in all other files.
  assertNoTwin(text);
  return checkedJwkSet(value);
}

function isKey(value: unknown): value is { kty: string } {
  return isObject(value) && typeof value["kty"] === "string";
}

/**
 * Thrown if the authenticator cannot get the keys and so cannot authenticate any caller. This is a fault of the
 * service (503), not of its callers.
 */
export class KeysUnavailableError extends Error {
  override readonly name = "KeysUnavailableError";
  /** The file or the URL of the keys. */
  readonly source: string;

  constructor(source: string, reason: string, options?: ErrorOptions) {
    super(`no keys can be had from ${source}: ${reason}`, options);
    this.source = source;
  }
}
