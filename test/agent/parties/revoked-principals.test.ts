import { expect, test } from "vitest";
import { formatTime } from "../../../src/caveats/time.js";
import { throughStores } from "../../support/databases.js";
import {
  activeAgent,
  approve,
  type Bank,
  type BankOptions,
  bank,
  done,
  linkedHost,
  refusalOf,
  registration,
  statuses,
} from "./support.js";

// Effects of `proviso revoke --principal` on the earlier grants and requests of agents.

const TRANSFER = { capabilities: [{ name: "transfer_funds" }] };
const CALL = { capability: "check_balance", arguments: {} };

/** Revokes everything issued to a principal so far, as the command does, and advances the clock. */
function revoke({ revocations, clock }: Bank, id: string): void {
  const at = formatTime(clock.now);
  revocations.add({ kind: "principal", id, before: formatTime(clock.now + 1000), at });
  clock.now += 2000;
}

throughStores((place) => {
  const opened = async (more: BankOptions = {}): Promise<Bank> =>
    bank({ ...more, place: await place() });

  test("revoking a principal ends the grants of its agents, and the agents get no more tokens", async () => {
    const given = await opened();
    const { parties } = given;
    const { agent, grants } = await activeAgent(given);
    const { approval } = done(await parties.requestGrants(agent.id, TRANSFER));
    await approve(given, approval);
    expect(await given.agent.executeGrant({ agent, ...CALL })).toMatchObject({ ok: true });
    revoke(given, "alice");
    expect(statuses(await parties.grantsOf(agent.id))).toEqual({
      check_balance: "revoked",
      list_payees: "revoked",
      transfer_funds: "revoked",
    });
    expect(await parties.activeGrants("alice")).toEqual([]);
    expect(await parties.allGrants()).toMatchObject([
      ...Array.from({ length: 3 }, () => ({ status: "revoked", reason: "it was revoked" })),
    ]);
    expect(await given.agent.grantToken(grants[0] ?? { id: "" })).toBeUndefined();
    expect(await given.agent.executeGrant({ agent, ...CALL })).toMatchObject({
      ok: false,
      denials: [{ code: "capability_missing" }],
    });
    // Another user's agents, and Alice's later grants, are unaffected.
    const again = done(await parties.requestGrants(agent.id, TRANSFER));
    expect(await approve(given, again.approval)).toMatchObject({ ok: true });
    const [granted] = again.grants;
    expect(await given.agent.grantToken(granted ?? { id: "" })).toBeDefined();
    expect(await parties.activeGrants("alice")).toHaveLength(1);
  });

  test("revoking a principal cancels its agents' pending requests, which can be made again", async () => {
    const given = await opened();
    const { parties } = given;
    const { agent } = await activeAgent(given);
    const { approval } = done(await parties.requestGrants(agent.id, TRANSFER));
    revoke(given, "alice");
    expect(await approve(given, approval)).toMatchObject({
      code: "approval_settled",
      message: expect.stringContaining("was revoked since"),
    });
    const all = await parties.grantsOf(agent.id);
    expect(all.find(({ capability }) => capability === "transfer_funds")).toMatchObject({
      status: "denied",
      reason: expect.stringContaining("was revoked since"),
    });
    const again = done(await parties.requestGrants(agent.id, TRANSFER));
    expect(again.approval?.id).not.toBe(approval?.id);
    expect(await approve(given, again.approval)).toMatchObject({ ok: true });
  });

  test("revoking a principal between two needed approvals ends the request", async () => {
    const given = await opened({
      settings: { approval: { approvers: ["bob", "carol"], needed: 2 }, defaults: [] },
    });
    const { parties } = given;
    const { agent } = await activeAgent(given, { capabilities: [] });
    const { approval } = done(await parties.requestGrants(agent.id, TRANSFER));
    expect(await approve(given, approval, { as: "bob" })).toMatchObject({ ok: true });
    revoke(given, "alice");
    expect(await approve(given, approval, { as: "carol" })).toMatchObject({ ok: false });
    expect(statuses(await parties.grantsOf(agent.id))).toEqual({ transfer_funds: "denied" });
    expect(await parties.approvals.get(approval?.id ?? "")).toMatchObject({
      state: "cancelled",
      cause: "principal_revoked",
    });
  });

  test("a registration cancelled by a principal's revocation can be made again", async () => {
    const given = await opened();
    const { parties } = given;
    await linkedHost(given);
    const asked = registration(TRANSFER);
    const first = done(await parties.register(asked));
    revoke(given, "alice");
    expect(await approve(given, first.approval)).toMatchObject({ ok: false });
    const second = done(await parties.register(asked));
    expect(second.agent.id).toBe(first.agent.id);
    expect(await approve(given, second.approval)).toMatchObject({ ok: true });
    expect(await parties.agent(first.agent.id)).toMatchObject({ status: "active" });
  });

  test("an agent whose principal is revoked while the policy is asked gets no token", async () => {
    const given = await opened();
    const { agent, grants } = await activeAgent(given);
    const { policy } = given;
    const permissions = policy.permissions.bind(policy);
    policy.permissions = (principal, grant) => {
      revoke(given, "alice");
      return permissions(principal, grant);
    };
    expect(await given.agent.grantToken(grants[0] ?? { id: "" })).toBeUndefined();
    policy.permissions = permissions;
    const outcome = await given.agent.executeGrant({ agent, ...CALL });
    expect(outcome).toMatchObject({ denials: [{ code: "capability_missing" }] });
  });

  test("revoking an autonomous agent's principal ends the agent's grants, and no default capability is granted again", async () => {
    const given = await opened({ anyone: true });
    const { parties } = given;
    const { agent, host } = done(await parties.register(registration({ mode: "autonomous" })));
    expect(await given.agent.executeGrant({ agent, ...CALL })).toMatchObject({ ok: true });
    revoke(given, `autonomous:${host.id}`);
    expect(await given.agent.executeGrant({ agent, ...CALL })).toMatchObject({ ok: false });
    const asked = { capabilities: [{ name: "check_balance" }] };
    const again = done(await parties.requestGrants(agent.id, asked));
    expect(again.grants).toMatchObject([{ status: "denied" }]);
    given.clock.now += 3_600_000;
    expect(done(await parties.reactivate(agent.id)).grants).toEqual([]);
  });

  test("a grant whose capability was revoked by its id is shown as revoked", async () => {
    const given = await opened();
    const { agent, grants } = await activeAgent(given);
    const [grant] = grants;
    const at = formatTime(given.clock.now);
    given.revocations.add({ kind: "capability", id: grant?.capabilityId ?? "", at });
    expect(await given.parties.grant(grant?.id ?? "")).toMatchObject({ status: "revoked" });
    const asked = { capabilities: [{ name: grant?.capability ?? "" }] };
    const again = done(await given.parties.requestGrants(agent.id, asked));
    expect(again.grants).toMatchObject([{ status: "pending" }]);
  });

  test.each(["delegated", "autonomous"] as const)(
    "a default capability that was revoked by its capability id is not granted again to an agent of mode %s",
    async (mode) => {
      const given = await opened({ anyone: true });
      const { parties, clock } = given;
      if (mode === "delegated") await linkedHost(given);
      const { agent } = done(await parties.register(registration({ mode })));
      const first = await parties.grantsOf(agent.id);
      const balance = first.find(({ capability }) => capability === "check_balance");
      const at = formatTime(clock.now);
      given.revocations.add({ kind: "capability", id: balance?.capabilityId ?? "", at });
      const asked = { capabilities: [{ name: "check_balance" }] };
      const again = done(await parties.requestGrants(agent.id, asked));
      const status = mode === "delegated" ? "pending" : "denied";
      expect(again.grants).toMatchObject([{ status }]);
      for (let times = 0; times < 2; times++) {
        clock.now += 3_600_000;
        const { grants } = done(await parties.reactivate(agent.id));
        expect(grants.map(({ capability }) => capability)).toEqual(
          first.map(({ capability }) => capability).filter((name) => name !== "check_balance"),
        );
        expect(await given.agent.executeGrant({ agent, ...CALL })).toMatchObject({ ok: false });
      }
    },
  );

  test("an agent whose registration is denied because the approvers changed stays pending, and can register again", async () => {
    const settings = { approval: { approvers: ["dave"] }, defaults: [] };
    const given = await opened({ settings });
    const { parties } = given;
    await linkedHost(given);
    const asked = registration(TRANSFER);
    const first = done(await parties.register(asked));
    const later = await given.again({
      settings: { approval: { approvers: ["carol"] }, defaults: [] },
    });
    expect(await approve(later, first.approval, { as: "dave" })).toMatchObject({ ok: false });
    expect(await later.parties.agent(first.agent.id)).toMatchObject({ status: "pending" });
    expect(await later.parties.grantsOf(first.agent.id)).toMatchObject([
      { status: "denied", reason: expect.stringContaining("the approvers have changed") },
    ]);
    const second = done(await later.parties.register(asked));
    expect(second.agent.id).toBe(first.agent.id);
    expect(await approve(later, second.approval, { as: "carol" })).toMatchObject({ ok: true });
    expect(refusalOf(await later.parties.register(asked)).code).toBe("agent_exists");
  });
});
