import type { Resource } from "../../src/agent/resources/resource.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";

/** A document that contains at least one term of a query. */
export interface Match {
  readonly name: string;
  /** About 200 characters of the text around the match, on one line. */
  readonly snippet: string;
}

/** The number of characters of a query that are used. The characters after them are ignored. */
export const LONGEST_QUERY: number;

/**
 * Finds the documents that contain words of a query. Documents with more of the words come first. A query word
 * matches the beginning of a word in the document, ignoring case and accents.
 *
 * @param query - Words, and `"phrases in quotes"`. Any string is a valid query; a query without a word finds
 *   nothing.
 * @param resources - The documents to search. Other documents are not read.
 * @param limit - Maximum number of results; 10 by default.
 */
export function searchDocuments(
  folder: Pick<ResourceFolder, "readText">,
  query: string,
  resources: readonly Resource[],
  limit?: number,
): Promise<Match[]>;
