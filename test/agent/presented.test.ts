import { describe, expect, test } from "vitest";
import { attenuated } from "../capability/support.js";
import { ALICE, BOB, call, codes, grantedOne, handleOf, REPORTS, world } from "./support.js";

describe("several capabilities in one call", () => {
  test("allow the call if at least one of them allows it, at any position", async () => {
    const { agent } = await world();
    const read = await grantedOne(agent, REPORTS);
    const clock = await grantedOne(agent, { grants: ["clock:read"] });
    const document = handleOf(read, "First quarter");
    for (const presented of [
      [read, clock],
      [clock, read],
      [{ token: "noise" }, clock, read],
    ]) {
      const outcome = await call(agent, "retrieve", { document }, presented);
      expect(outcome).toMatchObject({ ok: true, capability: read.id });
    }
  });

  test("are not combined: a call that none of them allows alone is refused", async () => {
    const { agent, ran } = await world();
    const read = await grantedOne(agent, REPORTS);
    const [q1, q2] = [handleOf(read, "First quarter"), handleOf(read, "Second quarter")];
    const both = [q1, q2].map((handle) => ({
      token: attenuated(read.token, { resourceHandles: [handle] }),
    }));
    expect(codes(await call(agent, "compare", { q1, q2 }, both))).toEqual([
      "resource_denied",
      "resource_denied",
    ]);
    expect(ran).toEqual([]);
  });

  test("are numbered in the reasons of a refusal, which lists authentic capabilities with few reasons first", async () => {
    const { agent } = await world();
    const clock = await grantedOne(agent, { grants: ["clock:read"] });
    const expired = await grantedOne(agent, REPORTS);
    const presented = [{ token: "noise" }, expired, clock, { id: "cap_AAAAAAAAAAAAAAAA" }];
    const outcome = await call(agent, "tell", { x: 1 }, presented);
    expect(outcome).toMatchObject({ ok: true });
    const refused = await call(agent, "update", { document: "x", text: "y" }, presented);
    const told = refused.ok
      ? []
      : refused.denials.map(({ code, capability }) => `${capability} ${code}`);
    // Only a caller that presents a token of this agent learns about faults of the arguments.
    expect(told).toEqual([
      "2 grant_denied",
      "2 operation_denied",
      "2 arguments_invalid",
      "1 grant_denied",
      "1 operation_denied",
      "1 resource_denied",
      "1 arguments_invalid",
      "0 token_malformed",
      "3 capability_unknown",
    ]);
  });

  test("are recorded, if refused, under the one authentic capability, even if seven malformed tokens precede it", async () => {
    const { agent, ledger } = await world();
    const read = await grantedOne(agent, REPORTS);
    const noise = Array.from({ length: 7 }, () => ({ token: "noise" }));
    await call(agent, "update", { document: "x", text: "y" }, [...noise, read]);
    const [event] = await ledger.list({ kind: "invocation" });
    expect(event).toMatchObject({
      decision: "refused",
      capability: read.id,
      grant: "documents:read",
    });
  });

  test("allow the call if the eighth capability allows it, but not if only the ninth does", async () => {
    const { agent } = await world();
    const clock = await grantedOne(agent, { grants: ["clock:read"] });
    const noise = Array.from({ length: 8 }, () => ({ token: "noise" }));
    expect(codes(await call(agent, "tell", {}, [...noise.slice(1), clock]))).toEqual(["allowed"]);
    expect(codes(await call(agent, "tell", {}, [...noise, clock]))).not.toContain("allowed");
  });
});

