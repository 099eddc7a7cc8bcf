import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  type Stats,
  statSync,
} from "node:fs";
import { assertNoTwin } from "../bytes/json.js";
import { assertString } from "../checks/kinds.js";
import {
  assertKeyring,
  importKeyring,
  type Keyring,
  type KeyringOptions,
} from "../issuer/keyring.js";
import { exposureOf, putPrivateFile } from "../storage/new-file.js";
import { keyFileError, StorageError } from "../storage/storage-error.js";
import { errorCode } from "../system/error-code.js";

/** Largest key file, in bytes; it has room for thousands of keys. */
const LARGEST = 1_048_576;

/**
 * Reads the keyring in a key file: a JWK Set that only its owner can open.
 *
 * @throws TypeError if the path is not a string, or an option is unknown.
 * @throws StorageError `key_file_missing`, `key_file_unreadable`, `key_file_malformed`, or `key_file_exposed` if
 *   the group or other users can open the file (not checked on Windows), or the file belongs neither to this user nor
 *   to root (not checked on Windows, or if this process runs as root).
 */
export function readKeyringFile(path: string, options: KeyringOptions = {}): Keyring {
  assertString(path, "path");
  let text: string;
  try {
    text = readPrivateText(path);
  } catch (error) {
    throw keyFileError(error, path, "read");
  }
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    // The parser's message would quote the file, including secrets.
    throw new StorageError("key_file_malformed", path, { detail: "it is not JSON" });
  }
  try {
    assertNoTwin(text);
    return importKeyring(set, options);
  } catch (error) {
    const detail = error instanceof TypeError ? error.message : "it is not a JWK Set";
    throw new StorageError("key_file_malformed", path, { detail });
  }
}

function readPrivateText(path: string): string {
  // Open without blocking: opening a named pipe would wait for its writer.
  const fd = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) {
      throw new StorageError("key_file_unreadable", path, { detail: "it is not a regular file" });
    }
    const uid = process.getuid?.() ?? 0;
    const foreign = uid !== 0 && stat.uid !== uid && stat.uid !== 0;
    const detail = exposureOf(stat) ?? (foreign ? "it belongs to another user" : undefined);
    if (detail !== undefined) throw new StorageError("key_file_exposed", path, { detail });
    if (stat.size > LARGEST) {
      throw new StorageError("key_file_malformed", path, { detail: "it is larger than 1 MiB" });
    }
    return readFileSync(fd, "utf8");
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes a keyring to a new key file with mode 0600. The file appears complete or not at all. An existing file
 * is never overwritten, even if two processes create the file at the same time.
 *
 * @throws TypeError if the path is not a string, or `keyring` is not a Keyring.
 * @throws StorageError `key_file_exists` or `key_file_unwritable`; no new file is left.
 */
export function createKeyringFile(path: string, keyring: Keyring): void {
  assertString(path, "path");
  assertKeyring(keyring, "keyring");
  try {
    putPrivateFile(path, textOf(keyring));
  } catch (error) {
    if (errorCode(error) !== "EEXIST") throw keyFileError(error, path, "write");
    throw new StorageError("key_file_exists", path, { cause: error });
  }
}

/**
 * Replaces the contents of a key file, which must be the keyring `expected`. At every moment, even if the
 * process is killed or the power fails, the file has one complete keyring. If the path is a symbolic link, its
 * target is replaced. The file keeps its owner.
 *
 * The comparison with `expected` happens right before the change, but not atomically. If several processes may
 * change the file, call this within {@link RevocationStore.exclusively}.
 *
 * @throws TypeError if the path is not a string, or a keyring is not a Keyring.
 * @throws StorageError `key_file_changed` if the file no longer has the keyring `expected`,
 *   `key_file_unwritable`, or one of the codes of {@link readKeyringFile}. The file is then unchanged, and no
 *   temporary file is left.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createKeyring } from "proviso/issuer";
 * import { createKeyringFile, readKeyringFile, replaceKeyringFile } from "proviso/stores";
 *
 * const path = join(mkdtempSync(join(tmpdir(), "proviso-")), "keys.json");
 * createKeyringFile(path, createKeyring());
 *
 * const present = readKeyringFile(path);
 * replaceKeyringFile(path, present.rotate(), present);
 * readKeyringFile(path).list().map((key) => key.mints); // => [false, true]
 * ```
 */
export function replaceKeyringFile(path: string, keyring: Keyring, expected: Keyring): void {
  assertString(path, "path");
  assertKeyring(keyring, "keyring");
  assertKeyring(expected, "expected");
  let target: string;
  let old: Stats;
  try {
    target = realpathSync(path);
    old = statSync(target);
  } catch (error) {
    throw keyFileError(error, path, "read");
  }
  try {
    const replace = (temporary: string): void => {
      if (textOf(readKeyringFile(path)) !== textOf(expected)) {
        throw new StorageError("key_file_changed", path);
      }
      renameSync(temporary, target);
    };
    putPrivateFile(target, textOf(keyring), replace, old);
  } catch (error) {
    throw keyFileError(error, path, "write");
  }
}

function textOf(keyring: Keyring): string {
  return `${JSON.stringify(keyring.exportJwkSet(), undefined, 2)}\n`;
}
