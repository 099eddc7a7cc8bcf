import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { expandGrants, type KnownGrant } from "../../src/agent/grant.js";
import { checkSkills } from "../../src/agent/skill.js";
import { isObject } from "../../src/bytes/json.js";
import { readDuration } from "../../src/caveats/time.js";
import type { Grant } from "../../src/issuer/grant.js";
import type { AgentModuleContext, AgentSkills } from "../../src/protocols/a2a/agent-module.js";
import { CliError, environmentError } from "../exit.js";
import type { GrantConfig } from "./agent-config.js";
import { problemFrom, type ReadConfig, refuseConfig } from "./config.js";
import { howToInstall, placeAndReason } from "./module-fault.js";
import { type PolicyTerms, type ReadPolicy, unknownTerms } from "./policy.js";
import type { ConfigProblem } from "./schema.js";

/**
 * Loads the module of skills.
 *
 * @returns The object that the module's default export returned.
 *
 * @throws CliError `skills_failed` if the module cannot be loaded, throws an error, or returns a wrong value.
 */
export async function loadSkills(
  read: ReadConfig,
  context: AgentModuleContext,
): Promise<AgentSkills> {
  const path = pathOf(read);
  try {
    const module: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    if (typeof module.default !== "function") {
      throw failed(path, "its default export is not a function");
    }
    const given: unknown = await module.default(context);
    if (!isAgentSkills(given)) {
      throw failed(path, "it does not give {skills: [...]}, with runTask and close as functions");
    }
    checkSkills(given.skills);
    return given;
  } catch (error) {
    if (error instanceof CliError) throw error;
    const fault = skillsFault(read, error);
    throw fault ?? failed(...placeAndReason(path, error), howToInstall(path, error));
  }
}

function isAgentSkills(value: unknown): value is AgentSkills {
  if (!isObject(value)) return false;
  const { skills, runTask, close } = value;
  const optional = [runTask, close].every((one) => one === undefined || typeof one === "function");
  return optional && Array.isArray(skills);
}

/** Converts an error of the library about a skill to an error about the module; `undefined` for any other error. */
export function skillsFault(read: ReadConfig, error: unknown): CliError | undefined {
  if (!(error instanceof TypeError) || !error.message.startsWith("skills[")) return undefined;
  return failed(pathOf(read), error.message);
}

function pathOf({ config, folder }: ReadConfig): string {
  return resolve(folder, config.skills);
}

const HINT = '"skills" names an ES module whose default export is an AgentModule of proviso/a2a';

function failed(place: string, why: string, hint = HINT): CliError {
  return environmentError("skills_failed", `the skills in ${place}: ${why}`, hint);
}

function grantFrom({ approval, ...grant }: GrantConfig): Grant {
  if (approval === undefined) return grant;
  const { lifetime, ...rule } = approval;
  const seconds = lifetime === undefined ? {} : { lifetime: readDuration(lifetime) ?? 0 };
  return { ...grant, approval: { ...rule, ...seconds } };
}

/**
 * Checks that grants, policy and skills refer to each other correctly.
 *
 * @returns The grants in the issuer's form, and the terms that a policy can use.
 * @throws CliError `config_invalid`, which lists every problem.
 */
export function checkTogether(
  { config, file }: ReadConfig,
  { definition, source }: ReadPolicy,
  { skills }: AgentSkills,
): { readonly grants: readonly KnownGrant[]; readonly terms: PolicyTerms } {
  const problems: ConfigProblem[] = [];
  let grants: readonly KnownGrant[] = [];
  try {
    grants = expandGrants(config.grants.map(grantFrom), skills);
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
