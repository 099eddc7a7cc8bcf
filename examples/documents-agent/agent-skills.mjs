// The module that `proviso serve` loads (agent.json, "skills"). It has the skills for a folder of documents,
// and answers messages in plain words. It needs no language model: it searches for the words.
import { LONGEST_QUERY } from "./search.mjs";
import { documentSkills } from "./skills.mjs";

/** @import { AgentModule } from "../../src/protocols/a2a/agent-module.js" */
/** @import { TaskCall, TaskRunner } from "../../src/protocols/a2a/task-runner.js" */
/** @import { InvocationOutcome } from "../../src/agent/clearance.js" */
/** @import { ResourceFolder } from "../../src/sources/resource-folder.js" */
/** @import { JsonObject } from "../../src/bytes/json.js" */

/** Maximum number of documents that an answer names. */
const MATCHES = 3;
/** Longest quotation of the best document, in characters and in lines. */
const QUOTED_CHARACTERS = 2000;
const QUOTED_LINES = 12;

/** @type {AgentModule<ResourceFolder>} */
export default async function documentsAgent({ resources }) {
  if (resources === undefined || !("readText" in resources)) {
    throw new Error('this agent serves a folder: "resources" must be {"folder": ...}');
  }
  return { skills: documentSkills({ folder: resources }), runTask: answerInWords };
}

/**
 * Answers a message in plain words. The answer names the documents that a search within the capability finds,
 * and quotes the beginning of the best document. The words of the message cannot change the permissions: each
 * call passes the gate.
 *
 * @type {TaskRunner}
 */
export async function answerInWords(task) {
  const query = task.text.trim().slice(0, LONGEST_QUERY);
  if (query === "") {
    return task.answer("input-required", "say in words what to look for in the documents");
  }
  const found = await call(task, "search_documents", { query, limit: MATCHES });
  if (found.refusal !== undefined) return found.refusal;
  /** @type {readonly JsonObject[]} */
  const matches = Array.isArray(found.result["matches"]) ? found.result["matches"] : [];
  const resourceHandle = matches[0]?.["resourceHandle"];
  if (resourceHandle === undefined) return { message: "nothing was found", matches };
  const quoted = { resourceHandle, maxCharacters: QUOTED_CHARACTERS };
  const best = await call(task, "retrieve_document", quoted, { matches });
  if (best.refusal !== undefined) return best.refusal;
  const { displayName = null, text } = best.result;
  const beginning = String(text).split("\n").slice(0, QUOTED_LINES).join("\n");
  return { message: `best match: ${String(displayName)}`, matches, displayName, text: beginning };
}

/**
 * @param {TaskCall} task
 * @param {string} skill
 * @param {JsonObject} given
 * @param {JsonObject} [known] - Properties of the answer, even if the skill is refused.
 */
async function call(task, skill, given, known = {}) {
  /** @type {InvocationOutcome} */
  const outcome = await task.invoke(skill, given);
  if (!outcome.ok) {
    const refused = outcome.denials.map(({ code, message }) => ({ code, message }));
    const why = `${skill} is not allowed to this task`;
    return { refusal: task.answer("rejected", why, { ...known, refused }) };
  }
  // Each skill of this agent returns an object.
  return { result: /** @type {JsonObject} */ (outcome.result) };
}
