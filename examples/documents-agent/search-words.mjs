// The words of a text as FTS5 finds them: in lower case, without accents, and cut down to their stems.
//
// FTS5 itself is asked about a text in memory, which it forgets. What it keeps for many texts is ordered by
// word, so that a search in some of them would pass through the others.
import Database from "libsql";
import { rows } from "./sqlite-rows.mjs";

/** @import { Term } from "./search-query.mjs" */

/** Of a phrase, so many words count. */
const MOST_WORDS = 32;
const SNIPPET_WORDS = 32;

const SCHEMA = `
  CREATE VIRTUAL TABLE some USING fts5(
    title,
    text,
    tokenize = 'porter unicode61 remove_diacritics 2'
  );
  CREATE VIRTUAL TABLE words USING fts5vocab('some', 'instance');
`;

const PLACES = `
  SELECT json_group_array(json_array(term, json_array(json(in_title), json(in_text)))) AS answer FROM (
    SELECT term,
      json_group_array(offset) FILTER (WHERE col = 'title') AS in_title,
      json_group_array(offset) FILTER (WHERE col = 'text') AS in_text
    FROM words GROUP BY term
  )
`;

const SEQUENCES = "SELECT doc, term FROM words ORDER BY doc, offset";

const SNIPPET = `SELECT snippet(some, 1, '', '', '…', ${SNIPPET_WORDS}) AS answer FROM some WHERE some MATCH ?`;

/** Finds the words of texts. Keeps nothing of them. */
export class Words {
  #connection = new Database(":memory:");
  #sql;

  constructor() {
    this.#connection.exec(SCHEMA);
    this.#sql = {
      put: this.#connection.prepare("INSERT INTO some (rowid, title, text) VALUES (?, ?, ?)"),
      places: this.#connection.prepare(PLACES),
      sequences: this.#connection.prepare(SEQUENCES),
      snippet: this.#connection.prepare(SNIPPET),
    };
  }

  /**
   * Every word of a document, and where it stands.
   *
   * @param {string} title
   * @param {string} text
   * @returns {string} JSON: for each word `[word, [places in the title, places in the text]]`.
   */
  placesIn(title, text) {
    const [row] = this.#ask([[title, text]], this.#sql.places);
    return String(row?.["answer"] ?? "[]");
  }

  /**
   * The words of phrases, in order.
   *
   * @param {readonly string[]} phrases
   * @returns {string[][]}
   */
  sequencesOf(phrases) {
    /** @type {string[][]} */
    const sequences = phrases.map(() => []);
    const texts = phrases.map((phrase) => /** @type {const} */ (["", phrase]));
    for (const { doc, term } of this.#ask(texts, this.#sql.sequences)) {
      const sequence = sequences[Number(doc)] ?? [];
      if (sequence.length < MOST_WORDS) sequence.push(String(term));
    }
    return sequences;
  }

  /**
   * Some 32 words of a text around what was found in it.
   *
   * @param {string} title
   * @param {string} text
   * @param {readonly Term[]} terms
   */
  snippetOf(title, text, terms) {
    const any = terms.map(({ expression }) => expression).join(" OR ");
    const [row] = this.#ask([[title, text]], this.#sql.snippet, any);
    return String(row?.["answer"] ?? "");
  }

  close() {
    this.#connection.close();
  }

  /**
   * What a statement answers about some texts, which are gone again afterwards.
   *
   * @param {readonly (readonly [title: string, text: string])[]} texts
   * @param {Database.Statement<unknown[]>} statement
   * @param {string[]} values
   */
  #ask(texts, statement, ...values) {
    this.#connection.exec("BEGIN");
    try {
      for (const [at, [title, text]] of texts.entries()) this.#sql.put.run(at, title, text);
      return rows(statement, ...values);
    } finally {
      this.#connection.exec("ROLLBACK");
    }
  }
}
