import { type RawBuilder, sql } from "kysely";
import { expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import type { Grant } from "../../../src/issuer/grant.js";
import { tablesOf } from "../../../src/stores/database.js";
import {
  activeAgent,
  approve,
  type Bank,
  bank,
  done,
  linkedHost,
  NOW,
  refusalOf,
  registration,
  statuses,
} from "./support.js";

const ask = (name: string, constraints?: Json) => ({ capabilities: [{ name, constraints }] });

test("an active agent gets more grants by approval, and its earlier grants do not change", async () => {
  const given = await bank();
  const { agent, grants: before } = await activeAgent(given);
  const asked = { ...ask("transfer_funds", { amount: { max: 1000 } }), purpose: "rent" };
  const { grants, approval } = done(await given.parties.requestGrants(agent.id, asked));
  expect(statuses(grants)).toEqual({ transfer_funds: "pending" });
  expect(await given.parties.agent(agent.id)).toMatchObject({ status: "active" });
  expect(await approve(given, approval)).toMatchObject({ ok: true });
  const after = await given.parties.grantsOf(agent.id);
  for (const grant of before) expect(after).toContainEqual(grant);
  const transfer = after.find(({ capability }) => capability === "transfer_funds");
  expect(transfer).toMatchObject({
    status: "active",
    grantedBy: "alice",
    purpose: "rent",
    expires: NOW + 86_400_000,
    hops: [{ by: "agent", hop: { constraints: { amount: { max: 1000 } } } }],
  });
});

test("a request expires after the shortest approval lifetime of the requested grants", async () => {
  const grants: readonly Grant[] = [
    { id: "accounts:read", description: "Look", operations: ["balance", "payees"] },
    {
      id: "payments:write",
      description: "Pay",
      operations: ["transfer", "remove"],
      approval: { lifetime: 7200 },
    },
    {
      id: "reports:print",
      description: "Print",
      operations: ["print"],
      approval: { approvers: ["dave"], lifetime: 60 },
    },
  ];
  const settings = { defaults: ["check_balance"], lifetimes: { approval: 900 } };
  const given = await bank({ grants, settings });
  const { agent } = await activeAgent(given);
  const waits = async (...names: readonly string[]): Promise<number> => {
    const capabilities = names.map((name) => ({ name }));
    const { approval } = done(await given.parties.requestGrants(agent.id, { capabilities }));
    expect(approval?.rule).toEqual(names.includes("print_report") ? { approvers: ["dave"] } : {});
    return ((approval?.expires ?? 0) - NOW) / 1000;
  };
  expect(await waits("transfer_funds")).toBe(7200);
  expect(await waits("print_report")).toBe(60);
  // A grant without an approval lifetime uses the default.
  expect(await waits("delete_payee", "list_payees")).toBe(900);
});

test("a request is refused for a granted capability, returns the approval of a pending capability, and opens another approval for wider limits", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const { parties } = given;
  const request = (name: string, constraints?: Json) =>
    parties.requestGrants(agent.id, ask(name, constraints));
  expect(refusalOf(await request("check_balance"))).toMatchObject({
    code: "already_granted",
    capabilities: ["check_balance"],
  });
  // The existing grant covers a narrower request.
  expect(refusalOf(await request("check_balance", { id: 1 })).code).toBe("already_granted");
  const first = done(await request("transfer_funds", { amount: { max: 100 } }));
  const same = done(await request("transfer_funds", { amount: { max: 100 } }));
  const less = done(await request("transfer_funds", { amount: { max: 10 }, to: "acc_1" }));
  for (const other of [same, less]) {
    expect(other.approval?.id).toBe(first.approval?.id);
    expect(other.userCode).toBe(first.userCode);
    expect(other.grants.map(({ id }) => id)).toEqual(first.grants.map(({ id }) => id));
  }
  const more = done(await request("transfer_funds", { amount: { max: 101 } }));
  expect(more.approval?.id).not.toBe(first.approval?.id);
  const other = done(await request("transfer_funds", { currency: "USD" }));
  expect(other.approval?.id).not.toBe(first.approval?.id);
  await approve(given, first.approval);
  expect(refusalOf(await request("transfer_funds", { amount: { in: [5, 100] } })).code).toBe(
    "already_granted",
  );
  expect(done(await request("transfer_funds", { amount: { max: 100.5 } })).approval?.id).toBe(
    more.approval?.id,
  );
});

