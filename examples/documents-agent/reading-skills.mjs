// The skills of the grant documents:read: retrieve, search and list.
import { splitFrontMatter } from "./front-matter.mjs";
import { HANDLE, items, named } from "./reach.mjs";
import { LONGEST_QUERY, searchDocuments } from "./search.mjs";

/** @import { ResourceFolder } from "../../src/sources/resource-folder.js" */
/** @import { Skill } from "../../src/agent/skill.js" */

/** Longest text in one answer, in characters. */
const LONGEST_TEXT = 200_000;
/** Characters that `retrieve_document` returns by default. */
const USUAL_TEXT = 20_000;
const MOST_MATCHES = 50;

/**
 * @param {object} parts
 * @param {Pick<ResourceFolder, "readText">} parts.folder
 * @returns {Skill[]}
 */
export function readingSkills({ folder }) {
  return [
    {
      id: "retrieve_document",
      name: "Retrieve a document",
      description: "The text of one document, and what is known about it.",
      tags: ["documents", "read"],
      examples: ["Retrieve the financial summary of the first quarter"],
      operation: "retrieve",
      reach: "named",
      input: {
        type: "object",
        properties: {
          resourceHandle: HANDLE,
          maxCharacters: { type: "integer", minimum: 1, maximum: LONGEST_TEXT },
        },
        required: ["resourceHandle"],
        additionalProperties: false,
      },
      async run(call) {
        const { name, displayName, fields } = named(call);
        const { body } = splitFrontMatter(await folder.readText(name));
        const most = Number(call.arguments["maxCharacters"] ?? USUAL_TEXT);
        const shown = body.length > most ? beginning(body, most) : body;
        const answer = { displayName, fields, text: shown };
        return shown.length < body.length ? { ...answer, truncated: true } : answer;
      },
    },
    {
      id: "search_documents",
      name: "Search documents",
      description:
        'Search in the documents of the capability: words or their beginnings, and "phrases in quotes". Documents with most of them come first.',
      tags: ["documents", "read", "search"],
      examples: ["Search for “operating profit”"],
      operation: "search",
      reach: "scoped",
      input: {
        type: "object",
        properties: {
          query: { type: "string", minLength: 1, maxLength: LONGEST_QUERY },
          limit: { type: "integer", minimum: 1, maximum: MOST_MATCHES },
        },
        required: ["query"],
        additionalProperties: false,
      },
      async run(call) {
        const handles = new Map(items(call).map(([handle, { name }]) => [name, handle]));
        const resources = items(call).map(([, resource]) => resource);
        const titles = new Map(resources.map(({ name, displayName }) => [name, displayName]));
        const limit = Number(call.arguments["limit"] ?? 10);
        const query = String(call.arguments["query"]);
        const found = await searchDocuments(folder, query, resources, limit);
        return {
          matches: found.map(({ name, snippet }) => ({
            resourceHandle: handles.get(name) ?? null,
            displayName: titles.get(name) ?? null,
            snippet,
          })),
        };
      },
    },
    {
      id: "list_documents",
      name: "List documents",
      description: "The documents of the capability, and what is known about them.",
      tags: ["documents", "read"],
      examples: ["List the reports that I may read"],
      operation: "list",
      reach: "scoped",
      input: { type: "object", properties: {}, additionalProperties: false },
      async run(call) {
        return {
          documents: items(call).map(([resourceHandle, { displayName, fields }]) => ({
            resourceHandle,
            displayName,
            fields,
          })),
        };
      },
    },
  ];
}

/**
 * Returns the first characters of a text without splitting a surrogate pair.
 *
 * @param {string} whole
 * @param {number} most
 */
function beginning(whole, most) {
  const cut = whole.slice(0, most);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
}
