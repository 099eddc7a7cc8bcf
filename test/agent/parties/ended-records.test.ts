import { expect, test } from "vitest";
import type { AgentGrant, AgentRecord } from "../../../src/agent/parties/records.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { approval as approvalOf, subject } from "../../stores/parties/support.js";
import { activeAgent, type Bank, bank, done, keyOf, NOW, registration } from "./support.js";

/** Stores records that ended long ago, in order. */
async function put(
  { database }: Bank,
  { grants = [], agents = [] }: { grants?: AgentGrant[]; agents?: AgentRecord[] },
): Promise<void> {
  await openParties(database).change(async (draft) => {
    for (const grant of grants) await draft.put("grants", grant);
    for (const agent of agents) await draft.put("agents", agent);
    for (const { approval } of grants) {
      if (approval === undefined || (await draft.approvals.get(approval)) !== undefined) continue;
      const more = { state: "denied", subject: subject(approval) } as const;
      await draft.put("approvals", approvalOf(approval, more));
    }
  });
}

test("only the latest 500 ended grants of an agent are kept, and a default capability that the user revoked stays withheld", async () => {
  const given = await bank();
  const { parties } = given;
  const { agent, grants } = await activeAgent(given);
  const [like] = grants;
  if (like === undefined) return expect.fail("no default was granted");
  // The user revokes a default, and later approvals follow.
  done(await parties.revokeGrant(like.id, { principal: "alice" }));
  const ended = Array.from({ length: 620 }, (_, at): AgentGrant => {
    const id = `old_${String(at).padStart(3, "0")}`;
    return {
      ...like,
      id,
      capabilityId: `cap_${id}`,
      capability: "delete_payee",
      status: "denied",
      created: NOW + 1000 + at,
      updated: NOW + 1000 + at,
      approval: `approval_${id}`,
      reason: "no",
    };
  });
  await put(given, { grants: ended });
  given.clock.now += 60_000;
  const ask = (name: string) => parties.requestGrants(agent.id, { capabilities: [{ name }] });
  done(await ask("transfer_funds"));
  const left = async (): Promise<readonly string[]> =>
    (await parties.grantsOf(agent.id)).map(({ id }) => id).filter((id) => id.startsWith("old"));
  // The oldest 100 of the 621 are deleted in one run.
  expect((await left())[0]).toBe("old_099");
  expect(await parties.grant(like.id)).toBeUndefined();
  expect(await parties.approvals.get("approval_old_098")).toBeUndefined();
  expect(await parties.approvals.get("approval_old_099")).toMatchObject({ state: "denied" });
  done(await ask("print_report"));
  expect(await left()).toHaveLength(500);
  given.clock.now += 3_600_000;
  const again = done(await parties.reactivate(agent.id));
  expect(again.grants.map(({ capability }) => capability)).not.toContain(like.capability);
  expect(again.grants).toHaveLength(1);
});

test("only the latest 500 ended agents of a host are kept", async () => {
  const given = await bank();
  const { parties } = given;
  const { agent: alive, grants } = await activeAgent(given);
  const [like] = grants;
  if (like === undefined) return expect.fail("no default was granted");
  const statuses = ["revoked", "rejected", "claimed"] as const;
  const agents = Array.from({ length: 503 }, (_, at): AgentRecord => {
    const id = `agent_old_${String(at).padStart(3, "0")}`;
    const status = statuses[at % statuses.length] ?? "revoked";
    const times = { created: NOW - 24 * 60 * 60 * 1000, updated: NOW + 1000 + at };
    return { ...alive, id, thumbprint: id, key: keyOf(id), status, ...times };
  });
  const had = agents.slice(0, 3).map(({ id }): AgentGrant => {
    const grant = { ...like, id: `grant_of_${id}`, agent: id, status: "revoked" } as const;
    return { ...grant, capabilityId: `cap_${id}`, approval: `approval_of_${id}` };
  });
  await put(given, { agents, grants: had });
  const next = (key: string) => parties.register(registration({ agentThumbprint: key }));
  done(await next("second"));
  const left = async (): Promise<readonly string[]> =>
    (await parties.agentsOf(alive.host)).map(({ id }) => id).filter((id) => id.includes("old"));
  expect((await left())[0]).toBe("agent_old_002");
  expect(await parties.grant("grant_of_agent_old_001")).toBeUndefined();
  expect(await parties.approvals.get("approval_of_agent_old_001")).toBeUndefined();
  expect(await parties.grant("grant_of_agent_old_002")).toMatchObject({ status: "revoked" });
  done(await next("third"));
  done(await next("fourth"));
  expect(await left()).toHaveLength(500);
  expect(await parties.agent(alive.id)).toMatchObject({ status: "active" });
});
