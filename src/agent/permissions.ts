import type { AgentContext } from "./agent-options.js";
import type { Presenter } from "./caller.js";
import { forInvoker, type Permission } from "./policy.js";

/**
 * Returns what the policy currently allows the agent that the capability was issued to, rather than its present
 * holder. If the ledger does not know the capability, rules with `invokers` do not apply.
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
 * Returns what the policy currently allows a caller under a grant when it acts without a capability; nothing if
 * the principal is unknown.
 */
export async function ownPermissions(
  { principal, invoker }: Presenter,
  grant: string,
  { policy }: Pick<AgentContext, "policy">,
): Promise<readonly Permission[]> {
  if (principal === undefined) return [];
  return forInvoker(await policy.permissions(principal, grant), invoker);
}
