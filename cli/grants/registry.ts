// cli/grants/: what `proviso grants` shows of approvals and grants, and does about them: on the home's database,
// while the agent runs or not, and by the same rules.

import { Registry } from "../../src/agent/registry/registry.js";
import type { RegistrySettings } from "../../src/agent/registry/settings.js";
import { openRegistry } from "../../src/stores/registry/registry-store.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { Context } from "../context.js";
import { type HomeChoice, homeFor, openRevocationsOf, withStores } from "../home.js";

/** What is known of hosts, agents, grants and approvals, and where revocations go. */
export interface OpenRegistry {
  readonly registry: Registry;
  readonly revocations: RevocationStore;
}

/** Opens the registry of a home, hands it to `use`, and closes it whatever happens. */
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
