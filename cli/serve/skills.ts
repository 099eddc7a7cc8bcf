import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expandGrants, type KnownGrant } from "../../src/agent/grant.js";
import { checkSkills } from "../../src/agent/skill.js";
import type { AgentModuleContext, AgentSkills } from "../../src/protocols/a2a/agent-module.js";
import { type CliError, environmentError } from "../exit.js";
import { problemFrom, type ReadConfig, refuseConfig } from "./config.js";
import { type PolicyTerms, type ReadPolicy, unknownTerms } from "./policy.js";
import type { ConfigProblem } from "./schema.js";

/**
 * What the module of skills gives.
 *
 * @throws CliError `skills_failed` if it can not be loaded, throws, or gives something else.
 */
export async function loadSkills(
  { config, folder }: ReadConfig,
  context: AgentModuleContext,
): Promise<AgentSkills> {
  const path = resolve(folder, config.skills);
  let given: unknown;
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    if (typeof module.default !== "function") {
      throw failed(path, "its default export is not a function");
    }
    given = await module.default(context);
  } catch (error) {
    throw error instanceof Error && error.name === "CliError" ? error : failed(path, reason(error));
  }
  if (!isAgentSkills(given)) {
    throw failed(path, "it does not give {skills: [...]}, with runTask and close as functions");
  }
  return given;
}

function isAgentSkills(value: unknown): value is AgentSkills {
  if (typeof value !== "object" || value === null) return false;
  const { skills, runTask, close }: { skills?: unknown; runTask?: unknown; close?: unknown } =
    value;
  const optional = [runTask, close].every((one) => one === undefined || typeof one === "function");
  return optional && Array.isArray(skills) && skills.every(isObject);
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

function failed(path: string, why: string): CliError {
  const hint = '"skills" names an ES module whose default export is an AgentModule of proviso/a2a';
  return environmentError("skills_failed", `the skills in ${path}: ${why}`, hint);
}

// With the first place in the module's own code, which is where its author looks.
function reason(error: unknown): string {
  if (!(error instanceof Error)) return "something that is no error was thrown";
  const place = /^\s+at .*$/m.exec(error.stack ?? "")?.[0].trim();
  return place === undefined ? error.message : `${error.message} (${place})`;
}

/**
 * Checks what grants, policy and skills say of each other.
 *
 * @returns The grants as the issuer takes them, and what a policy can speak of.
 * @throws CliError `config_invalid` with all that is wrong.
 */
export function checkTogether(
  { config, file }: ReadConfig,
  { definition, source }: ReadPolicy,
  { skills }: AgentSkills,
): { readonly grants: readonly KnownGrant[]; readonly terms: PolicyTerms } {
  const problems: ConfigProblem[] = [];
  let grants: readonly KnownGrant[] = [];
  try {
    checkSkills(skills);
    grants = expandGrants(config.grants, skills);
  } catch (error) {
    problems.push(problemFrom(error));
  }
  const terms: PolicyTerms = {
    grants: config.grants.map(({ id }) => id),
    operations: [...new Set(skills.map(({ operation }) => operation))].sort(),
  };
  const unknown = unknownTerms(definition, terms, source === undefined ? "policy." : "");
  refuseConfig(file, source === undefined ? [...problems, ...unknown] : problems);
  if (source !== undefined) refuseConfig(source.file, unknown);
  return { grants, terms };
}
