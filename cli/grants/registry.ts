// cli/grants/: what `proviso grants` shows of approvals and grants, and does about them: on the home's database,
// while the agent runs or not, and by the same rules.

import type { Approval } from "../../src/agent/approvals/approval.js";
import { Registry } from "../../src/agent/registry/registry.js";
import type { RegistrySettings } from "../../src/agent/registry/settings.js";
import { openRegistry } from "../../src/stores/registry/registry-store.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { Context } from "../context.js";
import { type HomeChoice, homeFor, openRevocationsOf, withStores } from "../home.js";

/** What is known of hosts, agents, grants and approvals, and where revocations go. */
export interface OpenRegistry {
  readonly registry: Registry;
  /** Records that what follows is decided by the operator, in the place of the approver that it names. */
  readonly standsIn: (approval: Approval, approver: string) => Promise<void>;
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
    const revocations = await openRevocationsOf(context, files, database);
    const store = openRegistry(database);
    const standsIn: OpenRegistry["standsIn"] = ({ id, subject }, principal) =>
      store.change(async (draft) =>
        draft.note({
          ...{ kind: "approval", at: new Date().toISOString(), decision: "allowed" },
          ...{ change: "approval.operator", record: id, principal, invoker: subject.agent.id },
          operator: true,
        }),
      );
    return use({
      registry: new Registry({ store, revocations, settings }),
      ...{ revocations, standsIn },
    });
  });
}
