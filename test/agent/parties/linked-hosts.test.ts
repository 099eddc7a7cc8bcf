import { expect, test } from "vitest";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { throughStores } from "../../support/databases.js";
import { approve, bank, changes, done, registration, statuses } from "./support.js";

// Several users approve agents of one host. The host is linked to the first user; the approvals of other users
// are refused.

throughStores((place) => {
  const opened = async (more: object = {}) => bank({ ...more, place: await place() });

  test("a second user who approves an agent of a linked host is refused with host_taken", async () => {
    const given = await opened();
    const { parties } = given;
    const first = done(await parties.register(registration()));
    const second = done(await parties.register(registration({ agentThumbprint: "second" })));
    const { userCode = "" } = first;
    expect(await approve(given, first.approval, { userCode })).toMatchObject({ ok: true });

    const { userCode: code = "" } = second;
    const taken = await approve(given, second.approval, { as: "bob", userCode: code });
    expect(taken).toMatchObject({ ok: false, code: "host_taken" });
    expect(await parties.host(first.host.id)).toMatchObject({ principal: "alice" });
    expect(await parties.agent(second.agent.id)).toMatchObject({ status: "pending" });
    expect(await parties.activeGrants("bob")).toEqual([]);
    expect(statuses(await parties.grantsOf(second.agent.id))).toEqual({
      check_balance: "pending",
      list_payees: "pending",
    });
    expect(await changes(given)).toContain("approval.refused host_taken");

    // The host's own user can still decide.
    expect(await approve(given, second.approval, { userCode: code })).toMatchObject({ ok: true });
    expect(await parties.agent(second.agent.id)).toMatchObject({
      status: "active",
      principal: "alice",
    });
  });

  test("another user can still deny a pending agent of a linked host", async () => {
    const given = await opened();
    const { parties } = given;
    const first = done(await parties.register(registration()));
    const second = done(await parties.register(registration({ agentThumbprint: "second" })));
    const { userCode = "" } = first;
    expect(await approve(given, first.approval, { userCode })).toMatchObject({ ok: true });
    const { userCode: code = "" } = second;
    const denied = await approve(given, second.approval, {
      as: "bob",
      userCode: code,
      answer: "deny",
    });
    expect(denied).toMatchObject({ ok: true, approval: { state: "denied" } });
    expect(await parties.agent(second.agent.id)).toMatchObject({ status: "rejected" });
  });

  test("after a claim has linked a host to a user, approving the host's other claims is refused as agent_ended, and another user's approval of the host's new agent as host_taken", async () => {
    const given = await opened({ anyone: true });
    const { parties } = given;
    const first = done(await parties.register(registration({ mode: "autonomous" })));
    const asked = registration({ mode: "autonomous", agentThumbprint: "second" });
    const second = done(await parties.register(asked));
    const claimOf = async ({ agent }: typeof first) =>
      done(await parties.claim({ agent: agent.id, by: { agent: agent.id } }));
    const [one, other, twice] = [await claimOf(first), await claimOf(second), await claimOf(first)];
    // Another agent of the host also asks to be linked to a user.
    const third = done(await parties.register(registration({ agentThumbprint: "third" })));

    const answer = (claim: typeof one, as: string) =>
      approve(given, claim.approval, { as, userCode: claim.userCode ?? "" });
    expect(await answer(one, "alice")).toMatchObject({ ok: true });
    // The approval ended both autonomous agents.
    for (const late of [other, twice]) {
      for (const as of ["bob", "alice"]) {
        expect(await answer(late, as)).toMatchObject({ ok: false, code: "agent_ended" });
      }
    }
    expect(await answer(third, "bob")).toMatchObject({ ok: false, code: "host_taken" });
    expect(await parties.host(first.host.id)).toMatchObject({ principal: "alice" });
    for (const { agent } of [first, second]) {
      expect(await parties.agent(agent.id)).toMatchObject({
        status: "claimed",
        principal: "alice",
      });
    }
  });

  test("a claim never links another user's host, even while the host's agent is active", async () => {
    const given = await opened({ anyone: true });
    const { parties, database } = given;
    const alone = done(await parties.register(registration({ mode: "autonomous" })));
    const { agent, host } = alone;
    const claim = done(await parties.claim({ agent: agent.id, by: { host: host.id } }));
    // Linking ends autonomous agents, so the test sets this one to active in the database.
    await openParties(database).change(async (draft) => {
      const kept = (await draft.hosts.get(host.id)) ?? expect.fail("no host");
      await draft.put("hosts", { ...kept, principal: "alice" });
    });
    const { userCode = "" } = claim;
    const taken = await approve(given, claim.approval, { as: "bob", userCode });
    expect(taken).toMatchObject({ ok: false, code: "host_taken" });
    expect(await parties.host(host.id)).toMatchObject({ principal: "alice" });
    expect(await parties.agent(agent.id)).toMatchObject({ status: "active" });
  });

  test("with several approvers, the user who enters the code learns at once that the host is linked to another user", async () => {
    const given = await opened({ settings: { approval: { approvers: ["dave"] } } });
    const { parties } = given;
    const first = done(await parties.register(registration()));
    const second = done(await parties.register(registration({ agentThumbprint: "second" })));
    const { userCode = "" } = first;
    await approve(given, first.approval, { as: "dave" });
    expect(await approve(given, first.approval, { userCode })).toMatchObject({ ok: true });
    const { userCode: code = "" } = second;
    expect(await approve(given, second.approval, { as: "bob", userCode: code })).toMatchObject({
      ok: false,
      code: "host_taken",
    });
    const kept = await parties.approvals.get(second.approval?.id ?? "");
    expect(kept).toMatchObject({ state: "pending", decisions: [] });
  });

  test("one denial ends a registration without capabilities, whatever other approvers decided", async () => {
    const approval = { approvers: ["dave", "carol"], needed: 2 };
    const given = await opened({ settings: { approval, defaults: [] } });
    const { parties } = given;
    const asked = done(await parties.register(registration({ capabilities: [] })));
    expect(asked.approval?.subject.asked).toEqual([]);
    expect(await approve(given, asked.approval, { as: "dave" })).toMatchObject({ ok: true });
    const denied = await approve(given, asked.approval, { as: "carol", answer: "deny" });
    expect(denied).toMatchObject({ ok: true, approval: { state: "denied" } });
    expect(await parties.agent(asked.agent.id)).toMatchObject({ status: "rejected" });
    const late = await approve(given, asked.approval, { userCode: asked.userCode ?? "" });
    expect(late).toMatchObject({ code: "approval_settled" });
  });
});
