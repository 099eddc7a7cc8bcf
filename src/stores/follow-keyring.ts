import { statSync } from "node:fs";
import { assertString } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import { KEYRING_OPTIONS, type Keyring, type KeyringOptions } from "../issuer/keyring.js";
import { keyFileError } from "../storage/storage-error.js";
import { following, stampOf } from "../system/file-stamp.js";
import { readKeyringFile } from "./keyring-file.js";

/** The interval between checks of a followed key file. */
export interface FollowOptions extends KeyringOptions {
  /**
   * Milliseconds between two checks of the file for a change; 100 unless given. A check happens when the
   * keyring is used; with 0, every use checks the file.
   */
  readonly refreshEvery?: number;
}

/**
 * Follows a key file, so that a running service notices when keys are rotated or retired. Returns a function
 * that returns the current keyring.
 *
 * @returns The function, for the option `keys` of {@link createIssuer}. While the file cannot be read, the
 *   function throws a `StorageError` as {@link readKeyringFile} does, so that nothing is minted or allowed.
 * @throws TypeError if the path is not a string, or an option is not valid.
 * @throws StorageError as {@link readKeyringFile} does, if the file cannot be read at the start.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 * import { createKeyringFile, followKeyringFile, replaceKeyringFile } from "proviso/stores";
 *
 * const path = join(mkdtempSync(join(tmpdir(), "proviso-")), "keys.json");
 * const old = createKeyring();
 * createKeyringFile(path, old);
 * const keys = followKeyringFile(path, { refreshEvery: 0 });
 * const issuer = createIssuer({ name: "a", keys, revocations: createRevocationList() });
 * const { token } = issuer.mint({ grant: "g", operations: ["get"] });
 *
 * replaceKeyringFile(path, old.rotate().retire(old.minting.kid), old);
 * const refused = issuer.authorize(token, { grant: "g", operation: "get" });
 * refused.allowed ? "" : refused.denials[0].code; // => "unknown_key"
 * ```
 */
export function followKeyringFile(path: string, options: FollowOptions = {}): () => Keyring {
  assertString(path, "path");
  assertMembers(options, ["refreshEvery", ...KEYRING_OPTIONS], "options");
  const { refreshEvery = 100, ...keyringOptions } = options;
  if (!Number.isFinite(refreshEvery) || refreshEvery < 0) {
    throw new TypeError("refreshEvery must be 0 or more milliseconds");
  }
  const keyring = following(
    refreshEvery,
    () => fileStamp(path),
    () => readKeyringFile(path, keyringOptions),
  );
  keyring();
  return keyring;
}

// A key file is always replaced as a whole, so another inode or modification time means another keyring.
function fileStamp(path: string): string {
  try {
    return stampOf(statSync(path, { bigint: true }));
  } catch (error) {
    throw keyFileError(error, path, "read");
  }
}
