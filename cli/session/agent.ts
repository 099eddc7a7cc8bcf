import { createIssuingAgent } from "../../src/agent/create-issuing-agent.js";
import type { IssuingAgent } from "../../src/agent/issuing-agent.js";
import type { Policy } from "../../src/agent/policy.js";
import type { HomeConfig } from "../../src/home/home-config.js";
import type { Home } from "../../src/home/open-home.js";
import type { Grant } from "../../src/issuer/grant.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import type { SessionPlugin } from "../../src/protocols/a2e/plugin.js";
import { pluginGrants } from "../../src/protocols/a2e/registry.js";
import { fromConfig, problemAt, type ReadConfig, refuseConfig } from "../serve/config.js";
import type { ConfigProblem } from "../serve/schema.js";
import type { SessionConfig } from "./session-config.js";

/** The policy of a host whose configuration names none: a principal may do everything that its token allows. */
const TOKENS_ALONE: Policy = {
  permissions: () => [{ operations: "*", resources: { collections: "*" } }],
};

/**
 * Creates the agent that judges messages. Its grants are those in the home's configuration; by default, one
 * grant for each served capability.
 *
 * @param listed - The configuration of the home.
 * @throws CliError `config_invalid` if the home's configuration lists grants, but lacks one that a plugin
 *   needs.
 */
export async function sessionAgent(
  { config, file }: ReadConfig<SessionConfig>,
  home: Home,
  listed: HomeConfig,
  plugins: readonly SessionPlugin[],
  policy: Policy = TOKENS_ALONE,
): Promise<IssuingAgent> {
  const needed = pluginGrants(plugins);
  refuseConfig(file, missingGrants(listed, needed, home.files.config));
  const grants = listed.grants?.map((grant) => described(grant, needed)) ?? needed;
  const { keys, revocations, ledger, resourceNumbers } = home;
  const { name, maxLifetime } = home.issuer;
  const operations = new Set(grants.flatMap((grant) => grant.operations));
  const { ambient, ledger: recorded } = config;
  return fromConfig(file, () =>
    createIssuingAgent({
      issuer: createIssuer({ name, keys, revocations, maxLifetime, grants }),
      revocations,
      ledger,
      resourceNumbers,
      policy,
      skills: [],
      operations: [...operations].map((operation) => ({ operation, reach: "none" })),
      ...(ambient === undefined ? {} : { mode: "prefer", undeclaredAmbient: ambient.undeclared }),
      recordValues: recorded.values,
    }),
  );
}

function described(grant: Grant, needed: readonly Grant[]): Grant {
  const description = needed.find(({ id }) => id === grant.id)?.description ?? grant.id;
  return { ...grant, description };
}

function missingGrants(
  { grants: listed }: HomeConfig,
  needed: readonly Grant[],
  path: string,
): readonly ConfigProblem[] {
  if (listed === undefined) return [];
  return needed.flatMap(({ id, operations }) => {
    const there = listed.find((grant) => grant.id === id)?.operations ?? [];
    if (operations.every((operation) => there.includes(operation))) return [];
    const form = JSON.stringify({ id, operations });
    const what = `needs the grant ${form}, and ${path} lists grants without it`;
    return [problemAt(`plugins.${id.replace(/^a2e:/, "")}`, what)];
  });
}