describe("a capability id in a call", () => {
  test("works like the token for the party to which the capability was issued, until the capability expires", async () => {
    const { agent, clock } = await world();
    const { id } = await grantedOne(agent, { grants: ["clock:read"] });
    expect(codes(await call(agent, "tell", {}, [{ id }]))).toEqual(["allowed"]);
    clock.now += 899_000;
    expect(codes(await call(agent, "tell", {}, [{ id }]))).toEqual(["allowed"]);
    clock.now += 1000;
    expect(codes(await call(agent, "tell", {}, [{ id }]))).toEqual(["capability_unknown"]);
  });

  test("is answered to another party exactly like an unknown id", async () => {
    const { agent, ran } = await world();
    const { id } = await grantedOne(agent, { grants: ["clock:read"] });
    const missing = `cap_${"A".repeat(id.length - 4)}`;
    const others = [
      BOB,
      { ...ALICE, invoker: "other" },
      { ...BOB, invoker: "other" },
      { principal: "alice ", invoker: "assistant" },
    ];
    for (const caller of others) {
      const [own, none] = [id, missing].map(async (one) => {
        const invoked = await call(agent, "tell", {}, [{ id: one }], caller);
        const answers = [
          invoked,
          await agent.admit(caller, [{ id: one }]),
          await agent.introspect(caller, { id: one }),
          await agent.revoke(caller, { id: one }),
          await agent.attenuate(caller, { id: one }, { operations: ["tell"] }),
        ];
        return JSON.stringify(answers).replaceAll(one, "ID");
      });
      expect(await own).toBe(await none);
      expect(await own).toContain("capability_unknown");
    }
    expect(ran).toEqual([]);
    expect(codes(await call(agent, "tell", {}, [{ id }]))).toEqual(["allowed"]);
  });

  test("is still subject to the capability's hops, its revocation and the policy", async () => {
    const { agent, policy } = await world();
    const bound = await grantedOne(agent, { grants: ["clock:read"], invokers: ["other"] });
    expect(codes(await call(agent, "tell", {}, [{ id: bound.id }]))).toEqual(["invoker_denied"]);
    const { id } = await grantedOne(agent, { grants: ["clock:read"] });
    const other = await grantedOne(agent, { grants: ["clock:read"] });
    await agent.revoke(ALICE, { id });
    expect(codes(await call(agent, "tell", {}, [{ id }]))).toEqual(["revoked"]);
    policy.replace({ rules: [] });
    expect(codes(await call(agent, "tell", {}, [{ id: other.id }]))).toEqual(["policy_denied"]);
  });

  test("works after a restart and a key rotation, until the capability's key is retired", async () => {
    const { agent, again, keys } = await world();
    const { id } = await grantedOne(agent, { grants: ["clock:read"] });
    const { kid } = keys.ring.minting;
    keys.ring = keys.ring.rotate();
    expect(codes(await call(await again({}), "tell", {}, [{ id }]))).toEqual(["allowed"]);
    keys.ring = keys.ring.retire(kid);
    expect(codes(await call(agent, "tell", {}, [{ id }]))).toEqual(["capability_unknown"]);
  });

  test("is refused beside the token of another capability", async () => {
    const { agent, ran } = await world();
    const [one, other] = [
      await grantedOne(agent, { grants: ["clock:read"] }),
      await grantedOne(agent, { grants: ["clock:read"] }),
    ];
    const mixed = { id: other.id, token: one.token };
    expect(codes(await call(agent, "tell", {}, [mixed]))).toEqual(["capability_unknown"]);
    expect(await agent.admit(ALICE, [mixed])).toMatchObject({
      allowed: false,
      denials: [{ code: "capability_unknown" }],
    });
    expect(await agent.introspect(ALICE, mixed)).toMatchObject({ active: false });
    expect(await agent.attenuate(ALICE, mixed, { operations: ["tell"] })).toMatchObject({
      ok: false,
    });
    expect(await agent.revoke(ALICE, mixed)).toMatchObject({ ok: false });
    expect(ran).toEqual([]);
    for (const alive of [one, other])
      expect(await agent.introspect(ALICE, { token: alive.token })).toMatchObject({ active: true });
  });

  test("gets capability_unknown if it is malformed, whatever characters it has", async () => {
    const { agent } = await world();
    await grantedOne(agent, { grants: ["clock:read"] });
    for (const id of [
      "",
      "%",
      "cap_%",
      "' OR 1=1 --",
      "\0",
      "\ud800",
      "__proto__",
      "x".repeat(1e6),
    ]) {
      expect(codes(await call(agent, "tell", {}, [{ id }]))).toEqual(["capability_unknown"]);
    }
    expect(codes(await call(agent, "tell", {}, [{}]))).toEqual(["capability_unknown"]);
  });
});

describe("a capability from JSON is never taken for a verified capability", () => {
  test("whatever properties it has", async () => {
    const { agent, ran } = await world();
    const clock = await grantedOne(agent, { grants: ["clock:read"] });
    const other = "cap_AAAAAAAAAAAAAAAA";
    for (const [member, code] of [
      [{ ok: false, denials: [] }, "capability_unknown"],
      [{ ok: true }, "capability_unknown"],
      [{ ok: true, id: other, token: clock.token }, "capability_unknown"],
    ] as const) {
      const presented = [JSON.parse(JSON.stringify(member))];
      expect(codes(await call(agent, "tell", {}, presented))).toEqual([code]);
      expect(await agent.admit(ALICE, presented)).toMatchObject({
        allowed: false,
        denials: [{ code }],
      });
    }
    expect(ran).toEqual([]);
  });
});
