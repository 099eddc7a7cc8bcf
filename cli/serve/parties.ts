import type { KnownGrant } from "../../src/agent/grant.js";
import { Parties } from "../../src/agent/parties/parties.js";
import type { PartySettings } from "../../src/agent/parties/settings.js";
import { capabilityTerms } from "../../src/agent/parties/terms.js";
import type { Policy } from "../../src/agent/policy.js";
import type { Skill } from "../../src/agent/skill.js";
import { readDuration } from "../../src/caveats/time.js";
import type { Home } from "../../src/home/open-home.js";
import type { AgentAuthConfig } from "./agent-config.js";
import { fromConfig, problemAt, type ReadConfig, refuseConfig } from "./config.js";

export interface ServedPartiesParts {
  readonly home: Pick<Home, "partyStore" | "revocations">;
  readonly policy: Policy;
  readonly grants: readonly KnownGrant[];
  readonly skills: readonly Skill[];
}

/**
 * Opens the parties of an agent's home. If the agent serves Agent-Auth, its skills become the capabilities of
 * Agent-Auth. Otherwise the parties only serve requests of other protocols that wait for an approval.
 *
 * @throws CliError `config_invalid` if a skill is not a valid Agent-Auth capability, if a default capability
 *   may do more than read without being explicitly allowed, or if another setting is wrong.
 */
export async function openServedParties(
  { config, file }: ReadConfig,
  { home, policy, grants, skills }: ServedPartiesParts,
): Promise<Parties> {
  const { agentAuth = {}, protocols } = config;
  const parts = { store: home.partyStore, revocations: home.revocations, policy, grants };
  if (!protocols.includes("agent-auth")) {
    const unused = problemAt("agentAuth", 'has no effect: "protocols" does not name "agent-auth"');
    refuseConfig(file, config.agentAuth === undefined ? [] : [unused]);
    return new Parties(parts);
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
    () => new Parties({ ...parts, terms, settings: settingsOf(agentAuth) }),
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
}: AgentAuthConfig): PartySettings {
  return { ...settings, lifetimes: secondsOf(lifetimes) };
}

function secondsOf(
  lifetimes: NonNullable<AgentAuthConfig["lifetimes"]>,
): NonNullable<PartySettings["lifetimes"]> {
  return Object.fromEntries(
    Object.entries(lifetimes).map(([name, text]) => [name, readDuration(text) ?? 0]),
  );
}
