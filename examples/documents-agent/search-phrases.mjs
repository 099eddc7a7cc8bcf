// Where phrases stand in the documents of an index: words one after the other.
import { rows } from "./sqlite-rows.mjs";

/** @import Database from "libsql" */

/** Sorts after every word that goes on. */
const LAST = "\u{10ffff}";

// From the documents that may be seen to their rows, by key.
const HAVING = `
  SELECT postings.document AS id, postings.places AS places
  FROM json_each(?1) AS allowed CROSS JOIN postings
    ON postings.document = allowed.value AND postings.word BETWEEN ?2 AND ?3
`;

/**
 * Where a phrase begins in a document: in its title, and in its text.
 *
 * @typedef {readonly [readonly number[], readonly number[]]} Places
 */

/** Finds phrases in the postings of an index. */
export class Phrases {
  #having;

  /** @param {Database.Database} connection */
  constructor(connection) {
    this.#having = connection.prepare(HAVING);
  }

  /**
   * Where a phrase begins in each of some documents; those that do not have it are left out.
   *
   * @param {readonly string[]} words
   * @param {boolean} prefix - Whether the last of them may go on.
   * @param {readonly number[]} ids
   * @returns {ReadonlyMap<number, Places>}
   */
  find(words, prefix, ids) {
    /** @type {ReadonlyMap<number, Places>} */
    let begun = new Map();
    for (const [at, word] of words.entries()) {
      const goesOn = prefix && at === words.length - 1;
      const left = at === 0 ? ids : [...begun.keys()];
      const next = this.#placesOf(word, goesOn, left);
      begun = at === 0 ? next : following(begun, next, at);
    }
    return begun;
  }

  /**
   * Where a word stands in each of some documents.
   *
   * @param {string} word
   * @param {boolean} goesOn - Whether longer words that begin with it count too.
   * @param {readonly number[]} ids
   */
  #placesOf(word, goesOn, ids) {
    /** @type {Map<number, [number[], number[]]>} */
    const found = new Map();
    const last = goesOn ? `${word}${LAST}` : word;
    for (const row of rows(this.#having, JSON.stringify(ids), word, last)) {
      const id = Number(row["id"]);
      const [title, text] = found.get(id) ?? [[], []];
      /** @type {Places} */
      const [inTitle, inText] = JSON.parse(String(row["places"]));
      for (const place of inTitle) title.push(place);
      for (const place of inText) text.push(place);
      found.set(id, [title, text]);
    }
    return found;
  }
}

/**
 * Where phrases that have begun go on with another word.
 *
 * @param {ReadonlyMap<number, Places>} begun
 * @param {ReadonlyMap<number, Places>} places - Of that word.
 * @param {number} at - Its place in the phrase, from 0.
 */
function following(begun, places, at) {
  /** @type {Map<number, Places>} */
  const kept = new Map();
  for (const [id, [title, text]] of begun) {
    const [inTitle, inText] = places.get(id) ?? [[], []];
    const [nextInTitle, nextInText] = [new Set(inTitle), new Set(inText)];
    const inBoth = /** @type {const} */ ([
      title.filter((place) => nextInTitle.has(place + at)),
      text.filter((place) => nextInText.has(place + at)),
    ]);
    if (inBoth.some(({ length }) => length > 0)) kept.set(id, inBoth);
  }
  return kept;
}
