import { expect, test } from "vitest";
import { createIssuingAgent } from "../../../src/agent/create-issuing-agent.js";
import { Registry } from "../../../src/agent/registry/registry.js";
import type { ApproverAnswer } from "../../../src/agent/approvals/deciding.js";
import type { IssuingAgent } from "../../../src/agent/issuing-agent.js";
import type { Caller } from "../../../src/agent/caller.js";
import type { Json } from "../../../src/bytes/json.js";
import { openRegistry } from "../../../src/stores/registry/registry-store.js";
import { GRANTS } from "../documents.js";
import { ALICE, BOB, misuse, type World, world } from "../support.js";

const REQUEST = {
  grants: ["documents:delete"],
  resourceQuery: { collection: "reports" },
  purpose: "clean up",
};

interface Approved extends World {
  readonly agent: IssuingAgent;
  readonly registry: Registry;
}

async function approvedWorld(approval: object = {}): Promise<Approved> {
  const given = await world();
  const { revocations, database, clock, policy } = given;
  const registry = new Registry({
    ...{ store: openRegistry(database), revocations, clock: () => clock.now, policy },
  });
  const grants = GRANTS.map((grant) =>
    grant.id === "documents:delete" ? { ...grant, approval } : grant,
  );
  return { ...given, registry, agent: await given.again({ grants, registry }) };
}

async function pendingOf(given: Approved, params: Json = REQUEST, caller: Caller = ALICE, id?: string) {
  const outcome = await given.agent.request(caller, params, id);
  if (!outcome.ok) throw new Error(outcome.denial.message);
  const { pending, capabilities } = outcome;
  if (pending === undefined) throw new Error("nothing waits");
  const decide = (more: Partial<ApproverAnswer> = {}, principal = "alice") =>
    given.registry.approvals.decide(pending.approval.id, { principal }, {
      ...{ answer: "approve", digest: pending.approval.digest },
      ...more,
    });
  const collect = (by = caller) => given.agent.collect(by, pending.approval.id);
  return { approval: pending.approval, capabilities, decide, collect };
}
