import { afterAll, vi } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.js";

// Runs before every test file; its hooks run after those of the file.
afterAll(removeTemporaryFolders);
// Files share a process, so a console silenced by one must be restored for the next.
afterAll(() => {
  vi.restoreAllMocks();
});
