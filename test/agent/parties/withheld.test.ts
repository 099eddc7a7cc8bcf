import { expect, test } from "vitest";
import type { Approval } from "../../../src/agent/parties/records.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { throughStores } from "../../support/databases.js";
import {
  activeAgent,
  approve,
  type Bank,
  type BankOptions,
  bank,
  done,
  registration,
  statuses,
} from "./support.js";

// Defaults that people ended stay ended for the life of the agent.

const DAY = 24 * 60 * 60 * 1000;
const LASTING = { agent: 200 * 86_400, agentMost: 300 * 86_400, grant: 300 * 86_400 };

throughStores((place) => {
  const opened = async (more: BankOptions = {}): Promise<Bank> =>
    bank({
      settings: { defaults: ["check_balance", "list_payees"], lifetimes: LASTING },
      ...more,
      place: await place(),
    });

  const afterReactivation = async ({ parties, clock }: Bank, agent: string) => {
    clock.now += 200 * DAY;
    const again = done(await parties.reactivate(agent));
    expect(again.agent.status).toBe("active");
    return statuses(again.grants);
  };

  /** Returns the indexes of list_payees among the requested grants. */
  const placesOf = (approval: Approval | undefined): readonly number[] =>
    approval?.subject.asked.flatMap(({ name }, at) => (name === "list_payees" ? [at] : [])) ?? [];

  const prune = ({ database, clock }: Bank) => openParties(database).prune(clock.now);

  test("a default capability revoked by its user is not granted again after the revoked grant was pruned", async () => {
    const given = await opened();
    const { parties, clock } = given;
    const { agent } = await activeAgent(given);
    done(await parties.revokeGrants(agent.id, ["check_balance"], { principal: "alice" }));
    clock.now += 91 * DAY;
    await parties.used(agent.id);
    await prune(given);
    expect((await parties.grantsOf(agent.id)).map(({ capability }) => capability)).toEqual([
      "list_payees",
    ]);
    expect(await afterReactivation(given, agent.id)).toEqual({ list_payees: "active" });
    // Another agent of the host has the default.
    const next = done(await parties.register(registration({ agentThumbprint: "second" })));
    expect(statuses(next.grants)).toEqual({ check_balance: "active", list_payees: "active" });
  });

  test("a default capability denied by an approver is not granted again after the denied grant was pruned", async () => {
    const given = await opened();
    const { parties, clock } = given;
    const asked = done(await parties.register(registration()));
    const { agent, approval, userCode = "" } = asked;
    await approve(given, approval, { userCode, granted: placesOf(approval) });
    expect(statuses(await parties.grantsOf(agent.id))).toEqual({
      check_balance: "denied",
      list_payees: "active",
    });
    clock.now += 91 * DAY;
    await parties.used(agent.id);
    await prune(given);
    expect(await afterReactivation(given, agent.id)).toEqual({ list_payees: "active" });
  });

  test.each([
    "the agent was reactivated",
    "no approver decided in time; ask again",
    "the policy does not permit it",
  ])(
    "a default capability that an approver denied with the reason %j is not granted at a reactivation",
    async (reason) => {
      const given = await opened();
      const { parties } = given;
      const { agent, approval, userCode = "" } = done(await parties.register(registration()));
      await approve(given, approval, { userCode, granted: placesOf(approval), reason });
      const denied = (await parties.grantsOf(agent.id)).find(({ status }) => status === "denied");
      expect(denied).toMatchObject({ capability: "check_balance", reason });
      expect(await afterReactivation(given, agent.id)).toEqual({ list_payees: "active" });
    },
  );

  test("a reactivation grants a default capability that the policy denied, that nobody decided in time or that was still pending", async () => {
    const rules = {
      rules: [{ principal: "alice", grant: "accounts:read", operations: ["payees"] }],
    };
    const given = await opened({ rules });
    const { parties, policy } = given;
    // Denied by the policy.
    const { agent, grants } = await activeAgent(given);
    expect(statuses(grants)).toEqual({ check_balance: "denied", list_payees: "active" });
    policy.replace({ rules: [{ principal: "alice", grant: "accounts:read", operations: "*" }] });
    // Requested, and expired undecided.
    const late = { capabilities: [{ name: "check_balance" }] };
    done(await parties.requestGrants(agent.id, late));
    given.clock.now += 300_000;
    expect(statuses(await parties.grantsOf(agent.id))).toMatchObject({ check_balance: "denied" });
    // Still pending at the reactivation.
    given.clock.now += 200 * DAY - 400_000;
    done(await parties.requestGrants(agent.id, late));
    expect(await parties.agent(agent.id)).not.toHaveProperty("withheld");
    given.clock.now += 100_000;
    const both = { check_balance: "active", list_payees: "active" };
    expect(statuses(done(await parties.reactivate(agent.id)).grants)).toEqual(both);
    expect(await parties.agent(agent.id)).not.toHaveProperty("withheld");
    expect(await afterReactivation(given, agent.id)).toEqual(both);
  });

  test("a capability whose pending request an operator cancels is withheld from the agent", async () => {
    const given = await opened();
    const { parties } = given;
    const { agent } = await activeAgent(given);
    done(await parties.revokeGrants(agent.id, ["check_balance"], { principal: "alice" }));
    const asked = { capabilities: [{ name: "transfer_funds" }] };
    const { approval } = done(await parties.requestGrants(agent.id, asked));
    expect(await parties.approvals.cancel(approval?.id ?? "", { operator: true })).toBe(true);
    expect(await parties.agent(agent.id)).toMatchObject({
      withheld: ["check_balance", "transfer_funds"],
    });
  });
});
