import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Caller } from "../../../src/agent/caller.js";
import type { IssuingAgent } from "../../../src/agent/issuing-agent.js";
import type { ApproverAnswer } from "../../../src/agent/parties/approval-decisions.js";
import { Parties } from "../../../src/agent/parties/parties.js";
import type { RequestOutcome } from "../../../src/agent/requested-capabilities.js";
import type { Json } from "../../../src/bytes/json.js";
import { attenuate } from "../../../src/capability/attenuate.js";
import { inspect } from "../../../src/index.js";
import type { Grant } from "../../../src/issuer/grant.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { GRANTS } from "../documents.js";
import { ALICE, BOB, type World, world } from "../support.js";

const REPORTS = {
  grants: ["documents:read"],
  operations: ["retrieve"],
  purpose: "read",
  resourceQuery: { collection: "reports" },
};

interface Approving extends World {
  readonly parties: Parties;
}

async function approving(approval: object = {}): Promise<Approving> {
  const given = await world();
  const approved = ["documents:read", "documents:admin"];
  const grants = GRANTS.map((grant) =>
    approved.includes(grant.id) ? { ...grant, approval } : grant,
  );
  return { ...given, ...(await configured(given, grants)) };
}

/** Opens the same stores under grants with other approval rules. */
async function configured(given: World, grants: readonly Grant[]) {
  const { revocations, database, clock, policy } = given;
  const parties = new Parties({
    store: openParties(database),
    revocations,
    clock: () => clock.now,
    policy,
    grants,
  });
  return { parties, agent: await given.again({ grants, parties }) };
}

async function asked(
  given: Approving,
  params: Json = REPORTS,
  caller: Caller = ALICE,
  id?: string,
) {
  const { approval, outcome } = await waiting(given.agent, params, caller, id);
  const decide = (more: Partial<ApproverAnswer> = {}, principal = "alice") =>
    given.parties.approvals.decide(
      approval.id,
      { principal },
      {
        answer: "approve",
        digest: approval.digest,
        ...more,
      },
    );
  const collect = (by = caller) => given.agent.collect(by, approval.id);
  return { approval, outcome, decide, collect };
}

async function waiting(agent: IssuingAgent, params: Json, caller: Caller, id?: string) {
  const outcome = await agent.request(caller, params, id);
  if (!outcome.ok) throw new Error(`${outcome.denial.code}: ${outcome.denial.message}`);
  if (outcome.pending === undefined) throw new Error("nothing waits");
  return { outcome, approval: outcome.pending.approval };
}

function capabilitiesOf(outcome: RequestOutcome) {
  if (outcome.ok) return outcome.capabilities;
  throw new Error(`${outcome.denial.code}: ${outcome.denial.message}`);
}

const codeOf = (outcome: RequestOutcome) => (outcome.ok ? "ok" : outcome.denial.code);

test("a request waits only for the grants that need approval; the other grants are issued at once", async () => {
  const given = await approving();
  const grants = ["documents:read", "clock:read"];
  const { outcome, approval } = await asked(given, {
    ...REPORTS,
    grants,
    operations: ["retrieve", "tell"],
  });
  expect(capabilitiesOf(outcome).map(({ grant }) => grant)).toEqual(["clock:read"]);
  expect(approval.subject).toMatchObject({
    kind: "capabilities",
    principal: "alice",
    agent: { id: "assistant" },
    lifetime: 900,
    query: '{"collection":"reports"}',
  });
  // The approval names resources by title, since no capability has handles yet.
  expect(approval.subject.asked).toEqual([
    {
      grant: "documents:read",
      operations: ["retrieve"],
      description: "Read documents",
      hops: [{ by: "agent", hop: { purpose: "read" } }],
      resources: [
        { name: "reports/q1.md", displayName: expect.any(String), kind: "item" },
        { name: "reports/q2.md", displayName: expect.any(String), kind: "item" },
      ],
    },
  ]);
});

