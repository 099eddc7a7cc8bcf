import { expect, test } from "vitest";
import type { Policy } from "../../../src/agent/policy.js";
import {
  activeAgent,
  approve,
  bank,
  changes,
  done,
  keyOf,
  linkedHost,
  NOW,
  newKey,
  refusalOf,
  registration,
  statuses,
} from "./support.js";

test("an agent of a linked host gets the default capabilities at once if its registration names no capabilities", async () => {
  const given = await bank();
  const { agent, grants, approval } = await activeAgent(given);
  expect(agent).toMatchObject({ status: "active", principal: "alice", mode: "delegated" });
  expect(agent.expires).toBe(NOW + 3_600_000);
  expect(statuses(grants)).toEqual({ check_balance: "active", list_payees: "active" });
  expect(grants[0]?.expires).toBe(NOW + 86_400_000);
  expect(approval).toBeUndefined();
  expect(await changes(given)).toEqual([
    "host.created",
    "agent.registered",
    "grant.activated",
    "grant.activated",
  ]);
});

test("an agent that requests more than the default capabilities gets no token until its user approves", async () => {
  const given = await bank();
  await linkedHost(given);
  const asked = registration({
    capabilities: [{ name: "check_balance" }, { name: "transfer_funds" }],
    purpose: "pay the rent",
  });
  const { agent, grants, approval, userCode } = done(await given.parties.register(asked));
  expect(agent.status).toBe("pending");
  expect(statuses(grants)).toEqual({ check_balance: "active", transfer_funds: "pending" });
  expect(userCode).toMatch(/^[B-Z]{4}-[B-Z]{4}$/);
  expect(approval?.subject).toMatchObject({ principal: "alice", purpose: "pay the rent" });
  expect(approval?.subject.asked.map(({ name }) => name)).toEqual(["transfer_funds"]);
  // No grant has a token until the approval.
  for (const grant of grants) expect(await given.agent.grantToken(grant)).toBeUndefined();
  expect(await approve(given, approval)).toMatchObject({ ok: true, approval: { state: "used" } });
  expect(await given.parties.agent(agent.id)).toMatchObject({ status: "active" });
  expect(statuses(await given.parties.grantsOf(agent.id))).toEqual({
    check_balance: "active",
    transfer_funds: "active",
  });
});

test("the user who enters the code becomes the principal of host and agent", async () => {
  const given = await bank();
  const asked = registration({ hostName: "Tablet" });
  const {
    host,
    agent,
    grants,
    approval,
    userCode = "",
  } = done(await given.parties.register(asked));
  expect(host).toMatchObject({ status: "pending", name: "Tablet" });
  expect(statuses(grants)).toEqual({ check_balance: "pending", list_payees: "pending" });
  expect(
    await given.parties.approvals.byUserCode(userCode.toLowerCase().replace("-", " ")),
  ).toEqual(approval);
  expect(await approve(given, approval)).toMatchObject({ code: "user_code_invalid" });
  const wrong = userCode === "BBBB-BBBB" ? "CCCC-CCCC" : "BBBB-BBBB";
  expect(await approve(given, approval, { userCode: wrong })).toMatchObject({
    code: "user_code_invalid",
  });
  expect(await approve(given, approval, { as: "bob", userCode })).toMatchObject({ ok: true });
  expect(await given.parties.host(host.id)).toMatchObject({ status: "active", principal: "bob" });
  expect(await given.parties.agent(agent.id)).toMatchObject({
    status: "active",
    principal: "bob",
  });
  expect(await changes(given)).toEqual([
    "host.registered",
    "approval.opened",
    "agent.registered",
    "grant.pending",
    "grant.pending",
    "approval.refused user_code_invalid",
    "approval.refused user_code_invalid",
    "approval.approved",
    "host.linked",
    "agent.activated",
    "grant.activated",
    "grant.activated",
  ]);
  // The host's next agent needs no approval.
  const next = done(await given.parties.register(registration({ agentThumbprint: "second" })));
  expect(next.agent).toMatchObject({ status: "active", principal: "bob" });
});

