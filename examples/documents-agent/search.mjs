// Searches the documents that a call may reach. Each search reads the files of these documents and no others.
// Neither the answer nor its duration can therefore reveal anything about other documents.
import { splitFrontMatter } from "./front-matter.mjs";

/** @import { Resource } from "../../src/agent/resources/resource.js" */

/** The number of characters of a query that are used. The characters after them are ignored. */
export const LONGEST_QUERY = 1000;
/** Maximum number of words and phrases that a query uses. */
const MOST_TERMS = 16;
/** Characters of a snippet before and after the match. */
const AROUND = 100;

/** @type {typeof import("./search.mjs").searchDocuments} */
export async function searchDocuments(folder, query, resources, limit = 10) {
  const terms = termsOf(query);
  const matches = [];
  for (const resource of resources) {
    const text = await textOf(folder, resource);
    if (text === undefined) continue;
    const words = ` ${wordsOf(`${headingOf(resource)} ${text}`)}`;
    const found = terms.map((term) => words.split(` ${term}`).length - 1);
    const distinct = found.filter((times) => times > 0).length;
    if (distinct === 0) continue;
    const times = found.reduce((sum, one) => sum + one, 0);
    matches.push({ name: resource.name, snippet: snippetOf(text, terms), distinct, times });
  }
  return matches
    .sort((a, b) => b.distinct - a.distinct || b.times - a.times || (a.name < b.name ? -1 : 1))
    .slice(0, limit)
    .map(({ name, snippet }) => ({ name, snippet }));
}

/**
 * Splits a query into words and `"phrases in quotes"`. All other characters are separators. An unclosed quote
 * extends to the end.
 *
 * @param {string} query
 */
function termsOf(query) {
  const parts = query.slice(0, LONGEST_QUERY).matchAll(/"([^"]*)"?|[^"]+/gu);
  const terms = [...parts].flatMap(([part, phrase]) =>
    phrase === undefined ? wordsOf(part).split(" ") : [wordsOf(phrase)],
  );
  return [...new Set(terms.filter((term) => term !== ""))].slice(0, MOST_TERMS);
}

/** Returns the words of a text, in lower case and without accents, separated by single spaces. @param {string} text */
function wordsOf(text) {
  return (foldedOf(text).match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");
}

/** @param {string} text */
function foldedOf(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * Returns the title and the string fields, such as the author. They are searched like the text. @param
 * {Resource} resource
 */
function headingOf({ displayName, fields }) {
  const texts = Object.values(fields).filter((value) => typeof value === "string");
  return [displayName, ...texts].join(" ");
}

/**
 * Returns the text of a document; `undefined` if the document is gone, too large, or not UTF-8.
 *
 * @param {Parameters<typeof searchDocuments>[0]} folder
 * @param {Resource} resource
 */
async function textOf(folder, { name }) {
  try {
    return splitFrontMatter(await folder.readText(name)).body;
  } catch (error) {
    if (isOfOneItem(error)) return undefined;
    throw error;
  }
}

/**
 * Returns the part of a text around the first place where a term occurs, on one line.
 *
 * @param {string} text
 * @param {readonly string[]} terms
 */
function snippetOf(text, terms) {
  const line = text.replace(/\s+/gu, " ").trim();
  const words = terms.flatMap((term) => term.split(" ").slice(0, 1));
  const places = words.map((word) => line.toLowerCase().indexOf(word)).filter((at) => at >= 0);
  const at = places.length === 0 ? 0 : Math.min(...places);
  const [from, to] = [Math.max(0, at - AROUND), at + AROUND];
  const shown = line.slice(from, to).toWellFormed().trim();
  return `${from > 0 ? "…" : ""}${shown}${to < line.length ? "…" : ""}`;
}

/**
 * Returns whether an error concerns only this document: it is gone, too large, or not UTF-8. An error of the
 * operating system has a `cause`, and is not such an error.
 *
 * @param {unknown} error
 */
function isOfOneItem(error) {
  if (!(error instanceof Error && "code" in error)) return false;
  if (error.code === "item_unreadable") return error.cause === undefined;
  return error.code === "item_missing" || error.code === "item_too_large";
}
