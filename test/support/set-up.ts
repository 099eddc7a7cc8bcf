import { afterAll } from "vitest";
import { removeTemporaryFolders } from "./temporary-folder.js";

// Run before every test file; its hooks come after those of the file.
afterAll(removeTemporaryFolders);