test("a registration with a loginHint is in the named user's list of pending requests, and in no other user's list", async () => {
  const given = await bank();
  const asked = registration({ loginHint: "carol", method: "backchannel" });
  const { approval, userCode } = done(await given.parties.register(asked));
  expect(userCode).toBeUndefined();
  expect(await given.parties.approvals.waitingFor("carol")).toEqual([approval]);
  expect(await given.parties.approvals.waitingFor("alice")).toEqual([]);
  expect(await approve(given, approval)).toMatchObject({ code: "approver_denied" });
  expect(await approve(given, approval, { as: "carol" })).toMatchObject({ ok: true });
  expect(await given.parties.approvals.waitingFor("carol")).toEqual([]);
  expect(await given.parties.approvals.history("carol")).toMatchObject([{ state: "used" }]);
});

test("a named user becomes the principal only by their own approval", async () => {
  const given = await bank({ settings: { approval: { approvers: ["dave"] } } });
  const asked = registration({ loginHint: "carol", method: "backchannel" });
  const { approval, agent, host } = done(await given.parties.register(asked));
  expect(approval?.subject).toMatchObject({ hintedUser: "carol" });
  expect(approval?.subject).not.toHaveProperty("principal");
  expect(await approve(given, approval, { as: "dave" })).toMatchObject({
    ok: true,
    approval: { state: "pending" },
  });
  expect(await given.parties.agent(agent.id)).toMatchObject({ status: "pending" });
  expect(await given.parties.host(host.id)).not.toHaveProperty("principal");
  expect(await given.parties.approvals.waitingFor("carol")).toMatchObject([{ id: approval?.id }]);
  expect(await approve(given, approval, { as: "alice" })).toMatchObject({
    code: "approver_denied",
  });
  expect(await approve(given, approval, { as: "carol" })).toMatchObject({
    ok: true,
    approval: { state: "used" },
  });
  expect(await given.parties.agent(agent.id)).toMatchObject({
    status: "active",
    principal: "carol",
  });
});

test("entering the code as another user does not link an agent that names a user", async () => {
  const given = await bank({ settings: { approval: { approvers: ["dave"] } } });
  const asked = registration({ loginHint: "carol" });
  const { approval, agent, userCode = "" } = done(await given.parties.register(asked));
  expect(await approve(given, approval, { as: "bob", userCode })).toMatchObject({
    ok: false,
    code: "approver_denied",
  });
  const supported = await approve(given, approval, { as: "dave", userCode });
  expect(supported).toMatchObject({ ok: true, approval: { state: "pending" } });
  expect(await given.parties.agent(agent.id)).toMatchObject({ status: "pending" });
  expect(await approve(given, approval, { as: "carol", userCode })).toMatchObject({ ok: true });
  expect(await given.parties.agent(agent.id)).toMatchObject({ principal: "carol" });
});

test("a named user must approve in addition to the approvers of each grant", async () => {
  const approval = { approvers: ["dave"] };
  const given = await bank({
    grants: [
      { id: "payments:write", description: "Pay", operations: ["transfer"], approval },
      {
        id: "all:else",
        description: "All else",
        operations: ["balance", "payees", "remove", "print"],
      },
    ],
    settings: { defaults: [] },
  });
  const capabilities = [{ name: "transfer_funds" }];
  const asked = registration({ capabilities, loginHint: "carol", method: "backchannel" });
  const { approval: opened, agent } = done(await given.parties.register(asked));
  await approve(given, opened, { as: "dave" });
  expect(statuses(await given.parties.grantsOf(agent.id))).toEqual({ transfer_funds: "pending" });
  await approve(given, opened, { as: "carol" });
  expect(statuses(await given.parties.grantsOf(agent.id))).toEqual({ transfer_funds: "active" });
});

test("a denied registration ends the agent and its default capabilities, with the approver's reason", async () => {
  const given = await bank();
  await linkedHost(given);
  const asked = registration({
    capabilities: [{ name: "check_balance" }, { name: "transfer_funds" }],
  });
  const { agent, approval } = done(await given.parties.register(asked));
  await approve(given, approval, { answer: "deny", reason: "not on a Sunday" });
  expect(await given.parties.agent(agent.id)).toMatchObject({
    status: "rejected",
    denial: "not on a Sunday",
  });
  const grants = await given.parties.grantsOf(agent.id);
  expect(statuses(grants)).toEqual({ check_balance: "revoked", transfer_funds: "denied" });
  expect(grants.find(({ status }) => status === "denied")?.reason).toBe("not on a Sunday");
  const again = await given.parties.register(asked);
  expect(refusalOf(again).code).toBe("agent_exists");
});

