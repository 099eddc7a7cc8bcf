import { expect, test } from "vitest";
import type { IssuingAgent } from "../../../src/agent/issuing-agent.js";
import { Parties } from "../../../src/agent/parties/parties.js";
import { formatTime } from "../../../src/caveats/time.js";
import type { Grant, GrantApproval } from "../../../src/issuer/grant.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { throughStores } from "../../support/databases.js";
import { GRANTS } from "../documents.js";
import { ALICE, type World, world } from "../support.js";

// Events that void an approval before it is collected, as the collecting party sees them.

const ASKED = { grants: ["clock:read"], operations: ["tell"], purpose: "set a watch" };

interface Approving {
  readonly agent: IssuingAgent;
  readonly parties: Parties;
}

throughStores((place) => {
  /** Opens the same stores under another approval rule of the grant. */
  async function under(given: World, approval: GrantApproval): Promise<Approving> {
    const grants = GRANTS.map(
      (grant): Grant => (grant.id === "clock:read" ? { ...grant, approval } : grant),
    );
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

  async function opened(approval: GrantApproval = {}) {
    const given = await world({ place: await place() });
    const now = await under(given, approval);
    const ask = async (): Promise<string> => {
      const outcome = await now.agent.request(ALICE, ASKED);
      return (outcome.ok && outcome.pending?.approval.id) || expect.fail("nothing waits");
    };
    const approve = async (id: string, principal = "alice", by = now) => {
      const { digest = "" } = (await by.parties.approvals.get(id)) ?? {};
      return by.parties.approvals.decide(id, { principal }, { answer: "approve", digest });
    };
    return { given, ...now, ask, approve };
  }

  /** Revokes the principal like `proviso revoke --principal alice`, and advances the clock. */
  function revoke({ revocations, clock }: World): void {
    const at = formatTime(clock.now);
    revocations.add({ kind: "principal", id: "alice", before: formatTime(clock.now + 1000), at });
    clock.now += 2000;
  }

  const issued = async ({ ledger }: World): Promise<number> =>
    (await ledger.list({ kind: "issuance", decision: "allowed" })).length;

  const VOID = {
    ok: false,
    denial: { code: "approval_denied", message: expect.stringContaining("was revoked since") },
  };

  test("a request approved before its user was revoked is not issued, and collecting it reports the revocation", async () => {
    const { given, agent, ask, approve } = await opened();
    const id = await ask();
    expect(await approve(id)).toMatchObject({ ok: true });
    revoke(given);
    expect(await agent.collect(ALICE, id)).toMatchObject(VOID);
    expect(await issued(given)).toBe(0);
    // Later requests are issued.
    const later = await ask();
    await approve(later);
    expect(await agent.collect(ALICE, later)).toMatchObject({ ok: true });
    expect(await agent.collect(ALICE, id)).toMatchObject(VOID);
  });

  test("revoking the user between two needed approvals ends the request", async () => {
    const { given, agent, ask, approve } = await opened({ approvers: ["bob", "carol"], needed: 2 });
    const id = await ask();
    expect(await approve(id, "bob")).toMatchObject({ ok: true, approval: { state: "pending" } });
    revoke(given);
    expect(await approve(id, "carol")).toMatchObject({ ok: false, code: "approval_settled" });
    expect(await agent.collect(ALICE, id)).toMatchObject(VOID);
    expect(await issued(given)).toBe(0);
  });

  test("a request that was used or collected before its user was revoked gives no capability afterwards", async () => {
    const { given, agent, parties, ask, approve } = await opened();
    const [unissued, collected] = [await ask(), await ask()];
    await approve(unissued);
    await approve(collected);
    expect(await agent.collect(ALICE, collected)).toMatchObject({ ok: true });
    // Use the approval without issuing anything, as before a crash.
    await parties.approvals.use(unissued, [0]);
    revoke(given);
    for (const id of [unissued, collected]) {
      expect(await agent.collect(ALICE, id)).toMatchObject(VOID);
    }
    expect(await issued(given)).toBe(1);
  });

  test("a request whose user is revoked during collection issues nothing", async () => {
    const { given, agent, ask, approve } = await opened();
    const id = await ask();
    await approve(id);
    const { policy } = given;
    const permissions = policy.permissions.bind(policy);
    policy.permissions = (principal, grant) => {
      revoke(given);
      return permissions(principal, grant);
    };
    expect(await agent.collect(ALICE, id)).toMatchObject({ ok: false });
    policy.permissions = permissions;
    expect(await agent.collect(ALICE, id)).toMatchObject(VOID);
    expect(await issued(given)).toBe(0);
  });

  /** Revokes in another process; this process learns of it when it next reads the list. */
  function revokeElsewhere(given: World): void {
    let isKnown = false;
    const catchUp = async (): Promise<void> => {
      if (!isKnown) revoke(given);
      isKnown = true;
    };
    Object.assign(given.revocations, { catchUp });
  }

  test("collecting sees a revocation that another process made while this process was paused", async () => {
    const { given, agent, ask, approve } = await opened();
    const id = await ask();
    await approve(id);
    revokeElsewhere(given);
    expect(await agent.collect(ALICE, id)).toMatchObject(VOID);
    expect(await issued(given)).toBe(0);
  });

  test("deciding sees a revocation that another process made while this process was paused", async () => {
    const { given, ask, approve } = await opened({ approvers: ["bob", "carol"], needed: 2 });
    const id = await ask();
    await approve(id, "bob");
    revokeElsewhere(given);
    expect(await approve(id, "carol")).toMatchObject({ ok: false, code: "approval_settled" });
  });

  test("requests ended by a revocation do not count as pending", async () => {
    const { given, agent, ask } = await opened();
    for (let at = 0; at < 8; at++) await ask();
    expect(await agent.request(ALICE, ASKED)).toMatchObject({ ok: false });
    revoke(given);
    await ask();
  });

  test("a request approved by someone who is no longer an approver is not collected", async () => {
    const { given, agent, ask, approve } = await opened({ approvers: ["bob"] });
    const id = await ask();
    expect(await approve(id, "bob")).toMatchObject({ ok: true });
    const later = await under(given, { approvers: ["carol"] });
    expect(await later.agent.collect(ALICE, id)).toMatchObject({
      ok: false,
      denial: {
        code: "approval_denied",
        message: expect.stringContaining("the approvers have changed"),
      },
    });
    // The process with the old configuration refuses too.
    expect(await agent.collect(ALICE, id)).toMatchObject({ ok: false });
    expect(await issued(given)).toBe(0);
  });

  test("an approver who was removed cannot complete a pending request", async () => {
    const rule = { approvers: ["bob", "carol", "dave"], needed: 2 };
    const { given, ask, approve } = await opened(rule);
    const id = await ask();
    await approve(id, "bob");
    const later = await under(given, { approvers: ["carol", "dave", "erin"], needed: 2 });
    expect(await approve(id, "bob", later)).toMatchObject({ ok: false });
    expect(await approve(id, "carol", later)).toMatchObject({ approval: { state: "pending" } });
    expect(await later.agent.collect(ALICE, id)).toMatchObject({ ok: true, capabilities: [] });
    // Erin is not an approver in the rule under which the request was opened.
    expect(await approve(id, "erin", later)).toMatchObject({ code: "approver_denied" });
    expect(await approve(id, "dave", later)).toMatchObject({ approval: { state: "approved" } });
    expect(await later.agent.collect(ALICE, id)).toMatchObject({ capabilities: [{}] });
  });

  test("a request whose grant no longer needs approval is still decided by the rule under which it was opened", async () => {
    const { given, ask, approve } = await opened({ approvers: ["bob"] });
    const id = await ask();
    const { revocations, database, clock, policy } = given;
    const parties = new Parties({
      store: openParties(database),
      revocations,
      clock: () => clock.now,
      policy,
      grants: GRANTS,
    });
    const agent = await given.again({ grants: GRANTS, parties });
    expect(await approve(id, "carol", { parties, agent })).toMatchObject({ ok: false });
    expect(await approve(id, "bob", { parties, agent })).toMatchObject({ ok: true });
    expect(await agent.collect(ALICE, id)).toMatchObject({ ok: true, capabilities: [{}] });
  });

  test("createIssuingAgent refuses parties whose approval rules differ from the rules of its grants", async () => {
    const { given, parties } = await opened({ approvers: ["bob"] });
    const grants = (approval: GrantApproval) =>
      GRANTS.map((grant): Grant => (grant.id === "clock:read" ? { ...grant, approval } : grant));
    const made = given.again({ grants: grants({ approvers: ["carol"] }), parties });
    await expect(made).rejects.toThrow(/^grants\[\d\]\.approval: parties must know it/);
    const { revocations, database } = given;
    const without = new Parties({ store: openParties(database), revocations });
    const other = given.again({ grants: grants({ approvers: ["bob"] }), parties: without });
    await expect(other).rejects.toThrow("createParties({ grants })");
  });
});
