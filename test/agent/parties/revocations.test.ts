import { expect, test } from "vitest";
import {
  activeAgent,
  approve,
  bank,
  changes,
  done,
  keyOf,
  linkedHost,
  newKey,
  refusalOf,
  registration,
  statuses,
} from "./support.js";

const TRANSFER = { capabilities: [{ name: "transfer_funds" }] };

test("revoking an agent revokes its grants and their tokens, and cancels its pending requests", async () => {
  const given = await bank();
  const { agent, grants } = await activeAgent(given);
  const { parties } = given;
  const token = await given.agent.grantToken(grants[0] ?? { id: "" });
  const { approval } = done(await parties.requestGrants(agent.id, TRANSFER));
  expect(given.issuer.standing(token?.token ?? "").allowed).toBe(true);
  const revoked = done(await parties.revokeAgent(agent.id, { principal: "alice" }));
  expect(revoked.agent.status).toBe("revoked");
  expect(given.issuer.standing(token?.token ?? "")).toMatchObject({
    allowed: false,
    denials: [{ code: "revoked" }],
  });
  expect(statuses(await parties.grantsOf(agent.id))).toEqual({
    check_balance: "revoked",
    list_payees: "revoked",
    transfer_funds: "denied",
  });
  expect(await approve(given, approval)).toMatchObject({ code: "approval_settled" });
  expect(done(await parties.revokeAgent(agent.id, { principal: "alice" })).grants).toEqual([]);
  // The agent's key cannot be registered again at the same host.
  expect(refusalOf(await parties.register(registration())).code).toBe("agent_exists");
});

test("revoking a host revokes its agents, and the host's key is never accepted again", async () => {
  const given = await bank();
  const { host } = await activeAgent(given);
  const { parties } = given;
  done(await parties.register(registration({ agentThumbprint: "second" })));
  const { agentsRevoked } = done(await parties.revokeHost(host.id, { host: host.id }));
  expect(agentsRevoked).toBe(2);
  expect((await parties.agentsOf(host.id)).map(({ status }) => status)).toEqual([
    "revoked",
    "revoked",
  ]);
  expect(await parties.activeGrants("alice")).toEqual([]);
  expect(refusalOf(await parties.register(registration())).code).toBe("host_revoked");
  expect(done(await parties.revokeHost(host.id, { operator: true })).agentsRevoked).toBe(0);
  expect((await changes(given)).filter((one) => one === "host.revoked")).toHaveLength(1);
});

test("an agent revokes some of its grants by name; a pending request without remaining grants is cancelled", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const { parties } = given;
  const { approval } = done(await parties.requestGrants(agent.id, TRANSFER));
  const names = ["check_balance", "transfer_funds", "nothing"];
  const { grants } = done(await parties.revokeGrants(agent.id, names, { agent: agent.id }));
  const ended = grants.map(({ capability }) => capability).sort();
  expect(ended).toEqual(["check_balance", "transfer_funds"]);
  expect(statuses(await parties.grantsOf(agent.id))).toEqual({
    check_balance: "revoked",
    list_payees: "active",
    transfer_funds: "revoked",
  });
  expect(await parties.approvals.get(approval?.id ?? "")).toMatchObject({ state: "cancelled" });
  expect(done(await parties.revokeGrants(agent.id, names, { agent: agent.id })).grants).toEqual([]);
});

test("a user revokes one grant from the list of active grants", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  const { parties } = given;
  const listed = await parties.activeGrants("alice");
  expect(listed).toHaveLength(2);
  expect(listed[0]).toMatchObject({ agent: { id: agent.id }, host: { name: "Laptop" } });
  const id = listed[0]?.grant.id ?? "";
  const outcome = done(await parties.revokeGrant(id, { principal: "alice" }));
  expect(outcome.grant).toMatchObject({ status: "revoked", reason: "its user revoked it" });
  expect(await parties.activeGrants("alice")).toHaveLength(1);
});