test("registering a pending agent again returns the same approval and the same code", async () => {
  const given = await bank();
  const first = done(await given.parties.register(registration()));
  const second = done(await given.parties.register(registration({ name: "Other" })));
  expect(second.agent).toEqual(first.agent);
  expect(second.approval?.id).toBe(first.approval?.id);
  expect(second.userCode).toBe(first.userCode);
  // Another process knows only the hash of the code, so it returns a new code.
  const other = await given.again({});
  const third = done(await other.parties.register(registration()));
  expect(third.approval?.id).toBe(first.approval?.id);
  expect(third.userCode).not.toBe(first.userCode);
  const { userCode = "" } = first;
  expect(await approve(given, third.approval, { userCode })).toMatchObject({ ok: false });
});

test("a registration that nobody decided in time is denied when it is read, and can be made again", async () => {
  const given = await bank();
  const { agent, approval, userCode = "" } = done(await given.parties.register(registration()));
  given.clock.now += 300_000;
  expect(await approve(given, approval, { userCode })).toMatchObject({ code: "approval_expired" });
  const grants = await given.parties.grantsOf(agent.id);
  expect(statuses(grants)).toEqual({ check_balance: "denied", list_payees: "denied" });
  expect(await given.parties.agent(agent.id)).toMatchObject({ status: "pending" });
  const again = done(await given.parties.register(registration()));
  expect(again.agent.id).toBe(agent.id);
  expect(again.approval?.id).not.toBe(approval?.id);
  const { userCode: code = "" } = again;
  expect(await approve(given, again.approval, { userCode: code })).toMatchObject({ ok: true });
  expect(await given.parties.agent(agent.id)).toMatchObject({ status: "active" });
});

test("an autonomous agent of a host without a user gets the default capabilities, and a denial with a reason for each other capability", async () => {
  const given = await bank({ anyone: true });
  const capabilities = [{ name: "check_balance" }, { name: "transfer_funds" }];
  const asked = registration({ mode: "autonomous", capabilities });
  const { host, agent, grants, approval } = done(await given.parties.register(asked));
  expect(host).toMatchObject({ status: "active" });
  expect(agent.status).toBe("active");
  expect(agent.principal).toBeUndefined();
  expect(approval).toBeUndefined();
  expect(statuses(grants)).toEqual({ check_balance: "active", transfer_funds: "denied" });
  expect(grants[1]?.reason).toMatch(/defaults alone/);
  const outcome = await given.agent.executeGrant({
    agent,
    capability: "check_balance",
    arguments: {},
  });
  expect(outcome).toMatchObject({ ok: true, result: { principal: `autonomous:${host.id}` } });
});

test("an autonomous agent without a policy rule is registered, and gets no capability", async () => {
  const given = await bank();
  const asked = registration({ mode: "autonomous" });
  const { agent, grants } = done(await given.parties.register(asked));
  expect(agent.status).toBe("active");
  expect(grants.map(({ reason }) => reason)).toEqual([
    "the policy does not permit it",
    "the policy does not permit it",
  ]);
});

test("an autonomous agent is refused at a linked host, and if the setting modes has no autonomous mode", async () => {
  const given = await bank();
  await linkedHost(given);
  const outcome = await given.parties.register(registration({ mode: "autonomous" }));
  expect(refusalOf(outcome).code).toBe("unsupported_mode");
  const one = await bank({ settings: { modes: ["delegated"] } });
  const other = await one.parties.register(registration({ mode: "autonomous" }));
  expect(refusalOf(other).code).toBe("unsupported_mode");
});

test("linking a host to a user ends its autonomous agents and their tokens", async () => {
  const given = await bank({ anyone: true });
  const alone = done(await given.parties.register(registration({ mode: "autonomous" })));
  const [grant] = alone.grants;
  const token = await given.agent.grantToken(grant ?? { id: "" });
  const asked = registration({ agentThumbprint: "second" });
  const { approval, userCode = "" } = done(await given.parties.register(asked));
  await approve(given, approval, { userCode });
  expect(await given.parties.agent(alone.agent.id)).toMatchObject({ status: "claimed" });
  const decision = given.issuer.standing(token?.token ?? "", { audience: "bank-agent" });
  expect(decision).toMatchObject({ allowed: false, denials: [{ code: "revoked" }] });
});

