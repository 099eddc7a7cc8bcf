import { assertNoTwin, isJsonObject, type Json } from "../src/bytes/json.js";
import { importKeyring, type Keyring } from "../src/issuer/keyring.js";
import type { RootJwk } from "../src/issuer/root-jwk.js";
import type { Context } from "./context.js";
import { asUsage, usageError } from "./exit.js";
import { readTextArgument } from "./token-argument.js";

const HINT = "give what proviso keys export printed: a JWK, or a JWK Set";

/**
 * Reads root keys from a file written by `keys export`. The returned keys check tokens, but do not mint.
 *
 * @param file - The file's name, with or without a leading @, or `-` for standard input.
 * @throws CliError if the file cannot be read or contains no root keys. The message never shows a secret.
 */
export function readKeys(context: Context, file: string): readonly RootJwk[] {
  const source = file === "-" || file.startsWith("@") ? file : `@${file}`;
  const text = readTextArgument(context, source, "key");
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch (error) {
    // The parser's own message would quote the text, including secrets.
    if (!(error instanceof SyntaxError)) throw error;
    throw usageError("this is not JSON", HINT);
  }
  asUsage(() => assertNoTwin(text), HINT);
  const set = isJsonObject(value) ? (value["keys"] ?? [value]) : [];
  const listed: readonly Json[] = Array.isArray(set) ? set : [];
  if (listed.length === 0) throw usageError("there is no key in it", HINT);
  const [first = null, ...others] = listed.map(
    (key: Json): Json => (isJsonObject(key) ? { ...key, key_ops: ["verify"] } : key),
  );
  // A valid keyring needs one key that mints. The exported keys may not include such a key.
  const signing = isJsonObject(first) ? { ...first, key_ops: ["sign", "verify"] } : first;
  const keyring = asUsage(() => importKeyring({ keys: [signing, ...others] }), HINT);
  if (keyring.service !== undefined) {
    throw usageError(`these are keys of the service ${keyring.service}, not root keys`, HINT);
  }
  return keyring.exportJwkSet().keys.map((key) => ({ ...key, key_ops: ["verify"] }));
}

/**
 * Adds keys to a keyring. Keys that the keyring already has do not change.
 *
 * @param minting - The id of the key that mints from now on; by default, the key that mints already.
 * @throws CliError if the keyring has a different key with the same id.
 */
export function withKeys(
  present: Keyring,
  added: readonly RootJwk[],
  minting: string | undefined,
): Keyring {
  const own = present.exportJwkSet().keys;
  const fresh = added.filter(({ kid, k }) => {
    const known = own.find((key) => key.kid === kid);
    if (known === undefined || known.k === k) return known === undefined;
    const hint = "proviso keys list shows the keys that are here";
    throw usageError(`${kid} is the id of another key here`, hint);
  });
  const mints = minting ?? present.minting.kid;
  const keys = [...fresh, ...own].map((key) => ({
    ...key,
    key_ops: key.kid === mints ? ["sign", "verify"] : ["verify"],
  }));
  return asUsage(() => importKeyring({ keys }), HINT);
}