test("a user, host or agent cannot revoke the agent, host or grant of another party", async () => {
  const given = await bank();
  const { agent, host, grants } = await activeAgent(given);
  const { parties } = given;
  for (const by of [{ principal: "bob" }, { host: "other" }, { agent: "other" }, {}]) {
    expect(refusalOf(await parties.revokeAgent(agent.id, by)).code).toBe("unauthorized");
    expect(refusalOf(await parties.revokeHost(host.id, by)).code).toBe("unauthorized");
    expect(refusalOf(await parties.revokeGrant(grants[0]?.id ?? "", by)).code).toBe("unauthorized");
  }
  // An agent cannot revoke its host.
  expect(refusalOf(await parties.revokeHost(host.id, { agent: agent.id })).code).toBe(
    "unauthorized",
  );
  expect(refusalOf(await parties.revokeAgent("none", {})).code).toBe("agent_not_found");
  expect(refusalOf(await parties.revokeHost("none", {})).code).toBe("host_not_found");
  expect(refusalOf(await parties.revokeGrant("none", {})).code).toBe("grant_not_found");
});

test("replacing a key frees the old key, and a key that is in use is refused", async () => {
  const given = await bank();
  const { agent, host } = await activeAgent(given);
  const { parties } = given;
  const second = done(await parties.register(registration({ agentThumbprint: "second" })));
  const taken = await parties.rotateAgentKey(agent.id, newKey("second"));
  expect(refusalOf(taken).code).toBe("key_in_use");
  const rotated = done(await parties.rotateAgentKey(agent.id, newKey("new")));
  expect(rotated.agent).toMatchObject({ thumbprint: "new", key: keyOf("new"), status: "active" });
  done(await parties.rotateAgentKey(second.agent.id, newKey("agent-key")));

  await linkedHost(given, "other");
  expect(refusalOf(await parties.rotateHostKey(host.id, newKey("other"))).code).toBe("key_in_use");
  done(await parties.rotateHostKey(host.id, newKey("next")));
  expect(await parties.hostByKey("laptop")).toBeUndefined();
  expect(await parties.hostByKey("next")).toMatchObject({ id: host.id });
  expect(refusalOf(await parties.rotateHostKey("none", newKey("x"))).code).toBe("host_not_found");
  done(await parties.revokeHost(host.id, { operator: true }));
  expect(refusalOf(await parties.rotateHostKey(host.id, newKey("x"))).code).toBe("host_revoked");
  expect(refusalOf(await parties.rotateAgentKey(agent.id, newKey("x"))).code).toBe("host_revoked");
});

test("a user's claim ends an autonomous agent with its tokens, and links its host to the user", async () => {
  const given = await bank({ anyone: true });
  const { parties } = given;
  const alone = done(await parties.register(registration({ mode: "autonomous" })));
  const token = await given.agent.grantToken(alone.grants[0] ?? { id: "" });
  const asking = { by: { host: alone.host.id } };
  const phone = done(await parties.createHost({ principal: "bob" })).host;
  for (const by of [{ host: phone.id }, { agent: "none" }, {}]) {
    const stranger = await parties.claim({ agent: alone.agent.id, by });
    expect(refusalOf(stranger).code).toBe("unauthorized");
  }
  const { approval, userCode = "" } = done(
    await parties.claim({ ...asking, agent: alone.agent.id }),
  );
  expect(approval?.subject.bindingMessage).toBe('Take over the autonomous agent "Payments"');
  expect(approval?.subject.asked).toHaveLength(2);
  expect(await approve(given, approval, { as: "bob", userCode })).toMatchObject({ ok: true });
  expect(await parties.agent(alone.agent.id)).toMatchObject({
    status: "claimed",
    principal: "bob",
  });
  expect(await parties.host(alone.host.id)).toMatchObject({ principal: "bob", status: "active" });
  expect(given.issuer.standing(token?.token ?? "")).toMatchObject({ allowed: false });
  const again = await parties.claim({ ...asking, agent: alone.agent.id });
  expect(refusalOf(again).code).toBe("agent_claimed");
  const next = done(await parties.register(registration({ agentThumbprint: "second" })));
  expect(next.agent).toMatchObject({ status: "active", principal: "bob" });
  expect(refusalOf(await parties.claim({ ...asking, agent: next.agent.id })).code).toBe(
    "unsupported_mode",
  );
  expect(refusalOf(await parties.claim({ ...asking, agent: "none" })).code).toBe("agent_not_found");
});

