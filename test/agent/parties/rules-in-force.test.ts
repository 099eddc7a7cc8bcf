import { expect, test } from "vitest";
import { Approvals } from "../../../src/agent/parties/approvals.js";
import type {
  Approval,
  ApprovalRule,
  ApprovalSubject,
} from "../../../src/agent/parties/records.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { databaseAt } from "../../stores/parties/support.js";
import { throughStores } from "../../support/databases.js";
import { NOW } from "./support.js";

// Causes that end an open approval besides decisions and expiry: changed approvers, and a revoked principal.

const SUBJECT: ApprovalSubject = {
  kind: "capabilities",
  request: "r",
  lifetime: 3600,
  agent: { id: "assistant" },
  asked: [{ grant: "a", operations: ["read"], hops: [], description: "A" }],
};

const TWO_OF_THREE = { approvers: ["bob", "carol", "dave"], needed: 2 };

throughStores((place) => {
  /** @param principal - Empty for an unknown user. */
  async function opened(rule: ApprovalRule, principal = "alice") {
    const clock = { now: NOW };
    // The current rules and revocations; tests change them.
    const inForce = { rules: [] as ApprovalRule[], revoked: new Map<string, number>() };
    const store = openParties(await databaseAt(await place()));
    const approvals = new Approvals({
      store,
      clock: () => clock.now,
      inForce: {
        rulesFor: () => inForce.rules,
        isRevoked: (principal, moment) => moment < (inForce.revoked.get(principal) ?? 0),
        catchUp: async () => {},
      },
    });
    const whole = principal === "" ? SUBJECT : { ...SUBJECT, principal };
    const request = { subject: whole, rule, method: "user_code" as const, lifetime: 600 };
    const { approval, userCode } = await store.change((draft) => approvals.open(draft, request));
    const decide = (principal: string, answer: "approve" | "deny" = "approve", code?: string) =>
      approvals.decide(
        approval.id,
        { principal, userCode: code },
        { answer, digest: approval.digest },
      );
    const now = async (): Promise<Approval | undefined> => approvals.get(approval.id);
    const stored = () => store.read((view) => view.approvals.get(approval.id));
    return { clock, inForce, store, approvals, approval, userCode, decide, now, stored };
  }

  test("an approver removed from the rule cannot decide, and the other approvers still can", async () => {
    const { approvals, inForce, decide, now } = await opened(TWO_OF_THREE);
    inForce.rules = [{ approvers: ["carol", "dave"], needed: 2 }];
    for (const answer of ["approve", "deny"] as const) {
      expect(await decide("bob", answer)).toMatchObject({ code: "approver_denied" });
    }
    expect(await approvals.waitingFor("bob")).toEqual([]);
    expect(await approvals.waitingFor("carol")).toHaveLength(1);
    await decide("carol");
    expect(await now()).toMatchObject({ state: "pending" });
    expect(await decide("dave")).toMatchObject({ ok: true, approval: { state: "approved" } });
  });

  test("an approval given by an approver who was then removed no longer counts", async () => {
    const { inForce, decide, now } = await opened(TWO_OF_THREE);
    await decide("bob");
    inForce.rules = [{ approvers: ["carol", "dave"], needed: 2 }];
    expect(await decide("carol")).toMatchObject({ ok: true, approval: { state: "pending" } });
    expect(await now()).toMatchObject({ state: "pending" });
    expect(await decide("dave")).toMatchObject({ ok: true, approval: { state: "approved" } });
  });

  test("a request is denied if too few approvers are in both the old and the new rule", async () => {
    const looked = await opened(TWO_OF_THREE);
    looked.inForce.rules = [{ approvers: ["carol", "erin", "fred"], needed: 2 }];
    expect(await looked.now()).toMatchObject({ state: "denied", cause: "approvers_changed" });
    expect(await looked.stored()).toMatchObject({ state: "denied", cause: "approvers_changed" });
    expect(await looked.decide("carol")).toMatchObject({
      code: "approval_settled",
      message: expect.stringContaining("the approvers have changed"),
    });
    const decided = await opened(TWO_OF_THREE);
    await decided.decide("bob");
    decided.inForce.rules = [{ approvers: ["carol"] }, { approvers: ["erin"] }];
    expect(await decided.decide("carol")).toMatchObject({ code: "approval_settled" });
    const gone = await opened({ approvers: ["bob"] });
    gone.inForce.rules = [{ approvers: ["carol"] }];
    expect(await gone.approvals.history("bob")).toMatchObject([{ state: "denied" }]);
    expect(await gone.approvals.list()).toMatchObject([{ state: "denied" }]);
  });

  test("a pending request must also meet a new rule that needs more approvals, and does not profit from a weaker new rule", async () => {
    const more = await opened({ approvers: ["bob", "carol"] });
    more.inForce.rules = [{ approvers: ["bob", "carol"], needed: 2 }];
    expect(await more.decide("bob")).toMatchObject({ ok: true, approval: { state: "pending" } });
    expect(await more.decide("carol")).toMatchObject({ approval: { state: "approved" } });
    const fewer = await opened({ approvers: ["bob", "carol"], needed: 2 });
    fewer.inForce.rules = [{ approvers: ["bob", "carol", "dave"] }];
    expect(await fewer.decide("dave")).toMatchObject({ code: "approver_denied" });
    expect(await fewer.decide("bob")).toMatchObject({ ok: true, approval: { state: "pending" } });
    expect(await fewer.decide("carol")).toMatchObject({ approval: { state: "approved" } });
  });

  test("a request approved by people who are no longer approvers cannot be used", async () => {
    const { approvals, inForce, decide, now, approval } = await opened({ approvers: ["bob"] });
    await decide("bob");
    inForce.rules = [{ approvers: ["bob", "carol"] }];
    expect(await now()).toMatchObject({ state: "approved" });
    inForce.rules = [{ approvers: ["carol"] }];
    await approvals.use(approval.id, [0]);
    expect(await now()).toMatchObject({ state: "denied", cause: "approvers_changed" });
    expect(await now()).not.toHaveProperty("collected");
  });

  test("a request without a known user stays pending after a change of approvers, and is denied when a user approves with the code", async () => {
    const rule = { approvers: ["bob"] };
    const { inForce, decide, now, userCode } = await opened(rule, "");
    inForce.rules = [{ approvers: ["carol"] }];
    expect(await now()).toMatchObject({ state: "pending" });
    expect(await decide("bob")).toMatchObject({ ok: false });
    expect(await decide("alice", "approve", userCode)).toMatchObject({
      ok: true,
      approval: { state: "denied", cause: "approvers_changed" },
    });
  });

  test("revoking a principal cancels its earlier requests, whether pending or approved, and no later request", async () => {
    for (const approvedFirst of [false, true]) {
      const { approvals, clock, inForce, decide, now, approval } = await opened({});
      if (approvedFirst) await decide("alice");
      inForce.revoked.set("alice", NOW);
      expect(await now()).toMatchObject({ state: approvedFirst ? "approved" : "pending" });
      clock.now += 1000;
      inForce.revoked.set("alice", clock.now);
      expect(await approvals.waitingFor("alice")).toEqual([]);
      await approvals.use(approval.id, [0]);
      expect(await now()).toMatchObject({ state: "cancelled", cause: "principal_revoked" });
      expect(await now()).not.toHaveProperty("collected");
      expect(await decide("alice")).toMatchObject({ code: "approval_settled" });
    }
  });

  test("revoking a principal between two needed approvals cancels the request", async () => {
    const { clock, inForce, decide, now } = await opened(TWO_OF_THREE);
    await decide("bob");
    clock.now += 1000;
    inForce.revoked.set("alice", clock.now);
    expect(await decide("carol")).toMatchObject({
      code: "approval_settled",
      message: expect.stringContaining("was revoked since"),
    });
    expect(await now()).toMatchObject({ state: "cancelled", decisions: [{ approver: "bob" }] });
    // Revoking an approver, as a principal, does not affect the approval of others' requests.
    const other = await opened(TWO_OF_THREE);
    other.inForce.revoked.set("bob", NOW + 1);
    await other.decide("bob");
    expect(await other.decide("carol")).toMatchObject({ approval: { state: "approved" } });
  });

  test("a user's revocation cancels a request only if the user had linked the agent before the revocation", async () => {
    const before = await opened({ approvers: ["bob"] }, "");
    before.clock.now += 1000;
    before.inForce.revoked.set("alice", before.clock.now);
    const taken = await before.decide("alice", "approve", before.userCode);
    expect(taken).toMatchObject({ ok: true, approval: { state: "pending" } });
    before.clock.now += 1000;
    before.inForce.revoked.set("alice", before.clock.now);
    expect(await before.decide("bob")).toMatchObject({ code: "approval_settled" });
    expect(await before.now()).toMatchObject({ state: "cancelled", cause: "principal_revoked" });
  });

  test("waitUntilSettled reports at once that a principal's revocation cancelled the approval", async () => {
    const { approvals, clock, inForce, approval } = await opened({});
    const waiting = approvals.waitUntilSettled(approval.id, AbortSignal.timeout(10_000));
    clock.now += 1000;
    inForce.revoked.set("alice", clock.now);
    expect(await waiting).toMatchObject({ state: "cancelled", cause: "principal_revoked" });
  });
});
