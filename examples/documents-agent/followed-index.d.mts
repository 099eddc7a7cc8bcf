import type { Resource } from "../../src/agent/resources/resource.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";
import type { Match, SearchIndex } from "./search-index.mjs";

/** The search index of a folder that others write to. */
export interface FollowedIndex {
  /**
   * Brings the index up to date with the whole folder, so that no search has to wait for much.
   *
   * @returns How many documents there are.
   */
  update(): Promise<number>;
  /**
   * Searches these resources, as their files are now, and no others.
   *
   * @param query - See `SearchIndex`.
   * @param limit - From 1 to 100; 10 unless given.
   */
  search(query: string, resources: readonly Resource[], limit?: number): Promise<Match[]>;
}

/**
 * Makes an index follow a folder: before each search, files that have changed are read again.
 *
 * @param path - The folder's.
 */
export function followFolder(
  index: SearchIndex,
  folder: Pick<ResourceFolder, "collections" | "find" | "readText">,
  path: string,
): FollowedIndex;