test("a request for granted and new capabilities waits only for the new capabilities", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const capabilities = [{ name: "check_balance" }, { name: "transfer_funds" }];
  const { grants, approval } = done(await given.parties.requestGrants(agent.id, { capabilities }));
  expect(statuses(grants)).toEqual({ check_balance: "active", transfer_funds: "pending" });
  expect(approval?.subject.asked).toHaveLength(1);
});

test("after its registration, a delegated agent gets capabilities, even default capabilities, only with its user's approval", async () => {
  const given = await bank({ settings: { defaults: ["check_balance", "list_payees"] } });
  await linkedHost(given);
  const asked = registration({ capabilities: [{ name: "list_payees" }] });
  const { agent, grants } = done(await given.parties.register(asked));
  expect(statuses(grants)).toEqual({ list_payees: "active" });
  const more = done(await given.parties.requestGrants(agent.id, ask("check_balance")));
  expect(statuses(more.grants)).toEqual({ check_balance: "pending" });
  expect(await approve(given, more.approval)).toMatchObject({ ok: true });
  expect(statuses(await given.parties.grantsOf(agent.id))).toEqual({
    check_balance: "active",
    list_payees: "active",
  });
});

test("a delegated agent whose default capability expired must ask its user again", async () => {
  const given = await bank({ settings: { defaults: ["check_balance"], lifetimes: { grant: 60 } } });
  const { agent } = await activeAgent(given);
  given.clock.now += 60_000;
  const [expired] = await given.parties.grantsOf(agent.id);
  expect(expired).toMatchObject({ status: "revoked", reason: "it expired" });
  const again = done(await given.parties.requestGrants(agent.id, ask("check_balance")));
  expect(statuses(again.grants)).toEqual({ check_balance: "pending" });
});

test("an autonomous agent gets an expired default capability again, but not a revoked one", async () => {
  const settings = { defaults: ["check_balance"], lifetimes: { grant: 60 } };
  const given = await bank({ anyone: true, settings });
  const { parties } = given;
  const { agent } = done(await parties.register(registration({ mode: "autonomous" })));
  given.clock.now += 60_000;
  const again = done(await parties.requestGrants(agent.id, ask("check_balance")));
  expect(statuses(again.grants)).toEqual({ check_balance: "active" });
  done(await parties.revokeGrants(agent.id, ["check_balance"], { operator: true }));
  const third = done(await parties.requestGrants(agent.id, ask("check_balance")));
  expect(statuses(third.grants)).toEqual({ check_balance: "denied" });
});

test("the limits of agent, server and approvers are separate hops of the token", async () => {
  const settings = {
    defaults: [],
    constraints: { transfer_funds: { amount: { max: 500 }, currency: "USD" } },
  };
  const given = await bank({ settings });
  const { agent } = await activeAgent(given);
  const asked = ask("transfer_funds", { amount: { max: 1000 } });
  const { approval } = done(await given.parties.requestGrants(agent.id, asked));
  const hops = { 0: { constraints: { to: "acc_1", amount: { max: 800 } } } };
  expect(await approve(given, approval, { hops })).toMatchObject({ ok: true });
  const [grant] = await given.parties.grantsOf(agent.id);
  expect(grant?.hops.map(({ by, who }) => [by, who])).toEqual([
    ["agent", undefined],
    ["server", undefined],
    ["approver", "alice"],
  ]);
  const made = await given.agent.grantToken(grant ?? { id: "" });
  const standing = given.issuer.standing(made?.token ?? "");
  expect(standing.allowed && standing.capability.hops.map(({ hop }) => hop?.constraints)).toEqual([
    undefined,
    { amount: { max: 1000 } },
    { amount: { max: 500 }, currency: "USD" },
    { amount: { max: 800 }, to: "acc_1" },
  ]);
  const execute = (args: { readonly [name: string]: Json }) =>
    given.agent.executeGrant({ agent, capability: "transfer_funds", arguments: args });
  const right = { amount: 500, currency: "USD", to: "acc_1" };
  expect(await execute(right)).toMatchObject({ ok: true });
  const wrong = await execute({ amount: 900, currency: "EUR", to: "acc_2" });
  expect(wrong.ok ? [] : wrong.denials.map(({ rule }) => rule)).toEqual([
    "constraints.amount.max",
    "constraints.currency",
    "constraints.amount.max",
    "constraints.to",
  ]);
});

