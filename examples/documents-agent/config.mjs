// The grants and the policy of the documents agent, read from its JSON files.
import { readFileSync } from "node:fs";

/** @type {typeof import("./config.mjs").grants} */
export const grants = contentOf("agent.json").grants;

/** @type {typeof import("./config.mjs").policy} */
export const policy = contentOf("policy.json");

/** @param {string} name */
function contentOf(name) {
  // Remove `$schema`, which is only for editors.
  const { $schema, ...content } = JSON.parse(readFileSync(new URL(name, import.meta.url), "utf8"));
  return content;
}
