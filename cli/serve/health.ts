import type { HealthCheck } from "../../src/http/status.js";
import type { Keyring } from "../../src/issuer/keyring.js";
import { StorageError } from "../../src/storage/storage-error.js";
import type { StoreDatabase } from "../../src/stores/database.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";

/** What an agent cannot work without. */
export interface Needs {
  readonly database: StoreDatabase;
  readonly revocations: RevocationStore;
  /** @throws StorageError if the key file cannot be read. */
  readonly keys: () => Keyring;
}

/**
 * Finds what keeps an agent from its work: `disk_nearly_full`, `revocation_stale`, or the code of the
 * key file's StorageError, such as `key_file_missing`.
 */
export function healthOf({ database, revocations, keys }: Needs): HealthCheck {
  return async () => [
    ...((await database.hasRoom()) ? [] : ["disk_nearly_full"]),
    ...(revocations.isCurrent() ? [] : ["revocation_stale"]),
    ...keyProblems(keys),
  ];
}

function keyProblems(keys: () => Keyring): string[] {
  try {
    keys();
    return [];
  } catch (error) {
    return [error instanceof StorageError ? error.code : "key_file_unreadable"];
  }
}
