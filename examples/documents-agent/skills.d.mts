import type { Skill } from "../../src/agent/skill.js";
import type { ResourceFolder } from "../../src/sources/resource-folder.js";

/** The objects that the skills need. */
export interface DocumentSkillsParts {
  readonly folder: Pick<ResourceFolder, "readText" | "writeText" | "create" | "remove">;
}

/**
 * Returns the six skills for a folder of documents: `retrieve_document`, `search_documents`, `list_documents`,
 * `create_document`, `update_document`, `delete_document`.
 */
export function documentSkills(parts: DocumentSkillsParts): Skill[];
