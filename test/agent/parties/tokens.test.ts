import { expect, test } from "vitest";
import { Parties } from "../../../src/agent/parties/parties.js";
import { attenuate } from "../../../src/capability/attenuate.js";
import { inspect } from "../../../src/index.js";
import { createIssuer } from "../../../src/issuer/issuer.js";
import { importKeyring } from "../../../src/issuer/keyring.js";
import { RevocationList } from "../../../src/revocation/list.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { activeAgent, approve, bank, done, keyOf, LOCATION, registration } from "./support.js";

const ask = (name: string, constraints?: object) => ({
  capabilities: [
    { name, ...(constraints === undefined ? {} : { constraints: { ...constraints } }) },
  ],
});

test("each token of a grant has the same capability id, and expires no later than the agent", async () => {
  const given = await bank();
  const { agent, grants } = await activeAgent(given);
  const grant = grants.find(({ capability }) => capability === "check_balance") ?? { id: "" };
  const first = await given.agent.grantToken(grant);
  expect(first?.expires).toBe("2030-01-01T00:15:00Z");
  given.clock.now += 3_000_000;
  const second = await given.agent.grantToken(grant);
  // The agent expires in 10 minutes.
  expect(second?.expires).toBe("2030-01-01T01:00:00Z");
  expect(second?.token).not.toBe(first?.token);
  const ids = [first, second].map((made) => {
    const known = given.issuer.authenticate(made?.token ?? "");
    return known.ok && known.token.identifier;
  });
  expect(ids).toMatchObject([
    { id: "capabilityId" in grant && grant.capabilityId, principal: "alice" },
    { id: "capabilityId" in grant && grant.capabilityId, grant: "accounts:read" },
  ]);
  const issued = await given.ledger.list({ kind: "issuance" });
  expect(issued).toMatchObject([{ invoker: agent.id, principal: "alice", decision: "allowed" }]);
  given.clock.now += 600_000;
  expect(await given.agent.grantToken(grant)).toBeUndefined();
});

test("an agent attenuates its token offline, and the child token ends with the grant", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const asked = ask("transfer_funds", { amount: { max: 1000 } });
  const { approval } = done(await given.parties.requestGrants(agent.id, asked));
  await approve(given, approval);
  const all = await given.parties.grantsOf(agent.id);
  const grant = all.find(({ capability }) => capability === "transfer_funds") ?? { id: "" };
  const made = await given.agent.grantToken(grant);
  const child = attenuate(made?.token ?? "", {
    constraints: { amount: { max: 100 } },
    invokers: ["sub"],
  });
  const token = child.ok ? child.token : "";
  const pay = (amount: number) =>
    given.agent.invoke(
      { principal: "alice", invoker: "sub" },
      { skill: "transfer_funds", arguments: { amount }, capabilities: [{ token }] },
    );
  expect(await pay(100)).toMatchObject({ ok: true, result: { principal: "alice" } });
  expect(await pay(101)).toMatchObject({ ok: false });
  done(await given.parties.revokeGrant(grant.id, { principal: "alice" }));
  expect(await pay(100)).toMatchObject({ ok: false, denials: [{ code: "revoked" }] });
});

test.each([
  ["an approved agent's token works for whoever holds it", false],
  ["a token that the approver bound to the agent works for this agent only", true],
])("%s", async (_, bound) => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const bobs = { key: keyOf("bobs-laptop"), thumbprint: "bobs-laptop" };
  done(await given.parties.createHost({ principal: "bob", key: bobs }));
  const other = done(
    await given.parties.register(
      registration({ hostThumbprint: "bobs-laptop", agentThumbprint: "bobs-agent" }),
    ),
  );
  const { approval } = done(await given.parties.requestGrants(agent.id, ask("transfer_funds")));
  await approve(given, approval, bound ? { hops: { 0: { invokers: [agent.id] } } } : {});
  const all = await given.parties.grantsOf(agent.id);
  const grant = all.find(({ capability }) => capability === "transfer_funds") ?? { id: "" };
  const { token = "" } = (await given.agent.grantToken(grant)) ?? {};
  const call = { capability: "transfer_funds", arguments: {}, presented: token };
  expect(await given.agent.executeGrant({ ...call, agent })).toMatchObject({ ok: true });
  // Without the token, the same grant allows the call.
  const { presented: __, ...own } = call;
  expect(await given.agent.executeGrant({ ...own, agent })).toMatchObject({ ok: true });
  const outcomes = [
    // Bob's agent, and a caller over A2A, would act for Alice by this token.
    await given.agent.executeGrant({ ...call, agent: other.agent }),
    await given.agent.invoke(
      { principal: "bob", invoker: "assistant" },
      { skill: "transfer_funds", arguments: {}, capabilities: [{ token }] },
    ),
  ];
  for (const outcome of outcomes) {
    expect(outcome).toMatchObject(
      bound
        ? { ok: false, denials: [{ code: "invoker_denied" }] }
        : { ok: true, result: { principal: "alice" } },
    );
  }
});