test("a capability that the policy does not permit to the host's user is denied at once, with the policy as the reason", async () => {
  const rules = {
    rules: [{ principal: "alice", grant: "accounts:read", operations: ["balance"] }],
  };
  const given = await bank({ rules });
  await linkedHost(given);
  const capabilities = [{ name: "check_balance" }, { name: "transfer_funds" }];
  const { agent, grants, approval } = done(
    await given.parties.register(registration({ capabilities })),
  );
  expect(agent.status).toBe("active");
  expect(approval).toBeUndefined();
  expect(grants[1]).toMatchObject({ status: "denied", reason: "the policy does not permit it" });
});

test("the policy is asked again once the approval has shown who the user is", async () => {
  const rules = { rules: [{ principal: "bob", grant: "accounts:read", operations: ["balance"] }] };
  const given = await bank({ rules });
  const { agent, approval, userCode = "" } = done(await given.parties.register(registration()));
  await approve(given, approval, { as: "bob", userCode });
  const grants = await given.parties.grantsOf(agent.id);
  expect(statuses(grants)).toEqual({ check_balance: "active", list_payees: "denied" });
});

test("a capability permitted to the approver only is not granted to the user who links the agent", async () => {
  const given = await bank({
    settings: { defaults: [], approval: { approvers: ["alice"] } },
    rules: { rules: [{ principal: "alice", grant: "*", operations: "*" }] },
  });
  const capabilities = [{ name: "transfer_funds" }];
  const asked = done(await given.parties.register(registration({ capabilities })));
  const { agent, approval, userCode = "" } = asked;
  const policy: Policy = given.policy;
  const permissions = policy.permissions.bind(policy);
  let others: Promise<unknown> | undefined;
  // Bob decides while the policy is queried for Alice.
  policy.permissions = async (principal, grant) => {
    others ??= approve(given, approval, { as: "bob", userCode });
    await others;
    return permissions(principal, grant);
  };
  expect(await approve(given, approval, { userCode })).toMatchObject({ ok: true });
  expect(await others).toMatchObject({ ok: true, approval: { state: "pending" } });
  expect(await given.parties.agent(agent.id)).toMatchObject({ principal: "bob" });
  expect(statuses(await given.parties.grantsOf(agent.id))).toEqual({ transfer_funds: "denied" });
});

test("repeating an idempotency key returns the stored answer; another request with the same key is refused", async () => {
  const given = await bank();
  const asked = registration({ idempotencyKey: "one" });
  const first = done(await given.parties.register(asked));
  const second = done(await given.parties.register(asked));
  expect(second).toEqual(first);
  const other = await given.parties.register({ ...asked, name: "Other" });
  expect(refusalOf(other)).toMatchObject({ code: "request_reused", path: "idempotencyKey" });
  const elsewhere = await given.parties.register({
    ...asked,
    hostThumbprint: "other",
    hostKey: keyOf("other"),
  });
  expect(done(elsewhere).host.id).not.toBe(first.host.id);
});

test("concurrent registrations with one key and one idempotency key make one agent", async () => {
  const given = await bank();
  const other = await given.again({});
  const asked = registration({ idempotencyKey: "one" });
  const all = await Promise.all(
    [given, other, given, other].map(({ parties }) => parties.register(asked)),
  );
  expect(new Set(all.map((one) => done(one).agent.id)).size).toBe(1);
  expect(new Set(all.map((one) => done(one).approval?.id)).size).toBe(1);
});

