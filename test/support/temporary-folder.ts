import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders: string[] = [];

/** A new empty folder, which is gone when the test file is done. @param parent - Made if need be. */
export function temporaryFolder(parent: string = tmpdir()): string {
  mkdirSync(parent, { recursive: true });
  const folder = mkdtempSync(join(parent, "proviso-test-"));
  folders.push(folder);
  return folder;
}

/** Removes what {@link temporaryFolder} made: called after the last test of every file. */
export function removeTemporaryFolders(): void {
  for (const folder of folders.splice(0)) {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
