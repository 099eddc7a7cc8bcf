import { statSync } from "node:fs";
import { assertString } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import { KEYRING_OPTIONS, type Keyring, type KeyringOptions } from "../issuer/keyring.js";
import { keyFileError } from "../storage/storage-error.js";
import { following, stampOf } from "../system/file-stamp.js";
import { readKeyringFile } from "./keyring-file.js";

/** How current a followed key file must be. */
export interface FollowOptions extends KeyringOptions {
  /**
   * Milliseconds for which the keyring is used without looking whether the file has changed; 100
   * unless given, 0 looks each time.
   */
  readonly refreshEvery?: number;
}

/**
 * A function that gives the keyring in a key file as it is now, for a service that is to take part
 * in rotation and retirement while it runs.
 *
 * @returns For the `keys` of {@link createIssuer}. It throws a `StorageError`, as
 *   {@link readKeyringFile} does, while the file cannot be read: then nothing is minted or allowed.
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

// A key file is only ever replaced whole, so another file, or another time, is another keyring.
function fileStamp(path: string): string {
  try {
    return stampOf(statSync(path, { bigint: true }));
  } catch (error) {
    throw keyFileError(error, path, "read");
  }
}
