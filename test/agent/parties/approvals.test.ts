import { expect, test } from "vitest";
import type { ApproverAnswer } from "../../../src/agent/parties/approval-decisions.js";
import { resultOf } from "../../../src/agent/parties/approval-results.js";
import { Approvals } from "../../../src/agent/parties/approvals.js";
import { digestOf } from "../../../src/agent/parties/digests.js";
import type {
  Approval,
  ApprovalRule,
  ApprovalSubject,
} from "../../../src/agent/parties/records.js";
import { hashOfUserCode, newUserCode } from "../../../src/agent/parties/user-codes.js";
import { randomBytes } from "../../../src/bytes/random.js";
import type { HopInit } from "../../../src/caveats/hop.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { databaseAt } from "../../stores/parties/support.js";
import { throughStores } from "../../support/databases.js";
import { NOW } from "./support.js";

const SUBJECT: ApprovalSubject = {
  kind: "capabilities",
  request: "r",
  principal: "alice",
  lifetime: 3600,
  agent: { id: "assistant" },
  asked: [
    { grant: "a", operations: ["read", "write"], hops: [], description: "A" },
    {
      grant: "b",
      operations: ["pay"],
      description: "B",
      hops: [{ by: "agent", hop: { constraints: { amount: { max: 100 } } } }],
    },
  ],
};

