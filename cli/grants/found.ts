import type { Approval } from "../../src/agent/approvals/approval.js";
import type { AgentGrant } from "../../src/agent/registry/records.js";
import type { Registry } from "../../src/agent/registry/registry.js";
import { MAX_FOUND } from "../../src/agent/registry/registry-store.js";
import { type CliError, usageError } from "../exit.js";
import { quoted } from "../output.js";
import { didYouMean } from "../unknown-name.js";

/** What an id is of. */
export type Found =
  | { readonly kind: "approval"; readonly approval: Approval }
  | { readonly kind: "grant"; readonly grant: AgentGrant };

/** What an id stands for. @throws CliError naming the nearest id where there is no such thing. */
export async function findById(registry: Registry, id: string): Promise<Found> {
  const approval = await registry.approvals.get(id);
  if (approval !== undefined) return { kind: "approval", approval };
  const grant = await registry.grant(id);
  if (grant !== undefined) return { kind: "grant", grant };
  throw await unknownId(registry, id);
}

/** The approval of an id, or of a user code. @throws CliError as {@link findById}. */
export async function findApproval(registry: Registry, id: string): Promise<Approval> {
  const approval = (await registry.approvals.get(id)) ?? (await registry.approvals.byUserCode(id));
  if (approval !== undefined) return approval;
  const grant = await registry.grant(id);
  if (grant === undefined) throw await unknownId(registry, id);
  const { approval: asked } = grant;
  const hint = asked === undefined ? "it was granted at once" : `its approval is ${asked}`;
  throw usageError(`${quoted(id)} is a grant, and approvals are decided`, hint);
}

async function unknownId(registry: Registry, id: string): Promise<CliError> {
  const approvals = await registry.approvals.list({ limit: MAX_FOUND });
  const grants = await registry.allGrants({ limit: MAX_FOUND });
  const known = [...approvals, ...grants].map((one) => one.id);
  const hint = didYouMean(id, known, "proviso grants list has the ids");
  return usageError(`there is no approval and no grant ${quoted(id.slice(0, 200))}`, hint);
}