test("collecting a request answers pending before the approval, and then the same capabilities each time", async () => {
  const given = await approving();
  const { collect, decide } = await asked(given);
  expect(await collect()).toMatchObject({ ok: true, capabilities: [], pending: { approval: {} } });
  await decide();
  const [first, ...others] = capabilitiesOf(await collect());
  expect(others).toEqual([]);
  expect(first).toMatchObject({ grant: "documents:read", principal: "alice", attenuable: true });
  expect(first?.resourceHandles).toHaveLength(2);
  const document = first?.resourceHandles?.[0]?.handle ?? "";
  const call = { skill: "retrieve", arguments: { document }, capabilities: [first ?? {}] };
  expect(await given.agent.invoke(ALICE, call)).toMatchObject({ ok: true });
  expect(capabilitiesOf(await collect())).toEqual([first]);
  expect(await given.ledger.issued(first?.id ?? "")).toMatchObject({ invoker: "assistant" });
  // The id alone presents the token with all hops.
  const byId = { ...call, capabilities: [{ id: first?.id ?? "" }] };
  expect(await given.agent.invoke(ALICE, byId)).toMatchObject({ ok: true });
});

test("an approver's limits are a hop of the token, and also hold when only the capability's id is presented", async () => {
  const given = await approving();
  const { collect, decide } = await asked(given);
  await decide({ hops: { 0: { constraints: { page: { max: 3 } }, expires: "60s" } } });
  const [one] = capabilitiesOf(await collect());
  expect(one?.expires).toBe("2030-01-01T00:01:00Z");
  const document = one?.resourceHandles?.[0]?.handle ?? "";
  for (const capability of [{ token: one?.token ?? "" }, { id: one?.id ?? "" }]) {
    const call = (page: number) => ({
      skill: "retrieve",
      arguments: { document, page },
      capabilities: [capability],
    });
    expect(await given.agent.invoke(ALICE, call(3))).toMatchObject({ ok: true });
    expect(await given.agent.invoke(ALICE, call(4))).toMatchObject({
      denials: [{ code: "constraint_violated", rule: "constraints.page.max" }],
    });
  }
});

test.each([0, 1])(
  "an approver's hop does not count against the request's maxFurtherHops of %i",
  async (most) => {
    const given = await approving();
    const { collect, decide, approval } = await asked(given, { ...REPORTS, maxFurtherHops: most });
    expect(approval.subject.asked[0]?.hops).toMatchObject([
      { by: "agent", hop: { maxFurtherHops: most } },
    ]);
    const decided = await decide({ hops: { 0: { constraints: { page: { max: 3 } } } } });
    expect(decided).toMatchObject({ ok: true, approval: { state: "approved" } });
    const [one] = capabilitiesOf(await collect());
    const document = one?.resourceHandles?.[0]?.handle ?? "";
    const call = (page: number, token = one?.token ?? "") => ({
      skill: "retrieve",
      arguments: { document, page },
      capabilities: [{ token }],
    });
    expect(await given.agent.invoke(ALICE, call(3))).toMatchObject({ ok: true });
    expect(await given.agent.invoke(ALICE, call(4))).toMatchObject({
      denials: [{ code: "constraint_violated" }],
    });
    // The holder can append exactly as many hops as the request said.
    let token = one?.token ?? "";
    for (let hops = 0; hops <= most; hops++) {
      const child = attenuate(token, { purpose: "next" });
      expect(child.ok).toBe(hops < most);
      if (child.ok) token = child.token;
    }
    expect(await given.agent.invoke(ALICE, call(3, token))).toMatchObject({ ok: true });
  },
);

test("a capability that may not be narrowed still gets the approver's hop, and no further hop", async () => {
  const given = await approving();
  const request = { grants: ["documents:admin"], operations: ["tell"] };
  const { collect, decide } = await asked(given, request);
  await decide({ hops: { 0: { purpose: "once" } } });
  const [one] = capabilitiesOf(await collect());
  expect(one).toMatchObject({ attenuable: false, legacy: expect.any(String) });
  expect(given.issuer.standing(one?.token ?? "")).toMatchObject({ allowed: true });
  const child = attenuate(one?.token ?? "", { purpose: "more" });
  expect(child).toMatchObject({ ok: false });
});

