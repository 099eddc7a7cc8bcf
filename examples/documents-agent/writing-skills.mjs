// The skills of the grant documents:write: create, update and delete.
import { randomBytes } from "node:crypto";
import { SkillInputError } from "proviso/agent";
import { splitFrontMatter, writeFrontMatter } from "./front-matter.mjs";
import { HANDLE, named } from "./reach.mjs";

/** @import { ResourceFolder } from "../../src/sources/resource-folder.js" */
/** @import { Skill } from "../../src/agent/skill.js" */

const TEXT = { type: "string", maxLength: 200_000 };

/**
 * @param {object} parts
 * @param {Pick<ResourceFolder, "readText" | "writeText" | "create" | "remove">} parts.folder
 * @returns {Skill[]}
 */
export function writingSkills({ folder }) {
  return [
    {
      id: "create_document",
      name: "Create a document",
      description: "Puts a new document into the collection whose handle is given.",
      tags: ["documents", "write"],
      examples: ["Write a letter to Ada Lovelace"],
      operation: "create",
      reach: "named",
      target: "collection",
      input: {
        type: "object",
        properties: {
          resourceHandle: HANDLE,
          title: { type: "string", pattern: "^\\P{Cc}+$", maxLength: 200 },
          text: TEXT,
          fields: {
            description: "What else is known about it, and can be filtered on.",
            type: "object",
            propertyNames: { type: "string", pattern: "^[a-z][A-Za-z0-9_]{0,63}$" },
            additionalProperties: { type: ["string", "number", "boolean"], maxLength: 1000 },
            maxProperties: 16,
          },
        },
        required: ["resourceHandle", "title", "text"],
        additionalProperties: false,
      },
      async run(call) {
        const { collection } = named(call);
        const title = String(call.arguments["title"]);
        const fields = { ...scalars(call.arguments["fields"]), title, createdBy: call.principal };
        const file = `${writeFrontMatter(fields)}\n${lines(call.arguments["text"])}`;
        try {
          await kept(folder.create(collection, `${slug(title)}.md`, file));
        } catch (error) {
          if (codeOf(error) !== "item_exists") throw error;
          const another = randomBytes(6).toString("hex");
          await kept(folder.create(collection, `${slug(title)}-${another}.md`, file));
        }
        return { displayName: title, collection, fields };
      },
    },
    {
      id: "update_document",
      name: "Update a document",
      description: "Puts another text in the place of a document's; its title and fields stay.",
      tags: ["documents", "write"],
      examples: ["Correct the date in the letter to Ada Lovelace"],
      operation: "update",
      reach: "named",
      input: {
        type: "object",
        properties: { resourceHandle: HANDLE, text: TEXT },
        required: ["resourceHandle", "text"],
        additionalProperties: false,
      },
      async run(call) {
        const { name, displayName } = named(call);
        // Fields decide who may see a document. A client that may change the text must not change the fields.
        // An empty front matter prevents the new text from supplying fields.
        const head = splitFrontMatter(await folder.readText(name)).head || writeFrontMatter({});
        const separated = head.endsWith("\n") ? head : `${head}\n`;
        await kept(folder.writeText(name, `${separated}\n${lines(call.arguments["text"])}`));
        return { displayName, updated: true };
      },
    },
    {
      id: "delete_document",
      name: "Delete a document",
      description: "Removes a document for good.",
      tags: ["documents", "write"],
      examples: ["Delete the draft of the letter"],
      operation: "delete",
      reach: "named",
      input: {
        type: "object",
        properties: { resourceHandle: HANDLE },
        required: ["resourceHandle"],
        additionalProperties: false,
      },
      async run(call) {
        const { name, displayName } = named(call);
        await folder.remove(name);
        return { displayName, deleted: true };
      },
    },
  ];
}

/** @param {unknown} value - A string. The function ends it with exactly one line end. */
function lines(value) {
  return `${String(value).trimEnd()}\n`;
}

/**
 * @param {unknown} value - An object of scalars, or undefined.
 * @returns {{ [field: string]: string | number | boolean }}
 */
function scalars(value) {
  return Object.fromEntries(
    Object.entries(value ?? {}).flatMap(([field, scalar]) =>
      ["string", "number", "boolean"].includes(typeof scalar) ? [[field, scalar]] : [],
    ),
  );
}

/**
 * Makes a file name from a title: `Ein schönes Jahr!` becomes `ein-schones-jahr`.
 *
 * @param {string} title
 */
function slug(title) {
  const plain = title
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 60)
    .replace(/^-|-$/g, "");
  return plain === "" ? "document" : plain;
}

/** The folder's reasons for refusing a text, in words that the client may see. */
const MISTAKES = new Map([
  ["text_invalid", "the text has a lone surrogate"],
  ["item_too_large", "the document would be larger than this agent keeps one"],
]);

/**
 * Awaits a write. A text that the folder cannot store is reported as an error of the client.
 *
 * @template T
 * @param {Promise<T>} writing
 */
async function kept(writing) {
  try {
    return await writing;
  } catch (error) {
    const mistake = MISTAKES.get(codeOf(error));
    throw mistake === undefined ? error : new SkillInputError(mistake);
  }
}

/** @param {unknown} error */
function codeOf(error) {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
