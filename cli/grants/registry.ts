// cli/grants/: what `proviso grants` shows of approvals and grants, and does about them: on the home's database,
// while the agent runs or not, and by the same rules.

import { Registry } from "../../src/agent/registry/registry.js";
import type { RegistrySettings } from "../../src/agent/registry/settings.js";
import { openRegistry } from "../../src/stores/registry/registry-store.js";
import { openRevocations } from "../../src/stores/revocations/open-revocations.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { Context } from "../context.js";
import { type HomeChoice, homeFor, withStores } from "../home.js";

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
  return withStores(homeFor(context, options), async (database) => {
    const revocations = await openRevocations(database);
    const store = openRegistry(database);
    return use({ registry: new Registry({ store, revocations, settings }), revocations });
  });
}
