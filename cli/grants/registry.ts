// cli/grants/: shows and changes approvals and grants for `proviso grants`, in the home's database, whether the
// agent is running or not, by the agent's own rules.

import { Registry } from "../../src/agent/registry/registry.js";
import type { RegistrySettings } from "../../src/agent/registry/settings.js";
import { openRegistry } from "../../src/stores/registry/registry-store.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { Context } from "../context.js";
import { type HomeChoice, homeFor, openRevocationsOf, withStores } from "../home.js";

/** The registry of hosts, agents, grants and approvals, and the sink for revocations. */
export interface OpenRegistry {
  readonly registry: Registry;
  readonly revocations: RevocationStore;
}

/** Opens the registry of a home, passes it to `use`, and always closes it. */
export function withRegistry<T>(
  context: Context,
  options: HomeChoice,
  use: (open: OpenRegistry) => Promise<T>,
  settings: RegistrySettings = {},
): Promise<T> {
  const files = homeFor(context, options);
  return withStores(files, async (database) => {
    const revocations = await openRevocationsOf(context, database);
    const store = openRegistry(database);
    return use({ registry: new Registry({ store, revocations, settings }), revocations });
  });
}
