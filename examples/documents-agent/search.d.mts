import type { Resource } from "../../src/agent/resources/resource.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";

/** A document that has at least one term of a query. */
export interface Match {
  readonly name: string;
  /** Some 200 characters of the text around the match, on one line. */
  readonly snippet: string;
}

/** Longest part of a query that is used, in characters. */
export const LONGEST_QUERY: number;

/**
 * Finds documents with words of a query, those with most of them first. A query word matches the beginning of a
 * word of the document, ignoring case and accents.
 *
 * @param query - Words and `"phrases in quotes"`; any string is a query. A query without a word finds nothing.
 * @param resources - The documents to search; no others are read.
 * @param limit - Most results; 10 unless given.
 */
export function searchDocuments(
  folder: Pick<ResourceFolder, "readText">,
  query: string,
  resources: readonly Resource[],
  limit?: number,
): Promise<Match[]>;
