import { afterAll, vi } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.js";

// Run before every test file; its hooks come after those of the file.
afterAll(removeTemporaryFolders);
// Files share a process: a console that one has silenced must speak in the next.
afterAll(() => {
  vi.restoreAllMocks();
});
