import { renameSync } from "node:fs";
import { join } from "node:path";
import { checkFilter, matches, unknownCollection } from "../agent/resources/filter.js";
import type {
  QueryResult,
  Resource,
  ResourceQuery,
  ResourceSource,
} from "../agent/resources/resource.js";
import { decodeUtf8, isWellFormed } from "../bytes/utf8.js";
import { shown } from "../caveats/scalar.js";
import { putPrivateFile } from "../storage/new-file.js";
import { errorCode, reasonFor } from "../system/error-code.js";
import { collectionIn } from "./collection-names.js";
import { type OpenFile, removeFile, withFile } from "./folder-file.js";
import type { FolderItems } from "./folder-items.js";
import { isNewFileName, isSegment, readFolderName } from "./folder-names.js";
import { ResourceError, type ResourceErrorCode } from "./resource-error.js";

/**
 * A folder of text files, opened by {@link openFolder}. The name of a resource is its path in the folder, such
 * as `reports/2025/q3.md`. The name of a collection ends in a slash, such as `reports/`.
 *
 * @example
 * ```ts
 * import { mkdirSync, mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { openFolder } from "proviso/sources";
 *
 * const path = mkdtempSync(join(tmpdir(), "proviso-"));
 * mkdirSync(join(path, "notes"));
 * const folder = await openFolder(path);
 *
 * const name = await folder.create("notes", "milk.md", "Buy milk.\n");
 * name; // => "notes/milk.md"
 * await folder.writeText(name, "Buy oat milk.\n");
 * await folder.readText(name); // => "Buy oat milk.\n"
 * await folder.remove(name);
 * await folder.get(name); // => undefined
 * ```
 */
export class ResourceFolder implements ResourceSource {
  readonly #root: string;
  readonly #items: FolderItems;
  readonly #maxTextBytes: number;

  /** @internal */
  constructor(root: string, items: FolderItems, maxTextBytes: number) {
    this.#root = root;
    this.#items = items;
    this.#maxTextBytes = maxTextBytes;
  }

  /** Returns the names of the subfolders in ascending order, including empty ones. */
  async collections(): Promise<readonly string[]> {
    return this.#items.collections();
  }

  /**
   * Returns items of one collection, in ascending order of names. A filter can use any field of any item.
   *
   * @throws ResourceError `source_missing`, `source_unreadable`, `source_too_large`, or `item_unreadable`.
   */
  async find({ collection, filter = {} }: ResourceQuery): Promise<QueryResult> {
    const collections = this.#items.collections();
    if (!collections.includes(collection)) {
      return { ok: false, denial: unknownCollection(collection, collections) };
    }
    const items = this.#items.all(collection);
    const fields = new Set(items.flatMap((item) => Object.keys(item.fields)));
    const denial = checkFilter(filter, [...fields].sort());
    if (denial !== undefined) return { ok: false, denial };
    return { ok: true, resources: items.filter((item) => matches(item, filter)) };
  }

  /**
   * Returns the item or collection with this name; `undefined` if it does not exist.
   *
   * @throws ResourceError `item_unreadable`; for a collection, `source_missing` or `source_unreadable`.
   */
  async get(name: string): Promise<Resource | undefined> {
    return this.#items.get(name);
  }

  collectionOf(name: string): string | undefined {
    return collectionIn(name);
  }

  async nameOfCollection(collection: string): Promise<string | undefined> {
    return this.#items.collections().includes(collection) ? `${collection}/` : undefined;
  }

  /**
   * Reads the whole text of an item, including its front matter.
   *
   * @throws ResourceError `name_invalid`, `item_missing`, `item_too_large`, or `item_unreadable`. The last of
   *   these also means that the file is not UTF-8.
   */
  async readText(name: string): Promise<string> {
    const path = this.#pathOf(name);
    const read = (file: OpenFile): string => {
      const most = this.#maxTextBytes;
      const bytes = file.size > most ? undefined : file.read(most + 1);
      if (bytes === undefined || bytes.length > most) {
        throw new ResourceError("item_too_large", name, `more than ${most} bytes`);
      }
      const decoded = decodeUtf8(bytes);
      if (decoded !== undefined) return decoded;
      throw new ResourceError("item_unreadable", name, "it is not UTF-8");
    };
    const text = attempt(name, "item_unreadable", () => withFile(path, read));
    if (text === undefined) throw new ResourceError("item_missing", name);
    return text;
  }

  /**
   * Replaces the text of an item atomically. The new file has mode 0600. The text includes the front matter, so
   * a party that may write the text also controls the item's fields.
   *
   * @throws ResourceError `name_invalid`, `item_missing`, `text_invalid`, `item_too_large`, or
   *   `item_unwritable`. The item is then unchanged.
   */
  async writeText(name: string, text: string): Promise<void> {
    const path = this.#pathOf(name);
    this.#assertText(name, text);
    this.#change(name, path, () => putPrivateFile(path, text, renameSync));
  }

  /**
   * Creates an item directly in an existing collection, and returns its name. The file has mode 0600.
   *
   * @param fileName - A name such as `q3.md`. It has at most 200 bytes, ends in `.md` or `.txt`, and does not
   *   begin with a dot.
   * @throws ResourceError `name_invalid`, `collection_missing`, `item_exists`, `text_invalid`,
   *   `item_too_large`, or `item_unwritable`. No file is then left behind.
   */
  async create(collection: string, fileName: string, text: string): Promise<string> {
    if (!isSegment(collection) || !this.#items.collections().includes(collection)) {
      throw new ResourceError("collection_missing", shown(collection));
    }
    const name = `${collection}/${fileName}`;
    if (!isNewFileName(fileName) || readFolderName(name) === undefined) {
      const detail = "a file's name of at most 200 bytes, ending in .md or .txt, is expected";
      throw new ResourceError("name_invalid", shown(fileName), detail);
    }
    this.#assertText(name, text);
    const path = join(this.#root, collection, fileName);
    attempt(name, "item_unwritable", () => putPrivateFile(path, text));
    return name;
  }

  /**
   * Removes an item.
   *
   * @throws ResourceError `name_invalid`, `item_missing`, or `item_unwritable`.
   */
  async remove(name: string): Promise<void> {
    const path = this.#pathOf(name);
    this.#change(name, path, () => removeFile(path));
  }

  #change(name: string, path: string, change: () => void): void {
    attempt(name, "item_unwritable", () => {
      if (withFile(path, () => true) === undefined) throw new ResourceError("item_missing", name);
      change();
    });
  }

  #pathOf(name: string): string {
    const read = readFolderName(name);
    if (read?.kind === "item") return join(this.#root, ...read.segments);
    throw new ResourceError("name_invalid", shown(name), "an item's name is expected");
  }

  #assertText(name: string, text: string): void {
    if (typeof text !== "string") throw new TypeError("the text must be a string");
    if (!isWellFormed(text)) {
      throw new ResourceError("text_invalid", name, "it has a lone surrogate");
    }
    if (Buffer.byteLength(text) <= this.#maxTextBytes) return;
    throw new ResourceError("item_too_large", name, `more than ${this.#maxTextBytes} bytes`);
  }
}

/** Runs `action`, and converts its errors to errors about the item. */
function attempt<T>(name: string, otherwise: ResourceErrorCode, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (error instanceof ResourceError) throw error;
    const reason = errorCode(error);
    if (reason === "EEXIST") throw new ResourceError("item_exists", name, "", error);
    if (reason === "ENOENT") throw new ResourceError("item_missing", name, "", error);
    throw new ResourceError(otherwise, name, reasonFor(reason, "write"), error);
  }
}
