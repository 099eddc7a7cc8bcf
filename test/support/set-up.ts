import fc from "fast-check";
import { afterAll, vi } from "vitest";
import { SEED } from "./seed.js";
import { removeTemporaryFolders } from "./temporary-folder.js";

// This file runs before every test file, and its hooks run after the hooks of the test file.
afterAll(removeTemporaryFolders);
fc.configureGlobal({ seed: SEED });
// Test files share a process, so a console that one file has silenced must be restored for the next file.
afterAll(() => {
  vi.restoreAllMocks();
});