test("a call with a presented token is judged by this token alone, whatever the agent's grants allow", async () => {
  const given = await bank();
  const { agent, grants } = await activeAgent(given);
  const grant = grants.find(({ capability }) => capability === "check_balance") ?? { id: "" };
  const made = await given.agent.grantToken(grant);
  const child = attenuate(made?.token ?? "", { constraints: { account: "a" } });
  const call = { agent, capability: "check_balance", presented: child.ok ? child.token : "" };
  const run = (account: string) => given.agent.executeGrant({ ...call, arguments: { account } });
  expect(await run("a")).toMatchObject({ ok: true });
  expect(await run("b")).toMatchObject({ ok: false, denials: [{ code: "constraint_violated" }] });
  const { presented: _, ...own } = call;
  expect(await given.agent.executeGrant({ ...own, arguments: {} })).toMatchObject({ ok: true });
  done(await given.parties.revokeAgent(agent.id, { operator: true }));
  // The caller still has the record from before the revocation.
  expect(await run("a")).toMatchObject({ ok: false });
});

test("several grants of one capability are judged separately, never combined", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  for (const limits of [{ amount: { max: 10 } }, { to: "acc_1" }]) {
    const asked = ask("transfer_funds", limits);
    const { approval } = done(await given.parties.requestGrants(agent.id, asked));
    await approve(given, approval);
  }
  const pay = async (amount: number, to: string) => {
    const call = { agent, capability: "transfer_funds", arguments: { amount, to } };
    return (await given.agent.executeGrant(call)).ok;
  };
  expect(await pay(10, "acc_2")).toBe(true);
  expect(await pay(11, "acc_1")).toBe(true);
  expect(await pay(11, "acc_2")).toBe(false);
});

test("a grant for another service's skill gives tokens that only that service accepts, with its own key", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const { approval } = done(await given.parties.requestGrants(agent.id, ask("print_report")));
  expect(approval?.subject.audience).toEqual([LOCATION]);
  await approve(given, approval, { hops: { 0: { constraints: { pages: { max: 3 } } } } });
  const all = await given.parties.grantsOf(agent.id);
  const grant = all.find(({ capability }) => capability === "print_report") ?? { id: "" };
  const made = await given.agent.grantToken(grant);
  const service = createIssuer({
    name: "bank-agent",
    keys: importKeyring(given.keys.serviceKeys(LOCATION)),
    revocations: new RevocationList(),
    audience: LOCATION,
    clock: () => given.clock.now,
    grants: [{ id: "reports:print", operations: ["print"] }],
  });
  const print = (pages: number) =>
    service.authorize(made?.token ?? "", { operation: "print", arguments: { pages } }).allowed;
  expect([print(3), print(4)]).toEqual([true, false]);
  const call = { agent, capability: "print_report", arguments: { pages: 1 } };
  for (const presented of [undefined, made?.token]) {
    expect(await given.agent.executeGrant({ ...call, presented })).toMatchObject({
      ok: false,
      denials: [{ code: "audience_denied", rule: "location" }],
    });
  }
});

