import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

/**
 * Makes an empty folder that is removed at the end of the test file.
 *
 * @param parent - The parent folder, which is created if it does not exist.
 */
export function temporaryFolder(parent: string = tmpdir()): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "proviso-test-"));
  folders.push(folder);
  return folder;
}

/** Removes the folders of {@link temporaryFolder}; called after the last test of every file. */
export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
