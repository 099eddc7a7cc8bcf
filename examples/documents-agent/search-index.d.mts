/** A document that has at least one term of a query. */
export interface Match {
  readonly name: string;
  /** Some 32 words of the text around what was found, on one line. */
  readonly snippet: string;
  /**
   * BM25: higher is better, among documents with as many of the terms, and within one search only.
   */
  readonly rank: number;
}

/** A full-text index. Names are whatever the documents are known by, such as a `Resource`'s name. */
export interface SearchIndex {
  /**
   * Adds a document, or puts it in the place of the one with that name.
   *
   * @param version - Changes whenever the document does; see `versions`.
   * @throws TypeError if the name is empty, not well formed, or has a NUL.
   */
  put(name: string, title: string, text: string, version?: string): void;
  /** Removes a document, if it is there. */
  remove(name: string): void;
  /** The version of every document in the index, by name. */
  versions(): ReadonlyMap<string, string>;
  /** The version of one document, `undefined` if it is not in the index. */
  versionOf(name: string): string | undefined;
  /**
   * Finds documents, those with most of the query's terms first. The answer is the same as that of an
   * index in which there are no documents but those named, and takes as long.
   *
   * @param query - Words, `"phrases"`, `beginn*`; any text is a query, and without a word finds nothing.
   * @param names - The documents to look at, and no others. Names that are not in the index are ignored.
   * @param limit - From 1 to 100; 10 unless given.
   * @throws TypeError on another limit.
   */
  search(query: string, names: readonly string[], limit?: number): Match[];
  /** Lets go of the file. */
  close(): void;
}

/**
 * Opens an index, and makes it if the file is not there. Only its owner may read the file. One of an
 * earlier version is emptied: its documents have to be put again.
 *
 * @throws Error if the file cannot be opened, or is something else than an index of this version:
 *   an index can be removed and is made again.
 */
export function openIndex(file: string): SearchIndex;
