// What may be typed into the search, and what FTS5 is given for it.

/** Characters of a query that are looked at. */
export const LONGEST_QUERY = 1000;
/** Words and phrases of a query that count. */
const MOST_TERMS = 16;

/**
 * A word or a phrase that is looked for.
 *
 * @typedef {object} Term
 * @property {string} phrase - Its words, with whatever stands between them.
 * @property {boolean} prefix - Whether its last word may go on.
 * @property {string} expression - The same for FTS5, never a wrong one.
 */

/**
 * Reads a query: words, `"phrases in quotes"`, and beginnings of words with a star, such as `capab*`.
 * Everything else is punctuation: FTS5's own operators, columns and brackets are words like others.
 *
 * @param {string} query - Only its first {@link LONGEST_QUERY} characters and {@link MOST_TERMS} terms
 *   count. A quote that is not closed runs to the end.
 * @returns {Term[]} None if there is no word.
 */
export function readQuery(query) {
  const text = query
    .slice(0, LONGEST_QUERY)
    .toWellFormed()
    // libsql hands a text over only up to its first NUL, which would leave a quote open.
    .replaceAll("\0", " ");
  /** @type {Map<string, Term>} */
  const terms = new Map();
  for (const [term] of text.matchAll(/"[^"]*(?:"\*?|$)|[^\s"]+/gu)) {
    const phrase = term.replaceAll('"', " ").replace(/\*+$/u, "").trim();
    if (!/[\p{L}\p{N}\p{Co}]/u.test(phrase)) continue;
    const prefix = term.endsWith("*");
    // Within double quotes, FTS5 knows no syntax but the quote itself, and no quote is left.
    const expression = `"${phrase}"${prefix ? " *" : ""}`;
    terms.set(expression, { phrase, prefix, expression });
  }
  return [...terms.values()].slice(0, MOST_TERMS);
}