throughStores((place) => {
  async function opened(rule: ApprovalRule = {}, subject: Partial<ApprovalSubject> = {}) {
    const clock = { now: NOW };
    const store = openParties(await databaseAt(await place()));
    const approvals = new Approvals({ store, clock: () => clock.now });
    const method = "backchannel" as const;
    const request = { subject: { ...SUBJECT, ...subject }, rule, method, lifetime: 600 };
    const { approval } = await store.change((draft) => approvals.open(draft, request));
    const decide = (principal: string, more: Partial<ApproverAnswer> = {}) =>
      approvals.decide(
        approval.id,
        { principal },
        {
          answer: "approve",
          digest: approval.digest,
          ...more,
        },
      );
    const now = async (): Promise<Approval | undefined> => approvals.get(approval.id);
    return { clock, store, approvals, approval, decide, now, request };
  }

  test("a decision with the digest of another subject or rule is refused as digest_mismatch", async () => {
    const { approval, decide, now } = await opened();
    expect(approval.digest).toBe(digestOf({ subject: SUBJECT, rule: {} }));
    const others = [
      { subject: { ...SUBJECT, lifetime: 3601 }, rule: {} },
      { subject: SUBJECT, rule: { approvers: ["alice", "bob"] } },
    ];
    for (const other of others) {
      const digest = digestOf(other);
      expect(await decide("alice", { digest })).toMatchObject({ code: "digest_mismatch" });
      expect(await now()).toEqual(approval);
    }
    expect(await decide("alice")).toMatchObject({ ok: true, approval: { state: "approved" } });
  });

  test("an approval is decided once, before it expires, by its approver only", async () => {
    const { approvals, clock, decide, approval } = await opened();
    expect(await decide("bob")).toMatchObject({ code: "approver_denied" });
    expect(
      await approvals.decide(
        "none",
        { principal: "alice" },
        {
          answer: "approve",
          digest: "",
        },
      ),
    ).toMatchObject({ code: "approval_unknown" });
    expect(await decide("alice")).toMatchObject({ ok: true });
    expect(await decide("alice", { answer: "deny" })).toMatchObject({ code: "approval_settled" });
    expect(await approvals.cancel(approval.id, { agent: "assistant" })).toBe(true);
    expect(await approvals.cancel(approval.id, { agent: "assistant" })).toBe(false);
    const late = await opened();
    late.clock.now += 600_000;
    expect(await late.decide("alice")).toMatchObject({ code: "approval_expired" });
    expect(await late.now()).toMatchObject({ state: "expired", updated: NOW + 600_000 });
    expect(clock.now).toBe(NOW);
  });

  test("an approved request is used once, before it expires; later uses change nothing", async () => {
    const { approvals, clock, decide, now, approval } = await opened();
    await approvals.use(approval.id, [0]);
    expect(await now()).toMatchObject({ state: "pending" });
    await decide("alice");
    await approvals.use(approval.id, [0]);
    const used = await now();
    expect(used).toMatchObject({ state: "used", collected: { 0: expect.any(String) } });
    await approvals.use(approval.id, [0, 1]);
    expect(await now()).toEqual(used);

    const late = await opened();
    await late.decide("alice");
    late.clock.now += 600_000;
    await late.approvals.use(late.approval.id, [0]);
    expect(await late.now()).toMatchObject({ state: "expired" });
    expect(clock.now).toBe(NOW);
  });

  test("approvals expire after their lifetime, even if nobody reads them", async () => {
    const { approvals, clock, decide, request, store } = await opened();
    await decide("alice");
    for (let at = 0; at < 120; at++) {
      const subject = { ...SUBJECT, request: `r${at}` };
      await store.change((draft) => approvals.open(draft, { ...request, subject }));
    }
    const subject = { ...SUBJECT, request: "later" };
    await store.change((draft) => approvals.open(draft, { ...request, subject, lifetime: 601 }));
    expect(await approvals.expire()).toBe(0);
    clock.now += 600_000;
    expect(await approvals.expire()).toBe(121);
    expect(await approvals.list({ state: "expired" })).toHaveLength(121);
    expect(await approvals.list({ state: "pending" })).toHaveLength(1);
    expect(await approvals.expire()).toBe(0);
  });

  test("an approver's history lists only settled requests, newest first", async () => {
    const { approvals, clock, request, store } = await opened();
    for (const id of ["r1", "r2", "r3"]) {
      clock.now += 1000;
      const subject = { ...SUBJECT, request: id };
      const { approval } = await store.change((draft) =>
        approvals.open(draft, { ...request, subject }),
      );
      if (id !== "r2") await approvals.cancel(approval.id, {});
    }
    const past = await approvals.history("alice");
    expect(past.map(({ subject }) => subject.request)).toEqual(["r3", "r1"]);
    expect(await approvals.decided("alice", 1000)).toEqual([]);
    const [, second] = await store.read((view) =>
      view.approvals.find({ latestFirst: true, limit: 2 }),
    );
    const after = second?.id ?? "";
    const earlier = await store.read((view) => view.approvals.find({ latestFirst: true, after }));
    expect(earlier.map(({ subject }) => subject.request)).toEqual(["r1", "r"]);
  });

  test("a rule with needed: 2 requires the approval of two approvers; one denial denies the request", async () => {
    const rule = { approvers: ["bob", "carol", "dave"], needed: 2 };
    const { approvals, decide } = await opened(rule);
    expect(await decide("alice")).toMatchObject({ code: "approver_denied" });
    expect(await decide("bob")).toMatchObject({ ok: true, approval: { state: "pending" } });
    expect(await decide("bob")).toMatchObject({ code: "approval_settled" });
    expect(await approvals.waitingFor("bob")).toEqual([]);
    expect(await approvals.waitingFor("dave")).toHaveLength(1);
    expect(await decide("carol")).toMatchObject({ ok: true, approval: { state: "approved" } });
    const other = await opened(rule);
    await other.decide("bob");
    expect(await other.decide("dave", { answer: "deny" })).toMatchObject({
      ok: true,
      approval: { state: "denied" },
    });
    expect(await other.decide("carol")).toMatchObject({ code: "approval_settled" });
  });

  test("if no user is known, the user who enters the code must approve in addition to the named approvers", async () => {
    const { principal: _, ...subject } = SUBJECT;
    const store = openParties(await databaseAt(await place()));
    const approvals = new Approvals({ store, clock: () => NOW });
    const rule = { approvers: ["bob"] };
    const { approval, userCode = "" } = await store.change((draft) =>
      approvals.open(draft, { subject, rule, method: "user_code", lifetime: 600 }),
    );
    const answer = { answer: "approve", digest: approval.digest } as const;
    const first = await approvals.decide(approval.id, { principal: "bob" }, answer);
    expect(first).toMatchObject({ ok: true, approval: { state: "pending" } });
    const second = await approvals.decide(approval.id, { principal: "alice", userCode }, answer);
    expect(second).toMatchObject({ ok: true, approval: { state: "approved" } });
    expect(second.ok && second.approval.decisions.map(({ takesOn }) => takesOn)).toEqual([
      undefined,
      true,
    ]);
  });

  test("an approval grants only what all approvers granted, with the hops of each approver", async () => {
    const { decide, now } = await opened({ approvers: ["bob", "carol"], needed: 2 });
    await decide("bob", { hops: { 1: { constraints: { to: "acc_1" } } } });
    await decide("carol", {
      granted: [1],
      hops: { 1: { constraints: { to: { in: ["acc_1", "acc_2"] } } } },
    });
    const approval = await now();
    const result = approval === undefined ? [] : resultOf(approval, NOW);
    expect(result.map(({ granted }) => granted)).toEqual([false, true]);
    expect(result[1]?.hops).toEqual([
      { who: "bob", hop: { constraints: { to: "acc_1" } } },
      { who: "carol", hop: { constraints: { to: { in: ["acc_1", "acc_2"] } } } },
    ]);
    expect(approval?.state).toBe("approved");
  });

  test("an approver's hop that leaves nothing of a grant denies the grant; if no grant is left, the request is denied", async () => {
    const one = await opened();
    await one.decide("alice", { hops: { 1: { constraints: { amount: { min: 101 } } } } });
    const approval = await one.now();
    expect(approval?.state).toBe("approved");
    expect(approval && resultOf(approval, NOW)[1]).toMatchObject({
      granted: false,
      reason: /left/,
    });
    const hops: { [place: string]: HopInit } = {
      0: { operations: ["delete"] },
      1: { expires: new Date(NOW - 1000) },
    };
    const two = await opened();
    await two.decide("alice", { hops });
    expect((await two.now())?.state).toBe("denied");
    const three = await opened();
    await three.decide("alice", { granted: [] });
    expect((await three.now())?.state).toBe("denied");
  });

  test.each([
    [{ 2: { purpose: "x" } }],
    [{ "01": { purpose: "x" } }],
    [{ __proto__: null, "-0": { purpose: "x" } }],
    [{ 0: {} }],
    [{ 0: { maxFurtherHops: 0 } }],
    [{ 0: { resourceHandles: ["rh_x"] } }],
    [{ 0: { constraints: { amount: { maximum: 1 } } } }],
    [{ 0: { purpose: "x".repeat(5000) } }],
    [{ 0: null }],
  ])(
    "invalid hops of an approver, case %#, are refused, and the approval stays pending",
    async (hops) => {
      const { decide, now } = await opened();
      const outcome = await decide("alice", { hops: hops as unknown as { 0: HopInit } });
      expect(outcome).toMatchObject({ code: "hop_invalid" });
      expect((await now())?.state).toBe("pending");
    },
  );

  test("durations in an approver's hop count from the decision", async () => {
    const { decide, now } = await opened();
    await decide("alice", { hops: { 0: { expires: "5m" } } });
    expect((await now())?.decisions[0]?.hops?.["0"]).toEqual({ expires: "2030-01-01T00:05:00Z" });
  });

  test("a request id has one approval, and cannot be reused for another request or rule", async () => {
    const { store, approvals, approval, request } = await opened();
    const again = await store.change((draft) => approvals.open(draft, request));
    expect(again.approval).toEqual(approval);
    const other = { ...request, subject: { ...SUBJECT, purpose: "another" } };
    await expect(store.change((draft) => approvals.open(draft, other))).rejects.toThrow(
      "another request has been made under this id",
    );
    // The old rule needed one approver, the new one needs two: the request does not continue under the old rule.
    const stricter = { ...request, rule: { approvers: ["alice", "bob"], needed: 2 } };
    await expect(store.change((draft) => approvals.open(draft, stricter))).rejects.toThrow(
      "other people approve this request now",
    );
  });

  test("waitUntilSettled resolves for a decision by this or another process", async () => {
    const { store, approvals, approval, decide } = await opened();
    const waiting = approvals.waitUntilSettled(approval.id, new AbortController().signal);
    const elsewhere = new Approvals({ store, clock: () => NOW });
    const other = elsewhere.waitUntilSettled(approval.id, AbortSignal.timeout(10_000));
    await decide("alice");
    expect(await waiting).toMatchObject({ state: "approved" });
    expect(await other).toMatchObject({ state: "approved" });
    const gone = new AbortController();
    const pending = await opened();
    const never = pending.approvals.waitUntilSettled(pending.approval.id, gone.signal);
    gone.abort(new Error("nobody waits"));
    await expect(never).rejects.toThrow("nobody waits");
    await expect(approvals.waitUntilSettled("none", gone.signal)).rejects.toThrow();
  });
});

test("a user code has 8 unambiguous letters, and is accepted in lower case, without its hyphen or with spaces", () => {
  const codes = Array.from({ length: 200 }, () => newUserCode(randomBytes));
  for (const code of codes)
    expect(code).toMatch(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  expect(new Set(codes).size).toBe(200);
  const [code = ""] = codes;
  const typed = [
    code,
    code.toLowerCase(),
    code.replace("-", ""),
    ` ${code.replace("-", " \u2013 ")} `,
  ];
  expect(new Set(typed.map(hashOfUserCode)).size).toBe(1);
  for (const wrong of ["", "BBBB", "AAAA-AAAA", `${code}B`, "B".repeat(1000)]) {
    expect(hashOfUserCode(wrong)).toBeUndefined();
  }
});