test("an approver's decision alone does not claim an agent for the named user", async () => {
  const given = await bank({ anyone: true, settings: { approval: { approvers: ["dave"] } } });
  const { parties } = given;
  const alone = done(await parties.register(registration({ mode: "autonomous" })));
  const asking = { by: { agent: alone.agent.id }, loginHint: "bob" };
  const { approval } = done(await parties.claim({ ...asking, agent: alone.agent.id }));
  await approve(given, approval, { as: "dave" });
  expect(await parties.agent(alone.agent.id)).toMatchObject({ status: "active" });
  await approve(given, approval, { as: "bob" });
  expect(await parties.agent(alone.agent.id)).toMatchObject({
    status: "claimed",
    principal: "bob",
  });
});

test("a denied claim leaves the agent active with its grants", async () => {
  const given = await bank({ anyone: true });
  const { parties } = given;
  const alone = done(await parties.register(registration({ mode: "autonomous" })));
  const asking = { by: { agent: alone.agent.id }, loginHint: "bob" };
  const { approval } = done(await parties.claim({ ...asking, agent: alone.agent.id }));
  expect(await approve(given, approval, { as: "bob", answer: "deny" })).toMatchObject({ ok: true });
  expect(await parties.agent(alone.agent.id)).toMatchObject({ status: "active" });
  expect(await given.agent.grantToken(alone.grants[0] ?? { id: "" })).toBeDefined();
});

test("a claim beyond pendingPerAgent is refused, and the host can still register another agent", async () => {
  const given = await bank({ anyone: true, settings: { bounds: { pendingPerAgent: 2 } } });
  const { parties } = given;
  const alone = done(await parties.register(registration({ mode: "autonomous" })));
  const asking = { agent: alone.agent.id, by: { host: alone.host.id } };
  done(await parties.claim(asking));
  done(await parties.claim(asking));
  expect(refusalOf(await parties.claim(asking)).code).toBe("limit_exceeded");
  const { approval } = done(await parties.register(registration({ agentThumbprint: "second" })));
  expect(approval?.subject.kind).toBe("agent-grants");
});

test("using a grant extends its agent's life, but does not revive an expired agent", async () => {
  const given = await bank({ settings: { defaults: ["check_balance"], lifetimes: { agent: 60 } } });
  const { parties, clock } = given;
  const { agent, grants } = await activeAgent(given);
  const id = grants[0]?.id ?? "";
  clock.now += 59_000;
  await parties.used(agent.id, id);
  const used = await parties.agent(agent.id);
  expect(used).toMatchObject({
    status: "active",
    lastUsed: clock.now,
    expires: clock.now + 60_000,
  });
  expect(await parties.host(agent.host)).toMatchObject({ lastUsed: clock.now });
  // Records a call that began before the expiry and ended after it.
  clock.now += 60_000;
  await parties.used(agent.id, id);
  expect(await parties.agent(agent.id)).toEqual({ ...used, status: "expired" });
  done(await parties.reactivate(agent.id));
  const revoked = done(await parties.revokeAgent(agent.id, { principal: "alice" }));
  clock.now += 30_000;
  await parties.used(agent.id, id);
  expect(await parties.agent(agent.id)).toEqual(revoked.agent);
});

test("useOnce accepts an id once per scope while the id is remembered", async () => {
  const given = await bank();
  const use = { scope: "agent", id: "jti", expires: given.clock.now + 1000 };
  expect(await given.parties.useOnce(use)).toBe("first");
  expect(await given.parties.useOnce(use)).toBe("used");
  expect(await given.parties.useOnce({ ...use, scope: "other" })).toBe("first");
});

test("a pending request that nobody reads expires, and the grants that wait for it are denied", async () => {
  const given = await bank();
  const { agent } = await activeAgent(given);
  done(await given.parties.requestGrants(agent.id, TRANSFER));
  given.clock.now += 300_000;
  expect(await given.parties.approvals.expire()).toBe(1);
  expect(statuses(await given.parties.grantsOf(agent.id))).toMatchObject({
    transfer_funds: "denied",
  });
  expect((await changes(given)).filter((one) => one === "approval.expired")).toHaveLength(1);
});
