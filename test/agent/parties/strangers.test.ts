import { expect, test } from "vitest";
import { isFromStranger } from "../../../src/agent/parties/approval-results.js";
import { tablesOf } from "../../../src/stores/database.js";
import { throughStores } from "../../support/databases.js";
import {
  approve,
  type Bank,
  type BankOptions,
  bank,
  done,
  linkedHost,
  registration,
} from "./support.js";

// Hosts without a user ("strangers"): their limits, and how users recognize their own hosts.

throughStores((place) => {
  const opened = async (settings: BankOptions["settings"]) =>
    bank({ settings: settings ?? {}, place: await place() });

  const addressed = async ({ parties, clock }: Bank, at: number, loginHint: string) => {
    clock.now += 1;
    const asked = registration({ hostThumbprint: `stranger-${at}`, loginHint });
    return done(await parties.register({ ...asked, method: "backchannel" }));
  };

  test("a request of a stranger (a host without a user) needs a user code once the named user's list is full of strangers' requests", async () => {
    const given = await opened({ bounds: { pendingPerUser: 2 } });
    const { parties } = given;
    const first = await addressed(given, 1, "alice");
    await addressed(given, 2, "alice");
    const third = await addressed(given, 3, "alice");
    expect(first.approval).toMatchObject({
      method: "backchannel",
      subject: { hintedUser: "alice" },
    });
    expect(first.userCode).toBeUndefined();
    expect(third.approval?.method).toBe("user_code");
    expect(third.approval?.subject).not.toHaveProperty("hintedUser");
    expect((await addressed(given, 4, "bob")).approval?.method).toBe("backchannel");
    expect(await parties.approvals.waitingFor("alice")).toHaveLength(2);
    // This is Alice's own new host: she enters the code that it shows.
    const { userCode = "" } = third;
    expect(await approve(given, third.approval, { userCode })).toMatchObject({ ok: true });
    expect(await parties.host(third.host.id)).toMatchObject({ principal: "alice" });
    // A stranger's request counts against the limit until it expires, whether or not anybody has read it.
    given.clock.now += 300_000;
    expect((await addressed(given, 5, "alice")).approval?.method).toBe("backchannel");
  });

  test("requests of a user's own hosts do not count against the limit for strangers, and are listed first", async () => {
    const given = await opened({ bounds: { pendingPerUser: 2, pendingPerAgent: 3 } });
    const { parties } = given;
    await linkedHost(given);
    const own = done(await parties.register(registration({ capabilities: [] })));
    const ask = async (name: string) => {
      given.clock.now += 1;
      const asked = { capabilities: [{ name }], method: "backchannel" } as const;
      const { approval } = done(await parties.requestGrants(own.agent.id, asked));
      return approval?.id ?? "";
    };
    const mine = [await ask("transfer_funds"), await ask("delete_payee")];
    const theirs = [await addressed(given, 1, "alice"), await addressed(given, 2, "alice")];
    mine.push(await ask("print_report"));
    const waiting = await parties.approvals.waitingFor("alice");
    const strangers = theirs.map(({ approval }) => approval?.id);
    expect(waiting.map(({ id }) => id)).toEqual([...mine, ...strangers]);
    expect(waiting.map(isFromStranger)).toEqual([false, false, false, true, true]);
  });

  test("strangers that repeat a request under new idempotency keys do not fill the database", async () => {
    const given = await bank({ anyone: true, settings: {}, place: await place() });
    const { parties, database } = given;
    const rows = () =>
      tablesOf(database).read((db) => db.selectFrom("answered_request").selectAll().execute());
    const pending = registration();
    const alone = registration({ hostThumbprint: "alone", mode: "autonomous", capabilities: [] });
    const { agent } = done(await parties.register(alone));
    const first = done(await parties.register({ ...pending, idempotencyKey: "first" }));
    const denied = { capabilities: [{ name: "transfer_funds" }] };
    const before = (await rows()).length;
    for (let at = 0; at < 5; at++) {
      const idempotencyKey = `key ${at}`;
      const again = done(await parties.register({ ...pending, idempotencyKey }));
      expect(again.agent.id).toBe(first.agent.id);
      done(await parties.requestGrants(agent.id, { ...denied, idempotencyKey }));
    }
    expect(await rows()).toHaveLength(before);
    // The idempotency key of the registration still returns its answer.
    const same = done(await parties.register({ ...pending, idempotencyKey: "first" }));
    expect(same.agent.id).toBe(first.agent.id);
  });

  test("a stranger's request decided by an approver does not appear in the history of the named user", async () => {
    const given = await opened({ approval: { approvers: ["bob"] } });
    const { approvals } = given.parties;
    const asked = await addressed(given, 1, "alice");
    const { id = "", digest = "" } = asked.approval ?? {};
    const answer = { answer: "deny", digest } as const;
    expect(await approvals.decide(id, { principal: "bob" }, answer)).toMatchObject({ ok: true });
    expect(await approvals.history("alice")).toEqual([]);
    expect(await approvals.history("bob")).toMatchObject([{ id, state: "denied" }]);
  });

  test("a claim that names a user needs a user code once the user's list has pendingPerUser requests of strangers", async () => {
    const given = await bank({
      anyone: true,
      settings: { bounds: { pendingPerUser: 1 } },
      place: await place(),
    });
    const { parties } = given;
    const alone = done(await parties.register(registration({ mode: "autonomous" })));
    const asked = { agent: alone.agent.id, by: { agent: alone.agent.id }, loginHint: "alice" };
    const claim = async () => done(await parties.claim({ ...asked, method: "backchannel" }));
    expect((await claim()).approval?.method).toBe("backchannel");
    const second = await claim();
    expect(second).toMatchObject({ approval: { method: "user_code" } });
    expect(second.approval && isFromStranger(second.approval)).toBe(true);
  });
});
