import { type Dirent, readdirSync } from "node:fs";
import { join } from "node:path";
import { MAX_RESOURCE_NAME_BYTES } from "../agent/resources/filter.js";
import type { Resource } from "../agent/resources/resource.js";
import { errorCode, reasonFor } from "../system/error-code.js";
import { collectionResource } from "./collection-names.js";
import { isReal, orAbsent, withFile } from "./folder-file.js";
import { isSegment, isTextFile, readFolderName } from "./folder-names.js";
import { type FrontMatterReader, HEAD_BYTES } from "./front-matter.js";
import { ResourceError } from "./resource-error.js";

const MAX_REPORTED = 1000;

/** Options for the items of a folder. */
export interface FolderItemsOptions {
  /** The real path of the folder. */
  readonly root: string;
  readonly readFrontMatter: FrontMatterReader;
  /** Maximum number of files and folders in one collection. */
  readonly maxFiles: number;
  readonly onProblem: (message: string) => void;
}

interface Known {
  readonly signature: string;
  readonly settled: boolean;
  readonly resource: Resource;
}

/** The files of a folder, as resources. If a file changes, its front matter is read again. */
export class FolderItems {
  readonly #options: FolderItemsOptions;
  /** Files that have been read, by the resource's name. */
  readonly #known: Map<string, Known> = new Map<string, Known>();
  /** Problems that have been reported, by the name of the file or folder. */
  readonly #told: Map<string, string> = new Map<string, string>();

  constructor(options: FolderItemsOptions) {
    this.#options = options;
  }

  /**
   * Returns the names of the collections in ascending order.
   *
   * @throws ResourceError `source_missing` or `source_unreadable`.
   */
  collections(): string[] {
    const { root } = this.#options;
    try {
      return readdirSync(root, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && isSegment(entry.name))
        .map((entry) => entry.name)
        .sort();
    } catch (error) {
      throw folderError(root, error);
    }
  }

  /**
   * Returns every item of an existing collection, in ascending order of names.
   *
   * @throws ResourceError `source_too_large`, `source_unreadable` or `item_unreadable`.
   */
  all(collection: string): Resource[] {
    const names = this.#names(collection).sort();
    const present = new Set(names);
    for (const name of this.#known.keys()) {
      if (name.startsWith(`${collection}/`) && !present.has(name)) this.#known.delete(name);
    }
    return names.flatMap((name) => this.#item(name, collection) ?? []);
  }

  /**
   * Returns the item or collection with this name as it is now; `undefined` if it does not exist.
   *
   * @throws ResourceError `item_unreadable`; for a collection, as {@link FolderItems.collections} does.
   */
  get(name: string): Resource | undefined {
    const read = readFolderName(name);
    const collection = read?.segments[0];
    if (read === undefined || collection === undefined) return undefined;
    if (read.kind === "item") return this.#item(name, collection);
    if (!this.collections().includes(collection)) return undefined;
    return collectionResource(collection);
  }

  #item(name: string, collection: string): Resource | undefined {
    const path = join(this.#options.root, name);
    const fileName = name.slice(name.lastIndexOf("/") + 1);
    const about = { name, collection, kind: "item" } as const;
    let found: Known | undefined;
    try {
      found = withFile(path, ({ signature, settled, read }) => {
        const known = this.#known.get(name);
        if (known?.settled === true && known.signature === signature) return known;
        const { fields, problem } = this.#options.readFrontMatter(read(HEAD_BYTES));
        this.#tell(name, problem);
        const title = Object.hasOwn(fields, "title") ? fields["title"] : undefined;
        const titled = typeof title === "number" || (typeof title === "string" && title !== "");
        const displayName = titled ? String(title) : fileName;
        return { signature, settled, resource: { ...about, displayName, fields } };
      });
    } catch (error) {
      throw new ResourceError("item_unreadable", name, reasonFor(errorCode(error), "read"), error);
    }
    if (found === undefined) this.#known.delete(name);
    else this.#known.set(name, found);
    return found?.resource;
  }

  #names(collection: string): string[] {
    const { root, maxFiles } = this.#options;
    const names: string[] = [];
    const open = [collection];
    let seen = 0;
    for (let folder = open.pop(); folder !== undefined; folder = open.pop()) {
      for (const entry of this.#entries(folder)) {
        const isFolder = entry.isDirectory();
        if (entry.name.startsWith(".") || !(isFolder || isTextFile(entry.name))) continue;
        if (++seen > maxFiles) {
          const detail = `${collection} has more than ${maxFiles} files and folders`;
          throw new ResourceError("source_too_large", root, detail);
        }
        const name = `${folder}/${entry.name}`;
        const usable = isSegment(entry.name) && Buffer.byteLength(name) <= MAX_RESOURCE_NAME_BYTES;
        if (!usable) this.#tell(name, "its name cannot be that of a resource");
        else if (isFolder) open.push(name);
        else if (entry.isFile()) names.push(name);
        else this.#tell(name, "it is not a regular file; links are not followed");
      }
    }
    return names;
  }

  #entries(folder: string): Dirent[] {
    const path = join(this.#options.root, folder);
    try {
      return orAbsent(() => (isReal(path) ? readdirSync(path, { withFileTypes: true }) : [])) ?? [];
    } catch (error) {
      throw new ResourceError(
        "source_unreadable",
        path,
        reasonFor(errorCode(error), "read"),
        error,
      );
    }
  }

  /**
   * Reports a problem of a file or folder to the operator, if it was not reported before. `undefined` means
   * that there is no problem any more.
   */
  #tell(name: string, problem: string | undefined): void {
    if (this.#told.get(name) === problem) return;
    if (problem === undefined) this.#told.delete(name);
    else {
      if (this.#told.size >= MAX_REPORTED) this.#told.clear();
      this.#told.set(name, problem);
      this.#options.onProblem(`${join(this.#options.root, name)}: ${problem}`);
    }
  }
}

/** Returns the error for a folder that is missing or unreadable. */
export function folderError(path: string, error: unknown): ResourceError {
  const reason = errorCode(error);
  if (reason === "ENOENT") return new ResourceError("source_missing", path, "", error);
  return new ResourceError("source_unreadable", path, reasonFor(reason, "read"), error);
}