test.each([
  [{ amount: { maximum: 5, const: 1 } }, "unknown_constraint_operator", ["maximum", "const"]],
  [{ amount: { eq: 5 } }, "unknown_constraint_operator", ["eq"]],
  [{ amount: [5, { max: 10 }] }, "invalid_request", undefined],
  [{ amount: {} }, "invalid_request", undefined],
  [{ amount: { max: "5" } }, "invalid_request", undefined],
  [{ amount: { in: [] } }, "invalid_request", undefined],
  [{ amount: { in: "x" } }, "invalid_request", undefined],
  [{ amount: { min: 5, max: 4 } }, "invalid_request", undefined],
  ["x", "invalid_request", undefined],
  [[], "invalid_request", undefined],
] as const)(
  "a request with the constraints %j is refused",
  async (constraints, code, operators) => {
    const given = await bank();
    const { agent } = await activeAgent(given);
    const asked = ask("transfer_funds", constraints);
    expect(refusalOf(await given.parties.requestGrants(agent.id, asked))).toMatchObject({
      code,
      ...(operators === undefined ? {} : { operators }),
    });
    expect(await given.parties.approvals.waitingFor("alice")).toEqual([]);
  },
);

test("requested limits that contradict the server's limits are refused at once", async () => {
  const constraints = { transfer_funds: { currency: "USD" } };
  const given = await bank({ settings: { constraints } });
  const { agent } = await activeAgent(given);
  const asked = ask("transfer_funds", { currency: "EUR" });
  const refusal = refusalOf(await given.parties.requestGrants(agent.id, asked));
  expect(refusal).toMatchObject({ code: "invalid_request", path: "capabilities[0].constraints" });
});

test("requests of an autonomous agent beyond the default capabilities are denied with a reason, and denials do not accumulate", async () => {
  const given = await bank({ anyone: true });
  const asked = registration({ mode: "autonomous" });
  const { agent } = done(await given.parties.register(asked));
  for (let i = 0; i < 3; i++) {
    const { grants } = done(await given.parties.requestGrants(agent.id, ask("transfer_funds")));
    expect(grants).toMatchObject([{ status: "denied", reason: /defaults alone/ }]);
  }
  expect(await given.parties.grantsOf(agent.id)).toHaveLength(3);
});

test("a request beyond pendingPerAgent is refused until the agent's pending requests expire", async () => {
  const bounds = { pendingPerAgent: 2, grantsPerAgent: 4 };
  const given = await bank({ settings: { defaults: ["check_balance"], bounds } });
  const { agent } = await activeAgent(given);
  const request = (max: number) =>
    given.parties.requestGrants(agent.id, ask("transfer_funds", { amount: { max } }));
  done(await request(1));
  done(await request(2));
  expect(refusalOf(await request(3)).code).toBe("limit_exceeded");
  given.clock.now += 300_000;
  done(await request(3));
});

test("an agent that is not active, or whose host is revoked, cannot request grants", async () => {
  const given = await bank();
  const { parties } = given;
  const request = async (id: string) =>
    refusalOf(await parties.requestGrants(id, ask("transfer_funds"))).code;
  expect(await request("agent_none")).toBe("agent_not_found");
  const waiting = done(await parties.register(registration({ hostThumbprint: "new" })));
  expect(await request(waiting.agent.id)).toBe("agent_pending");
  const { agent, host } = await activeAgent(given);
  given.clock.now += 3_600_000;
  expect(await request(agent.id)).toBe("agent_expired");
  done(await parties.revokeAgent(agent.id, { host: host.id }));
  expect(await request(agent.id)).toBe("agent_revoked");
  const other = done(await parties.register(registration({ agentThumbprint: "other" })));
  done(await parties.revokeHost(host.id, { operator: true }));
  expect(await request(other.agent.id)).toBe("host_revoked");
});

test("a request that is repeated with its idempotency key is performed once", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const asked = { ...ask("transfer_funds"), idempotencyKey: "k" };
  const [one, two] = await Promise.all(
    [0, 1].map(() => given.parties.requestGrants(agent.id, asked)),
  );
  expect(one).toBeDefined();
  expect(two).toEqual(one);
  const other = await given.parties.requestGrants(agent.id, {
    ...asked,
    ...ask("delete_payee"),
  });
  expect(refusalOf(other).code).toBe("request_reused");
});

test("using an agent postpones its expiry, up to its maximum lifetime", async () => {
  const given = await bank({ settings: { lifetimes: { agent: 600, agentMost: 1000 } } });
  const { agent } = await activeAgent(given);
  given.clock.now += 500_000;
  await given.parties.used(agent.id);
  expect(await given.parties.agent(agent.id)).toMatchObject({
    status: "active",
    lastUsed: NOW + 500_000,
    expires: NOW + 1_000_000,
  });
  given.clock.now += 499_999;
  expect(await given.parties.agent(agent.id)).toMatchObject({ status: "active" });
  given.clock.now += 1;
  expect(await given.parties.agent(agent.id)).toMatchObject({ status: "expired" });
});