test.each([
  [
    { capabilities: [{ name: "transfer_fund" }] },
    "invalid_capabilities",
    /did you mean "transfer_funds"/,
  ],
  [{ capabilities: [{ name: "x" }, { name: "y" }] }, "invalid_capabilities", /"x", "y"/],
  [
    { capabilities: [{ name: "check_balance" }, { name: "check_balance" }] },
    "invalid_request",
    /twice/,
  ],
  [{ name: "" }, "invalid_request", /^name/],
  [{ name: "n".repeat(129) }, "invalid_request", /^name/],
  [{ purpose: "\ud800" }, "invalid_request", /^purpose/],
  [{ capabilities: Array(65).fill({ name: "check_balance" }) }, "invalid_request", /at most 64/],
] as const)(
  "an invalid registration, case %#, is refused, changes nothing, and is recorded only for a user's host",
  async (more, code, message) => {
    const given = await bank();
    const refused = async () => {
      const refusal = refusalOf(await given.parties.register(registration(more as object)));
      expect(refusal.code).toBe(code);
      expect(refusal.message).toMatch(message as RegExp);
    };
    await refused();
    expect(await given.parties.hostByKey("laptop")).toBeUndefined();
    expect(await changes(given)).toEqual([]);
    const id = await linkedHost(given);
    await refused();
    expect(await given.parties.agentsOf(id)).toEqual([]);
    expect(await changes(given)).toEqual(["host.created", `agent.registered ${code}`]);
  },
);

test("pending hosts, agents per host and pending agents per host are limited", async () => {
  const bounds = { pendingHosts: 2, agentsPerHost: 2, pendingPerHost: 1 };
  const given = await bank({ settings: { defaults: ["check_balance"], bounds } });
  const at = (host: string, agent: string) =>
    given.parties.register(
      registration({
        hostThumbprint: host,
        agentThumbprint: agent,
        capabilities: [{ name: "check_balance" }],
      }),
    );
  done(await at("a", "1"));
  expect(refusalOf(await at("a", "2"))).toMatchObject({ code: "limit_exceeded" });
  done(await at("b", "1"));
  const late = refusalOf(await at("c", "1"));
  expect(late).toMatchObject({ code: "rate_limited", retryAfter: 3600 });
  // A flood of registrations blocks other hosts for one hour only.
  given.clock.now += 3_600_000;
  done(await at("c", "1"));
  await linkedHost(given, "d");
  done(await at("d", "1"));
  done(await at("d", "2"));
  expect(refusalOf(await at("d", "3")).message).toMatch(/has 2 agents/);
});

test("the option allowHosts: false refuses hosts that no user made", async () => {
  const given = await bank({ settings: { allowHosts: false } });
  expect(refusalOf(await given.parties.register(registration())).code).toBe("hosts_not_allowed");
  await linkedHost(given);
  done(await given.parties.register(registration()));
});

test("a host made by a user enrols its key with the enrolment token, once and before the token expires", async () => {
  const given = await bank();
  const { parties } = given;
  const made = done(await parties.createHost({ principal: "alice", name: "Phone" }));
  expect(made.host).toMatchObject({ status: "enrolling", principal: "alice" });
  expect(JSON.stringify(await parties.host(made.host.id))).not.toContain(made.enrolmentToken);
  const { enrolmentToken: token = "" } = made;
  const key = newKey("phone");
  const enrolled = done(await parties.enrollHost({ token, ...key }));
  expect(enrolled.host).toMatchObject({ status: "active", thumbprint: "phone" });
  const twice = await parties.enrollHost({ token, ...key });
  expect(refusalOf(twice).code).toBe("enrolment_token_invalid");
  const late = done(await parties.createHost({ principal: "alice" }));
  given.clock.now += 3_600_000;
  const over = await parties.enrollHost({ token: late.enrolmentToken ?? "", ...key });
  expect(refusalOf(over).code).toBe("enrolment_token_expired");
  const wide = await parties.createHost({ principal: "alice", defaults: ["transfer_funds"] });
  expect(refusalOf(wide).code).toBe("invalid_capabilities");
});

test("a user has a limited number of hosts, not counting revoked hosts and expired enrolments", async () => {
  const given = await bank({ settings: { bounds: { hostsPerUser: 2 } } });
  const { parties, clock } = given;
  const make = (principal = "alice") => parties.createHost({ principal });
  const { host } = done(await make());
  done(await make());
  expect(refusalOf(await make()).code).toBe("limit_exceeded");
  done(await make("bob"));
  done(await parties.revokeHost(host.id, { principal: "alice" }));
  done(await make());
  expect(refusalOf(await make()).code).toBe("limit_exceeded");
  clock.now += 2 * 60 * 60 * 1000;
  done(await make());
});
