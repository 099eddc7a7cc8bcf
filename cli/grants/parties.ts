// Opens the objects that `proviso grants` shows and changes. The command works directly on the home's database,
// whether or not the agent is running, and by the same rules as the agent.

import { Parties } from "../../src/agent/parties/parties.js";
import type { PartySettings } from "../../src/agent/parties/settings.js";
import { openParties } from "../../src/stores/parties/party-store.js";
import type { RevocationStore } from "../../src/stores/revocations/revocation-store.js";
import type { Context } from "../context.js";
import { type HomeChoice, homeFor, openRevocationsOf, withStores } from "../home.js";

/** Hosts, agents, grants and approvals, and the store of revocations. */
export interface OpenParties {
  readonly parties: Parties;
  readonly revocations: RevocationStore;
}

/** Opens the parties of a home, passes them to `use`, and always closes the database. */
export function withParties<T>(
  context: Context,
  options: HomeChoice,
  use: (open: OpenParties) => Promise<T>,
  settings: PartySettings = {},
): Promise<T> {
  const files = homeFor(context, options);
  return withStores(files, async (database) => {
    const revocations = await openRevocationsOf(context, database);
    const store = openParties(database);
    return use({ parties: new Parties({ store, revocations, settings }), revocations });
  });
}
