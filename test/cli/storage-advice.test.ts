import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { adviceForStorage } from "../../cli/storage-advice.js";
import { createKeyring } from "../../src/issuer/index.js";
import { StorageError } from "../../src/storage/storage-error.js";
import { createKeyringFile, readKeyringFile } from "../../src/stores/index.js";
import { posix, storageError } from "../issuer/support.js";
import { temporaryFolder } from "../support/temporary-folder.js";

test.runIf(posix)(
  "the advice for an exposed key file is a shell command that works for a path with quotes and spaces",
  async () => {
    const directory = join(temporaryFolder(), "it's here; rm");
    mkdirSync(directory);
    const path = join(directory, "keys.json");
    createKeyringFile(path, createKeyring());
    chmodSync(path, 0o644);
    const advice = adviceForStorage(await storageError(() => readKeyringFile(path)));
    spawnSync("sh", ["-c", advice.split(", ")[0] ?? ""]);
    expect(readKeyringFile(path).list()).toHaveLength(1);
  },
);

test.each([
  ["key_file_exposed", "chmod 600 /a/b, and rotate the keys if others may have read them"],
  ["store_exposed", "chmod 600 /a/b, and check that no revocation is gone"],
  ["store_full", "free space on its disk, then repeat"],
  ["store_read_only", "name the server that takes writes, or promote this one"],
  ["store_encoding", "make a database with ENCODING 'UTF8', and name that"],
  ["store_outdated", "move the home's folder away and run proviso init"],
  ["store_unavailable", "install proviso-cli again, with its optional dependencies"],
  ["store_unwritable", "let this user write to /a/b"],
  ["store_folder_unwritable", "let this user write to the folder /a/b"],
  ["key_file_unwritable", "let this user write to the folder /a, on a disk with space left"],
  ["store_version", "use the version of proviso that made it, or a later one"],
] as const)("the advice for the storage error %s is: %s", (code, advice) => {
  expect(adviceForStorage(new StorageError(code, "/a/b"))).toBe(advice);
});
