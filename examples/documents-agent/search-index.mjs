// A full-text index over documents, in an SQLite file of its own, through libsql.
//
// The caller of a search names the documents that it may see, and no others are looked at: words are kept by
// document, not documents by word as in FTS5, whose searches take longer for each document that has the
// word. Ranking counts the documents that may be seen alone: how rare a word is in all of them would
// reveal the others.
import { closeSync, openSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import Database from "libsql";
import { Phrases } from "./search-phrases.mjs";
import { readQuery } from "./search-query.mjs";
import { Words } from "./search-words.mjs";
import { rows } from "./sqlite-rows.mjs";

/** @import { SearchIndex } from "./search-index.mjs" */
/** @import { Term } from "./search-query.mjs" */

/** Most matches of one search. */
const MOST_MATCHES = 100;

/** "prvi" and the version of the tables: distinguishes an index from other SQLite files. */
const FORMAT = 0x70727602;
/** With a table of FTS5; what is in it is made again from the documents. */
const FORMER_FORMAT = 0x70727601;
/** Okapi BM25: how fast more of the same word stops to count, and how much length counts. */
const K1 = 1.2;
const B = 0.75;
/** What a word in the title counts for, compared with one in the text. */
const TITLE_WEIGHT = 4;

const SCHEMA = `
  BEGIN IMMEDIATE;
  DROP TABLE IF EXISTS documents;
  DROP TABLE IF EXISTS texts;
  CREATE TABLE documents (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version TEXT NOT NULL,
    words INTEGER NOT NULL,
    title TEXT NOT NULL,
    text TEXT NOT NULL
  ) STRICT;
  CREATE TABLE postings (
    document INTEGER NOT NULL,
    word TEXT NOT NULL,
    places TEXT NOT NULL,
    PRIMARY KEY (document, word)
  ) STRICT, WITHOUT ROWID;
  PRAGMA application_id = ${FORMAT};
  COMMIT;
`;

const CONTENT = `
  SELECT count(*) AS tables, (SELECT application_id FROM pragma_application_id) AS format
  FROM sqlite_schema
`;

// From what is named to its rows, by key.
const ALLOWED = `
  SELECT documents.id AS id, documents.name AS name, documents.words AS words
  FROM json_each(?) AS named CROSS JOIN documents ON documents.name = named.value
`;
/**
 * Opens an index, and makes it if the file is not there. Only its owner may read the file.
 *
 * @type {typeof import("./search-index.mjs").openIndex}
 */
export function openIndex(file) {
  closeSync(openSync(file, "a", 0o600));
  // A plain path could be taken for an address on the network.
  const connection = new Database(pathToFileURL(resolve(file)).href, { timeout: 2000 });
  try {
    connection.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;");
    const [row = {}] = rows(connection.prepare(CONTENT));
    if (row["tables"] === 0 || row["format"] === FORMER_FORMAT) connection.exec(SCHEMA);
    else if (row["format"] !== FORMAT) {
      throw new Error(
        `${file}: not a search index of this version; remove it, and it is made again`,
      );
    }
    return new SqliteIndex(connection);
  } catch (error) {
    connection.close();
    throw error;
  }
}

/** @implements {SearchIndex} */
class SqliteIndex {
  #words = new Words();
  #phrases;
  #connection;
  #sql;

  /** @param {Database.Database} connection */
  constructor(connection) {
    this.#connection = connection;
    this.#phrases = new Phrases(connection);
    this.#sql = {
      allowed: connection.prepare(ALLOWED),
      versions: connection.prepare("SELECT name, version FROM documents"),
      byName: connection.prepare("SELECT id, version FROM documents WHERE name = ?"),
      byId: connection.prepare("SELECT title, text FROM documents WHERE id = ?"),
      putDocument: connection.prepare(`
        INSERT INTO documents (name, version, words, title, text) VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (name) DO UPDATE SET version = excluded.version, words = excluded.words,
          title = excluded.title, text = excluded.text
      `),
      putPostings: connection.prepare(`
        INSERT INTO postings (document, word, places)
        SELECT ?1, value ->> 0, value -> 1 FROM json_each(?2)
      `),
      removeDocument: connection.prepare("DELETE FROM documents WHERE id = ?"),
      removePostings: connection.prepare("DELETE FROM postings WHERE document = ?"),
    };
  }

  /** @type {SearchIndex["put"]} */
  put(name, title, text, version = "") {
    if (name === "" || name.includes("\0") || !name.isWellFormed()) {
      throw new TypeError("a name must be a well-formed text without NUL");
    }
    // What libsql and SQLite do not keep is no word either.
    const clean = (/** @type {string} */ part) => part.toWellFormed().replaceAll("\0", " ");
    const [heading, body] = [clean(title), clean(text)];
    const words = `${heading} ${body}`.match(/[\p{L}\p{N}\p{Co}]+/gu)?.length ?? 0;
    const places = this.#words.placesIn(heading, body);
    this.#write(() => {
      this.#sql.putDocument.run(name, version, words, heading, body);
      const id = Number(this.#find(name)?.["id"]);
      this.#sql.removePostings.run(id);
      this.#sql.putPostings.run(id, places);
    });
  }

  /** @type {SearchIndex["remove"]} */
  remove(name) {
    const row = this.#find(name);
    if (row === undefined) return;
    this.#write(() => {
      this.#sql.removePostings.run(Number(row["id"]));
      this.#sql.removeDocument.run(Number(row["id"]));
    });
  }

  /** @type {SearchIndex["versions"]} */
  versions() {
    return new Map(
      rows(this.#sql.versions).map((row) => [String(row["name"]), String(row["version"])]),
    );
  }

  /** @type {SearchIndex["versionOf"]} */
  versionOf(name) {
    const row = this.#find(name);
    return row === undefined ? undefined : String(row["version"]);
  }

  /** @type {SearchIndex["search"]} */
  search(query, names, limit = 10) {
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST_MATCHES) {
      throw new TypeError(`limit must be an integer from 1 to ${MOST_MATCHES}, not ${limit}`);
    }
    const terms = readQuery(query);
    return this.#ranked(terms, names)
      .slice(0, limit)
      .map(({ id, name, rank }) => {
        const [row = {}] = rows(this.#sql.byId, id);
        const found = this.#words.snippetOf(String(row["title"]), String(row["text"]), terms);
        return { name, snippet: found.replace(/\s+/gu, " ").trim(), rank };
      });
  }

  /** @type {SearchIndex["close"]} */
  close() {
    this.#words.close();
    this.#connection.close();
  }

  /**
   * The allowed documents that have a term, best first. Only allowed documents count for how rare a
   * term is and how long a document is.
   *
   * @param {readonly Term[]} terms
   * @param {readonly string[]} names
   */
  #ranked(terms, names) {
    const allowed = new Map(
      rows(this.#sql.allowed, JSON.stringify(names)).map(({ id, name, words }) => [
        Number(id),
        { id: Number(id), name: String(name), words: Number(words), terms: 0, rank: 0 },
      ]),
    );
    let words = 0;
    for (const document of allowed.values()) words += document.words;
    const averageWords = Math.max(1, words / allowed.size);
    const sequences = this.#words.sequencesOf(terms.map(({ phrase }) => phrase));
    for (const [at, sequence] of sequences.entries()) {
      const having = this.#phrases.find(sequence, terms[at]?.prefix === true, [...allowed.keys()]);
      const rarity = Math.log(1 + (allowed.size - having.size + 0.5) / (having.size + 0.5));
      for (const [id, [inTitle, inText]] of having) {
        const match = allowed.get(id);
        if (match === undefined) continue;
        const times = TITLE_WEIGHT * inTitle.length + inText.length;
        const length = 1 - B + (B * match.words) / averageWords;
        match.rank += (rarity * times * (K1 + 1)) / (times + K1 * length);
        match.terms += 1;
      }
    }
    return [...allowed.values()]
      .filter((document) => document.terms > 0)
      .sort((a, b) => b.terms - a.terms || b.rank - a.rank || (a.name < b.name ? -1 : 1));
  }

  /** @param {string} name */
  #find(name) {
    return rows(this.#sql.byName, name)[0];
  }

  /** @param {() => void} change - Done as a whole or not at all. */
  #write(change) {
    this.#connection.transaction(change).immediate();
  }
}