test("a token of a grant that may not be narrowed has every party's hop, and allows no further hop", async () => {
  const grants = [
    { id: "accounts:read", description: "Look", operations: ["balance", "payees"] },
    { id: "payments:write", description: "Pay", operations: ["transfer"], attenuable: false },
    { id: "rest", description: "Rest", operations: ["remove", "print"] },
  ];
  const given = await bank({ grants });
  const { agent } = await activeAgent(given);
  const asked = ask("transfer_funds", { amount: { max: 10 } });
  const { approval } = done(await given.parties.requestGrants(agent.id, asked));
  await approve(given, approval, { hops: { 0: { constraints: { to: "acc_1" } } } });
  const call = { agent, capability: "transfer_funds" };
  const right = { amount: 10, to: "acc_1" };
  expect(await given.agent.executeGrant({ ...call, arguments: right })).toMatchObject({ ok: true });
  const all = await given.parties.grantsOf(agent.id);
  const grant = all.find(({ capability }) => capability === "transfer_funds") ?? { id: "" };
  const made = await given.agent.grantToken(grant);
  expect(attenuate(made?.token ?? "", { purpose: "more" })).toMatchObject({ ok: false });
});

test("Parties can decide and revoke without skills and without a policy", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const { approval } = done(await given.parties.requestGrants(agent.id, ask("transfer_funds")));
  const { revocations, database, clock } = given;
  const store = openParties(database);
  const alone = new Parties({ store, revocations, clock: () => clock.now });
  const [waiting] = await alone.approvals.list({ state: "pending" });
  expect(waiting?.id).toBe(approval?.id);
  const answer = { answer: "approve" as const, digest: waiting?.digest ?? "" };
  const outcome = await alone.approvals.decide(waiting?.id ?? "", { principal: "alice" }, answer);
  expect(outcome).toMatchObject({ ok: true });
  expect(await alone.activeGrants("alice")).toHaveLength(3);
  done(await alone.revokeAgent(agent.id, { operator: true }));
  expect(await given.parties.activeGrants("alice")).toEqual([]);
  const request = await alone.requestGrants(agent.id, ask("transfer_funds"));
  expect(request).toMatchObject({ ok: false, code: "invalid_capabilities" });
});

test("the policy's limits on arguments are in each token, and hold for calls without a token", async () => {
  const given = await bank({
    rules: {
      rules: [
        {
          principal: "alice",
          grant: "*",
          operations: "*",
          operationConstraints: { transfer: { amount: { max: 50 } } },
        },
      ],
    },
  });
  const { agent } = await activeAgent(given);
  const { approval } = done(await given.parties.requestGrants(agent.id, ask("transfer_funds")));
  await approve(given, approval);
  const all = await given.parties.grantsOf(agent.id);
  const grant = all.find(({ capability }) => capability === "transfer_funds") ?? { id: "" };
  const { token = "" } = (await given.agent.grantToken(grant)) ?? {};
  expect(inspect(token).links.at(-1)?.hop).toEqual({
    operationConstraints: { transfer: { amount: { max: 50 } } },
  });
  const call = { agent, capability: "transfer_funds" };
  const run = (amount: number) => given.agent.executeGrant({ ...call, arguments: { amount } });
  expect(await run(50)).toMatchObject({ ok: true });
  expect(await run(51)).toMatchObject({ ok: false, denials: [{ code: "constraint_violated" }] });
});

test("a call that the policy denies does not record the grant's capability as issued; the first allowed call does, with the policy's limits", async () => {
  const given = await bank();
  const { agent, grants } = await activeAgent(given);
  const { capabilityId = "" } =
    grants.find(({ capability }) => capability === "check_balance") ?? {};
  const run = () =>
    given.agent.executeGrant({ agent, capability: "check_balance", arguments: { account: "a" } });
  given.policy.replace({ rules: [] });
  expect(await run()).toMatchObject({ ok: false, denials: [{ code: "policy_denied" }] });
  expect(await given.ledger.issued(capabilityId)).toBeUndefined();
  const constraints = { account: "a" };
  given.policy.replace({
    rules: [{ principal: "alice", grant: "*", operations: "*", constraints }],
  });
  expect(await run()).toMatchObject({ ok: true });
  const { further } = (await given.ledger.issued(capabilityId)) ?? {};
  expect(further).toEqual([JSON.stringify({ constraints })]);
});
