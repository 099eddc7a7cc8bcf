import type { KnownGrant } from "../../src/agent/grant.js";
import type { Policy } from "../../src/agent/policy.js";
import { Registry } from "../../src/agent/registry/registry.js";
import type { RegistrySettings } from "../../src/agent/registry/settings.js";
import { capabilityTerms } from "../../src/agent/registry/terms.js";
import type { Skill } from "../../src/agent/skill.js";
import { readDuration } from "../../src/caveats/time.js";
import type { Home } from "../../src/home/open-home.js";
import type { AgentAuthConfig } from "./agent-config.js";
import { fromConfig, problemAt, type ReadConfig, refuseConfig } from "./config.js";

export interface RegistryParts {
  readonly home: Pick<Home, "registryStore" | "revocations">;
  readonly policy: Policy;
  readonly grants: readonly KnownGrant[];
  readonly skills: readonly Skill[];
}

/**
 * Opens the registry of an agent's home: for Agent-Auth with its terms, otherwise for requests of other
 * protocols that wait for an approval.
 *
 * @throws CliError `config_invalid` if a skill is not a valid capability of Agent-Auth, if a default may do
 *   more than read and is not allowed by name, or if another setting is wrong.
 */
export async function openServedRegistry(
  { config, file }: ReadConfig,
  { home, policy, grants, skills }: RegistryParts,
): Promise<Registry> {
  const { agentAuth = {}, protocols } = config;
  const parts = { store: home.registryStore, revocations: home.revocations, policy, grants };
  if (!protocols.includes("agent-auth")) {
    const unused = problemAt("agentAuth", 'has no effect: "protocols" does not name "agent-auth"');
    refuseConfig(file, config.agentAuth === undefined ? [] : [unused]);
    return new Registry(parts);
  }
  const terms = await fromConfig(
    file,
    () =>
      capabilityTerms(
        new Map(grants.map((grant) => [grant.id, grant])),
        new Map(skills.map((skill) => [skill.id, skill])),
        agentAuth.locations,
      ),
    (words) => `agentAuth: ${words}`,
  );
  return fromConfig(
    file,
    () => new Registry({ ...parts, terms, settings: settingsOf(agentAuth) }),
    (words) => words.replace(/^settings\b/, "agentAuth"),
  );
}

function settingsOf({
  public: _,
  locations: _locations,
  verificationUrl: _url,
  introspection: _rate,
  lifetimes = {},
  ...settings
}: AgentAuthConfig): RegistrySettings {
  return { ...settings, lifetimes: secondsOf(lifetimes) };
}

function secondsOf(
  lifetimes: NonNullable<AgentAuthConfig["lifetimes"]>,
): NonNullable<RegistrySettings["lifetimes"]> {
  return Object.fromEntries(
    Object.entries(lifetimes).map(([name, text]) => [name, readDuration(text) ?? 0]),
  );
}
