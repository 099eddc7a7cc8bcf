import { realpathSync } from "node:fs";
import { shown } from "../caveats/scalar.js";
import { assertString } from "../checks/kinds.js";
import { assertMembers } from "../checks/members.js";
import { FolderItems, folderError } from "./folder-items.js";
import { loadFrontMatterReader } from "./front-matter.js";
import { ResourceFolder } from "./resource-folder.js";

const MAX_FILES = 10_000;
/** Size in bytes. */
const MAX_TEXT_BYTES = 1_048_576;

/** Options for opening a folder. */
export interface FolderOptions {
  /** Called once for each problem of a file, for the operator; problems are ignored unless given. */
  readonly onProblem?: (message: string) => void;
  /** Most files and folders in one collection; 10,000 unless given. */
  readonly maxFiles?: number;
  /** Most bytes of UTF-8 read or written at once; 1 MiB unless given. */
  readonly maxTextBytes?: number;
}

/**
 * Opens a folder of text files as a source of resources. Each subfolder is a collection. Each file in a
 * collection, at any depth, whose name ends in `.md` or `.txt` is an item. Hidden files and folders are
 * ignored, and symbolic links are not followed. Files may be added, changed and removed at any time. Needs the
 * package yaml.
 *
 * Filters can use the fields in a file's front matter: YAML between two lines `---` at its start, at most 64
 * KiB with at most 64 fields. A field is a string of at most 1024 characters, a number, a boolean or null; a
 * date is a string, exactly as written. Lists, objects and integers beyond 2^53 are not fields. Callers see the
 * field `title`, or else the file's name. A file whose front matter is invalid, or has an alias or a tag, has
 * no fields at all, so that it matches no condition; `onProblem` is called. If this process may not read a file
 * or folder, every query that needs it fails, rather than returning fewer items.
 *
 * Reads synchronously. Meant for some thousands of files.
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
  // Reports a wrong folder or limit when it is opened, rather than at the first query.
  for (const collection of items.collections()) items.all(collection);
  return new ResourceFolder(root, items, maxTextBytes);
}
