import { realpathSync } from "node:fs";
import { shown } from "../caveats/scalar.js";
import { assertString } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import { FolderItems, folderError } from "./folder-items.js";
import { loadFrontMatterReader } from "./front-matter.js";
import { ResourceFolder } from "./resource-folder.js";

const MAX_FILES = 10_000;
const MAX_TEXT_BYTES = 1_048_576;

/** Options for opening a folder. */
export interface FolderOptions {
  /** Receives each problem of a file once, for the operator. By default, problems are ignored. */
  readonly onProblem?: (message: string) => void;
  /** Maximum number of files and folders in one collection; 10,000 by default. */
  readonly maxFiles?: number;
  /** Largest text that can be read or written, in bytes of UTF-8; 1 MiB by default. */
  readonly maxTextBytes?: number;
}

/**
 * Opens a folder of text files as a source of resources. Each subfolder is a collection. An item is a file
 * whose name ends in `.md` or `.txt`, at any depth of a collection. Hidden files and folders are ignored, and
 * symbolic links are not followed. Files may be added, changed and removed at any time. This function needs the
 * package yaml.
 *
 * Filters can use the fields in a file's front matter: YAML between two lines `---` at its start, at most 64
 * KiB with at most 64 fields. A field is a string of at most 1024 characters, a number, a boolean or null. A
 * date is a string, exactly as written. Lists, objects and integers beyond 2^53 are not fields.
 *
 * The display name of an item is the field `title`, or else the file's name. If the front matter is invalid, or
 * has an alias or a tag, `onProblem` is called. The file then has no fields at all, so that it matches no
 * condition. If this process may not read a file or folder, every query that needs the file or folder fails,
 * instead of returning fewer items.
 *
 * The folder is read synchronously. It should have at most several thousand files.
 *
 * @throws TypeError if an option is wrong.
 * @throws ResourceError `source_missing`, `source_unreadable`, `source_too_large`, `item_unreadable`, or
 *   `source_unavailable` if yaml is not installed.
 *
 * @example
 * ```ts
 * import { mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { openFolder } from "proviso/sources";
 *
 * const path = mkdtempSync(join(tmpdir(), "proviso-"));
 * mkdirSync(join(path, "reports"));
 * const text = "---\ntitle: Third quarter\nyear: 2025\n---\nAll went well.\n";
 * writeFileSync(join(path, "reports", "q3.md"), text);
 *
 * const folder = await openFolder(path);
 * const found = await folder.find({ collection: "reports", filter: { year: { min: 2024 } } });
 * found.ok ? found.resources.map((report) => report.displayName) : found.denial.message;
 * // => ["Third quarter"]
 * (await folder.get("reports/q3.md"))?.fields; // => { title: "Third quarter", year: 2025 }
 * ```
 */
export async function openFolder(
  path: string,
  options: FolderOptions = {},
): Promise<ResourceFolder> {
  assertString(path, "path");
  assertMembers(options, ["onProblem", "maxFiles", "maxTextBytes"], "options");
  const { onProblem = () => {}, maxFiles = MAX_FILES, maxTextBytes = MAX_TEXT_BYTES } = options;
  for (const [name, value] of Object.entries({ maxFiles, maxTextBytes })) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new TypeError(`${name} must be a whole number of at least 1, not ${shown(value)}`);
    }
  }
  const readFrontMatter = await loadFrontMatterReader(path);
  let root: string;
  try {
    root = realpathSync.native(path);
  } catch (error) {
    throw folderError(path, error);
  }
  const items = new FolderItems({ root, readFrontMatter, maxFiles, onProblem });
  // Read everything once. A wrong folder or limit is then reported now, rather than at the first query.
  for (const collection of items.collections()) items.all(collection);
  return new ResourceFolder(root, items, maxTextBytes);
}
