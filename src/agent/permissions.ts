import type { AgentContext } from "./agent-options.js";
import type { Presenter } from "./caller.js";
import { forInvoker, type Permission } from "./policy.js";

/**
 * Returns the permissions that the policy currently gives to the agent to which the capability was issued, not
 * to the agent that presents it. If the ledger has no record of the capability, rules with `invokers` do not
 * apply.
 *
 * @throws StorageError if the ledger cannot be read.
 */
export async function permissionsOf(
  capability: string,
  principal: string,
  grant: string,
  { policy, ledger }: Pick<AgentContext, "policy" | "ledger">,
): Promise<readonly Permission[]> {
  const all = await policy.permissions(principal, grant);
  if (all.every(({ invokers }) => invokers === undefined)) return all;
  return forInvoker(all, (await ledger.issued(capability))?.invoker);
}

/**
 * Returns the permissions that the policy currently gives to a caller under a grant; none if the principal is
 * unknown.
 */
export async function ownPermissions(
  { principal, invoker }: Presenter,
  grant: string,
  { policy }: Pick<AgentContext, "policy">,
): Promise<readonly Permission[]> {
  if (principal === undefined) return [];
  return forInvoker(await policy.permissions(principal, grant), invoker);
}