test("if storing an agent's use fails, the agent's next use is still stored", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const { parties, database, clock } = given;
  const run = (statement: RawBuilder<unknown>) =>
    tablesOf(database).write(async (db) => void (await statement.execute(db)));
  await run(sql`CREATE TRIGGER full BEFORE UPDATE ON party_agent
    BEGIN SELECT RAISE(ABORT, 'no room'); END`);
  clock.now += 1000;
  await expect(parties.used(agent.id)).rejects.toThrow();
  await run(sql`DROP TRIGGER full`);
  clock.now += 1000;
  await parties.used(agent.id);
  expect(await parties.agent(agent.id)).toMatchObject({ lastUsed: clock.now });
});

test("a reactivated agent has its host's default capabilities again, and none of its other grants", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const { parties } = given;
  const { approval } = done(await parties.requestGrants(agent.id, ask("transfer_funds")));
  await approve(given, approval);
  const waiting = done(await parties.requestGrants(agent.id, ask("delete_payee")));
  const transfer = (await parties.grantsOf(agent.id)).find((one) => one.grantedBy === "alice");
  const token = await given.agent.grantToken(transfer ?? { id: "" });
  expect(done(await parties.reactivate(agent.id)).agent.expires).toBe(agent.expires);
  given.clock.now += 3_600_000;
  const { agent: again, grants } = done(await parties.reactivate(agent.id));
  expect(again).toMatchObject({ status: "active", expires: NOW + 7_200_000 });
  expect(statuses(grants)).toEqual({ check_balance: "active", list_payees: "active" });
  const all = await parties.grantsOf(agent.id);
  expect(all.filter(({ status }) => status === "active")).toHaveLength(2);
  expect(given.issuer.standing(token?.token ?? "")).toMatchObject({ allowed: false });
  expect(await parties.approvals.get(waiting.approval?.id ?? "")).toMatchObject({
    state: "cancelled",
  });
});

test("an agent past its absolute lifetime cannot be reactivated", async () => {
  const given = await bank({ settings: { lifetimes: { agentWhole: 3600 } } });
  const { agent } = await activeAgent(given);
  given.clock.now += 3_600_000;
  expect(await given.parties.agent(agent.id)).toMatchObject({ status: "revoked" });
  expect(refusalOf(await given.parties.reactivate(agent.id)).code).toBe(
    "absolute_lifetime_exceeded",
  );
});

test("a capability that is no longer offered can be neither used nor requested", async () => {
  const given = await bank();
  await linkedHost(given);
  const { agent, grants } = done(await given.parties.register(registration()));
  const later = await given.again({ without: ["check_balance"], settings: {} });
  const [balance] = grants;
  expect(balance?.capability).toBe("check_balance");
  expect(await later.agent.grantToken(balance ?? { id: "" })).toBeUndefined();
  const call = { agent, capability: "check_balance", arguments: {} };
  expect(await later.agent.executeGrant(call)).toMatchObject({
    ok: false,
    denials: [{ code: "capability_missing" }],
  });
  const request = await later.parties.requestGrants(agent.id, ask("check_balance"));
  expect(refusalOf(request).code).toBe("invalid_capabilities");
  // The capability is shown as revoked everywhere, and works again once it is offered again.
  expect(await later.parties.grant(balance?.id ?? "")).toMatchObject({
    status: "revoked",
    reason: "the capability is no longer offered",
  });
  const seen = async ({ parties }: Bank) =>
    (await parties.activeGrants("alice")).map(({ grant }) => grant.capability).sort();
  expect(await seen(later)).toEqual(["list_payees"]);
  expect(await seen(given)).toEqual(["check_balance", "list_payees"]);
});

test("approving a capability that is no longer offered grants nothing", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const { approval } = done(await given.parties.requestGrants(agent.id, ask("delete_payee")));
  const later = await given.again({ without: ["delete_payee"] });
  expect(await approve(later, approval)).toMatchObject({ ok: true });
  const grants = await later.parties.grantsOf(agent.id);
  expect(grants.find(({ capability }) => capability === "delete_payee")).toMatchObject({
    status: "denied",
    reason: "the capability is no longer offered",
  });
});