test("collecting omits a resource that no longer exists, and fails with nothing_left if the policy no longer allows the operation", async () => {
  const given = await approving();
  const { collect, decide } = await asked(given);
  await decide();
  rmSync(join(given.root, "reports/q1.md"));
  const rules = (operations: readonly string[]) => ({
    rules: [{ principal: "alice", grant: "documents:read", operations }],
  });
  given.policy.replace(rules(["list"]));
  expect(await collect()).toMatchObject({
    ok: false,
    denial: { code: "nothing_left", refused: [{ takenBy: "policy" }] },
  });
  // The failed attempts have not used the approval.
  given.policy.replace(rules(["retrieve"]));
  const [one] = capabilitiesOf(await collect());
  expect(one?.resourceHandles).toHaveLength(1);
});

test("a denied or expired request cannot be collected, nor can another party collect a request", async () => {
  const given = await approving();
  const denied = await asked(given);
  expect(codeOf(await denied.collect(BOB))).toBe("approval_unknown");
  expect(codeOf(await denied.collect({ ...ALICE, invoker: "other" }))).toBe("approval_unknown");
  expect(codeOf(await given.agent.collect(ALICE, "none"))).toBe("approval_unknown");
  await denied.decide({ answer: "deny", reason: "not now" });
  expect(await denied.collect()).toMatchObject({
    denial: { code: "approval_denied", message: "the request was denied: not now" },
  });
  const late = await asked(given);
  await late.decide();
  given.clock.now += 24 * 3_600_000;
  expect(await late.collect()).toMatchObject({ denial: { code: "approval_denied" } });
});

test("a request expires after the shortest approval lifetime of its grants, and can be collected for the same time after the approval", async () => {
  const given = await approving({ lifetime: 600 });
  const rest = await approving();
  const hour = { lifetime: 3600 };
  const grants = GRANTS.map((grant) =>
    grant.id === "documents:read"
      ? { ...grant, approval: { lifetime: 600 } }
      : grant.id === "clock:read"
        ? { ...grant, approval: hour }
        : grant,
  );
  const { agent } = await configured(given, grants);
  const both = { ...REPORTS, grants: ["documents:read", "clock:read"] };
  const operations = ["retrieve", "tell"];
  const waits = async (of: IssuingAgent, params: Json): Promise<number> => {
    const { approval } = await waiting(of, params, ALICE);
    expect(approval.rule).toEqual({});
    return (approval.expires - approval.created) / 1000;
  };
  expect(await waits(agent, REPORTS)).toBe(600);
  expect(await waits(agent, { grants: ["clock:read"], operations: ["tell"] })).toBe(3600);
  expect(await waits(agent, { ...both, operations })).toBe(600);
  expect(await waits(rest.agent, REPORTS)).toBe(24 * 60 * 60);

  const { collect, decide } = await asked(given);
  given.clock.now += 599_000;
  await decide();
  given.clock.now += 599_000;
  expect(capabilitiesOf(await collect())).toHaveLength(1);
  const late = await asked(given, { ...REPORTS, purpose: "again" });
  given.clock.now += 600_000;
  expect(await late.decide()).toMatchObject({ code: "approval_expired" });
});

test("a collected capability ends with its lifetime, and is not issued again", async () => {
  const given = await approving();
  const { collect, decide } = await asked(given);
  await decide();
  capabilitiesOf(await collect());
  given.clock.now += 900_000;
  expect(codeOf(await collect())).toBe("nothing_left");
});

test("a request id has one approval; another request under the same id is refused", async () => {
  const given = await approving();
  const { approval } = await asked(given, REPORTS, ALICE, "m1");
  expect((await asked(given, REPORTS, ALICE, "m1")).approval.id).toBe(approval.id);
  const other = await given.agent.request(ALICE, { ...REPORTS, purpose: "write" }, "m1");
  expect(other).toMatchObject({ denial: { code: "invalid_request", path: "request" } });
  const rest = { ...REPORTS, resourceQuery: { collection: "letters" } };
  expect((await asked(given, rest, BOB, "m1")).approval.id).not.toBe(approval.id);
});

