// The search index of a folder that others write to: what is searched is first brought up to date.
import { lstatSync } from "node:fs";
import { join } from "node:path";
import { splitFrontMatter } from "./front-matter.mjs";

/** @import { Resource } from "../../src/agent/resources/resource.js" */
/** @import { ResourceFolder } from "../../src/sources/resource-folder.js" */
/** @import { FollowedIndex } from "./followed-index.mjs" */
/** @import { SearchIndex } from "./search-index.mjs" */

/** Milliseconds after which a further change of a file is sure to show in its times. */
const SETTLED = 2000;

/** @type {typeof import("./followed-index.mjs").followFolder} */
export function followFolder(index, folder, path) {
  return new FolderIndex(index, folder, path);
}

/** @implements {FollowedIndex} */
class FolderIndex {
  #index;
  #folder;
  #path;

  /**
   * @param {SearchIndex} index
   * @param {Pick<ResourceFolder, "collections" | "find" | "readText">} folder
   * @param {string} path
   */
  constructor(index, folder, path) {
    this.#index = index;
    this.#folder = folder;
    this.#path = path;
  }

  /** @type {FollowedIndex["update"]} */
  async update() {
    const gone = new Set(this.#index.versions().keys());
    let count = 0;
    for (const collection of await this.#folder.collections()) {
      const found = await this.#folder.find({ collection });
      const resources = found.ok ? found.resources : [];
      await this.#updateAll(resources);
      for (const { name } of resources) gone.delete(name);
      count += resources.length;
    }
    for (const name of gone) this.#index.remove(name);
    return count;
  }

  /** @type {FollowedIndex["search"]} */
  async search(query, resources, limit) {
    await this.#updateAll(resources);
    const names = resources.map(({ name }) => name);
    return this.#index.search(query, names, limit);
  }

  /** @param {readonly Resource[]} resources */
  async #updateAll(resources) {
    for (const resource of resources) {
      const { name } = resource;
      const version = this.#versionOf(name);
      if (version === undefined) this.#index.remove(name);
      else if (version === "" || version !== this.#index.versionOf(name)) {
        await this.#put(resource, version);
      }
    }
  }

  /**
   * @param {Resource} resource
   * @param {string} version - As it was before the text is read: if it changes meanwhile, it is read again.
   */
  async #put({ name, displayName, fields }, version) {
    let file;
    try {
      file = await this.#folder.readText(name);
    } catch (error) {
      if (!isOfOneItem(error)) throw error;
      this.#index.remove(name);
      return;
    }
    // Authors, quarters and the like are found as if they stood in the title.
    const words = Object.entries(fields).flatMap(([field, value]) =>
      typeof value === "string" && field !== "title" ? [value] : [],
    );
    const { body } = splitFrontMatter(file);
    this.#index.put(name, [displayName, ...words].join("\n"), body, version);
  }

  /**
   * What changes whenever the file does; empty if it changed so lately that this is not certain, and
   * `undefined` if it is not there.
   *
   * @param {string} name
   */
  #versionOf(name) {
    const stat = lstatSync(join(this.#path, name), { bigint: true, throwIfNoEntry: false });
    if (stat === undefined) return undefined;
    if (Date.now() - Number(stat.ctimeMs) <= SETTLED) return "";
    return [stat.ino, stat.size, stat.mtimeNs, stat.ctimeNs].join(":");
  }
}

/**
 * Whether an error of the folder's says that there is no text to find here: the item is gone, too large,
 * or not UTF-8. Where the system itself has failed, the error has a cause, and says nothing of the kind.
 *
 * @param {unknown} error
 */
function isOfOneItem(error) {
  if (!(error instanceof Error && "code" in error)) return false;
  if (error.code === "item_unreadable") return error.cause === undefined;
  return error.code === "item_missing" || error.code === "item_too_large";
}
