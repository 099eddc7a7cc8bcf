// Searches the documents that a call may reach. It reads only their files, each time, so that an answer reveals
// nothing about other documents, not even by its duration.
import { splitFrontMatter } from "./front-matter.mjs";

/** @import { Resource } from "../../src/agent/resources/resource.js" */

/** Longest part of a query that is used, in characters. */
export const LONGEST_QUERY = 1000;
/** Most words and phrases of a query that count. */
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
 * Splits a query into words and `"phrases in quotes"`; everything else is punctuation. An unclosed quote
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

/** Returns the words of a text, in lower case and without accents, separated by one space. @param {string} text */
function wordsOf(text) {
  return (foldedOf(text).match(/[\p{L}\p{N}]+/gu) ?? []).join(" ");
}

/** @param {string} text */
function foldedOf(text) {
  return text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
}

/**
 * Returns the title and string fields such as the author, which are searched as part of the text. @param
 * {Resource} resource
 */
function headingOf({ displayName, fields }) {
  const texts = Object.values(fields).filter((value) => typeof value === "string");
  return [displayName, ...texts].join(" ");
}

/**
 * Returns the text of a document; `undefined` if it is gone, too large, or not UTF-8.
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
 * Returns the text around the first term that it contains, on one line.
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
 * Returns whether an error of the folder means that there is no text to find here. An error of the system
 * itself has a cause.
 *
 * @param {unknown} error
 */
function isOfOneItem(error) {
  if (!(error instanceof Error && "code" in error)) return false;
  if (error.code === "item_unreadable") return error.cause === undefined;
  return error.code === "item_missing" || error.code === "item_too_large";
}
