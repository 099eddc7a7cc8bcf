import type { Resource } from "../../src/agent/resources/resource.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";

/** A document that has at least one term of a query. */
export interface Match {
  readonly name: string;
  /** Some 200 characters of the text around what was found, on one line. */
  readonly snippet: string;
}

/** Characters of a query that are looked at. */
export const LONGEST_QUERY: number;

/**
 * Finds documents that have words of a query, those with most of them first. A word is found where a word of the
 * document begins with it, whatever its case and accents.
 *
 * @param query - Words and `"phrases in quotes"`; any text is a query, and without a word finds nothing.
 * @param resources - The documents to look at, and no others.
 * @param limit - 10 unless given.
 */
export function searchDocuments(
  folder: Pick<ResourceFolder, "readText">,
  query: string,
  resources: readonly Resource[],
  limit?: number,
): Promise<Match[]>;