test("concurrent collections of a request issue one capability", async () => {
  const given = await approving();
  const { collect, decide, approval } = await asked(given);
  await decide();
  const all = await Promise.all([collect(), collect(), collect()]);
  const ids = all.flatMap((outcome) => capabilitiesOf(outcome).map(({ id }) => id));
  expect(new Set(ids).size).toBe(1);
  const events = await given.ledger.list({ kind: "issuance" });
  expect(events.filter(({ capability }) => capability === ids[0])).toHaveLength(1);
  expect(await given.parties.approvals.get(approval.id)).toMatchObject({ state: "used" });
});

test("a caller has a limited number of pending requests", async () => {
  const given = await approving();
  for (let at = 0; at < 8; at++) await asked(given, REPORTS, ALICE, `m${at}`);
  const more = await given.agent.request(ALICE, REPORTS);
  expect(codeOf(more)).toBe("too_many_pending");
  // The existing request is still answered.
  await asked(given, REPORTS, ALICE, "m3");
  // Requests of another user by the same agent are accepted.
  const letters = { ...REPORTS, resourceQuery: { collection: "letters" } };
  await asked(given, letters, { ...BOB, invoker: ALICE.invoker }, "m1");
});

test("a grant that needs approval is refused without parties, or with an invalid approval rule", async () => {
  const given = await world();
  const again = async (approval: object) =>
    given.again({ grants: GRANTS.map((grant) => ({ ...grant, approval })) });
  await expect(again({})).rejects.toThrow("grants[0].approval: needs parties");
  await expect(again({ needed: 2 })).rejects.toThrow("grants[0].approval.needed: must be");
  await expect(again({ approver: ["bob"] })).rejects.toThrow('did you mean "approvers"');
  for (const lifetime of [0, 1.5, 30 * 86_400 + 1, "1h"]) {
    await expect(again({ lifetime })).rejects.toThrow("grants[0].approval.lifetime: must be 1 to");
  }
});

describe("the policy's limits on arguments", () => {
  const limited = (max: number) => ({
    rules: [
      {
        principal: "alice",
        grant: "documents:read",
        operations: ["retrieve"],
        operationConstraints: { retrieve: { page: { max } } },
      },
    ],
  });
  const hop = (max: number) => ({ operationConstraints: { retrieve: { page: { max } } } });
  const hopsIn = (outcome: RequestOutcome) =>
    inspect(capabilitiesOf(outcome)[0]?.token ?? "").links.map((link) => link.hop);

  test("are shown to the approver, and appended before the approver's limits", async () => {
    const given = await approving();
    given.policy.replace(limited(9));
    const { approval, decide, collect } = await asked(given, { ...REPORTS, maxFurtherHops: 0 });
    expect(approval.subject.asked[0]?.hops).toEqual([
      { by: "server", hop: hop(9) },
      { by: "agent", hop: { purpose: "read", maxFurtherHops: 0 } },
    ]);
    await decide({ hops: { 0: { constraints: { page: { min: 2 } } } } });
    const outcome = await collect();
    expect(hopsIn(outcome).slice(1)).toEqual([hop(9), { constraints: { page: { min: 2 } } }]);
    expect(inspect(capabilitiesOf(outcome)[0]?.token ?? "").authority.furtherHops).toBe(0);
  });

  test("are those in force at the request, followed by those in force at the collection", async () => {
    const given = await approving();
    given.policy.replace(limited(9));
    const { decide, collect } = await asked(given);
    await decide();
    given.policy.replace(limited(3));
    expect(hopsIn(await collect()).slice(1)).toEqual([hop(9), hop(3)]);
  });

  test("that are new since the request are appended too", async () => {
    const given = await approving();
    const { decide, collect } = await asked(given);
    await decide();
    given.policy.replace(limited(3));
    expect(hopsIn(await collect()).slice(1)).toEqual([hop(3)]);
  });
});
