import { describe, expect, test } from "vitest";
import type { Mode, UndeclaredAmbient } from "../../src/agent/clearance.js";
import type { ResourceSource } from "../../src/agent/resources/resource.js";
import { append } from "../capability/support.js";
import { ambientHandle } from "../support/handles.js";
import { ALICE, BOB, call, codes, grantedOne, result, world } from "./support.js";

describe("ambient authority", () => {
  test.each<[Mode, string[]]>([
    ["advertise", ["allowed"]],
    ["prefer", ["allowed"]],
    ["require", ["capability_missing"]],
  ])("in mode %s, a call and an admission without a capability get %j", async (mode, expected) => {
    const { agent, ran, ledger } = await world({ mode });
    expect(codes(await call(agent, "list", {}))).toEqual(expected);
    const admission = await agent.admit(ALICE, []);
    expect(admission.allowed ? ["allowed"] : admission.denials.map(({ code }) => code)).toEqual(
      expected,
    );
    const [event] = await ledger.list({ kind: "invocation" });
    expect(ran.length).toBe(mode === "require" ? 0 : 1);
    expect(event?.authority).toBe(mode === "require" ? undefined : "ambient");
  });

  test.each<[Mode, UndeclaredAmbient, boolean, string]>([
    ["advertise", "accepted", false, "allowed"],
    ["prefer", "refused", false, "authority_undeclared"],
    ["advertise", "refused", true, "allowed"],
    ["prefer", "accepted", true, "allowed"],
    ["require", "refused", true, "capability_missing"],
  ])(
    "in mode %s, with undeclaredAmbient %s, a call and an admission with declared %s get %s",
    async (mode, undeclaredAmbient, declared, code) => {
      const { agent, ledger } = await world({ mode, undeclaredAmbient });
      const invocation = { skill: "list", arguments: {}, capabilities: [], declared };
      const outcome = await agent.invoke(ALICE, invocation);
      expect(codes(outcome)).toEqual([code]);
      const admission = await agent.admit(ALICE, [], declared);
      expect(admission.allowed ? "allowed" : admission.denials[0].code).toBe(code);
      const [event] = await ledger.list({ kind: "invocation" });
      expect(event?.declared).toBe(code === "allowed" ? declared : undefined);
      if (outcome.ok) expect(outcome.declared).toBe(declared);
    },
  );

  test('a call that a capability allows has no property "declared" in its outcome and its ledger entry', async () => {
    const { agent, ledger } = await world({ mode: "prefer", undeclaredAmbient: "refused" });
    const clock = await grantedOne(agent, { grants: ["clock:read"] });
    const outcome = await call(agent, "tell", {}, [clock]);
    expect(outcome).toMatchObject({ ok: true });
    expect(outcome).not.toHaveProperty("declared", expect.anything());
    expect((await ledger.list({ kind: "invocation" }))[0]).not.toHaveProperty("declared");
  });

  test('the option undeclaredAmbient is refused if it is "accepted" in mode require, or an unknown value', async () => {
    const wrong = { undeclaredAmbient: "accepted", mode: "require" } as const;
    await expect(world(wrong)).rejects.toThrow("undeclaredAmbient: ");
    const unknown = JSON.parse('{"undeclaredAmbient":"never","mode":"prefer"}');
    await expect(world(unknown)).rejects.toThrow('must be "accepted" or "refused"');
  });

  test("is off by default, since an agent's default mode is require", async () => {
    const { agent } = await world();
    expect(agent.mode).toBe("require");
  });

  test("an ambient call may do what the caller's own policy allows under any grant, and no more", async () => {
    const { agent, policy } = await world({ mode: "prefer" });
    expect(result(await call(agent, "list", {}))).toEqual(["reports/q1.md", "reports/q2.md"]);
    expect(result(await call(agent, "list", {}, [], BOB))).toEqual(["letters/aunt.md"]);
    expect(codes(await call(agent, "list", {}, [], { principal: "eve", invoker: "x" }))).toEqual([
      "policy_denied",
    ]);
    policy.replace({ rules: [] });
    expect(codes(await call(agent, "list", {}))).toEqual(["policy_denied"]);
    expect(codes(await call(agent, "tell", {}))).toEqual(["policy_denied"]);
  });

  test("an ambient call searches only collections that the caller's policy names", async () => {
    const { again, folder } = await world();
    const looked: string[] = [];
    const resources: ResourceSource = {
      collections: () => folder.collections(),
      get: (name) => folder.get(name),
      nameOfCollection: (collection) => folder.nameOfCollection(collection),
      find(query) {
        looked.push(query.collection);
        return folder.find(query);
      },
    };
    const agent = await again({ mode: "prefer", resources });
    expect(codes(await call(agent, "list", {}))).toEqual(["allowed"]);
    expect(codes(await call(agent, "list", {}, [], BOB))).toEqual(["allowed"]);
    expect(looked).toEqual(["reports", "letters"]);
  });

  test("an ambient handle is invalid for another principal, and in a call with a capability", async () => {
    const parts = await world({ mode: "prefer" });
    const { agent } = parts;
    const document = await ambientHandle(parts, "alice", "reports/q1.md");
    expect(codes(await call(agent, "retrieve", { document }))).toEqual(["allowed"]);
    expect(codes(await call(agent, "retrieve", { document }, [], BOB))).toEqual(["handle_invalid"]);
    const admin = await grantedOne(agent, { grants: ["documents:admin"] });
    expect(codes(await call(agent, "retrieve", { document }, [admin]))).toEqual(["handle_invalid"]);
    const hidden = await ambientHandle(parts, "alice", "vault/keys.md");
    expect(codes(await call(agent, "retrieve", { document: hidden }))).toEqual(["policy_denied"]);
  });
});

describe("a bad capability", () => {
  test.each<Mode>(["advertise", "prefer", "require"])(
    "never falls back to ambient authority in mode %s",
    async (mode) => {
      const parts = await world({ mode });
      const { agent, issuer, ran } = parts;
      const { id, token } = await grantedOne(agent, { grants: ["clock:read"] });
      const document = await ambientHandle(parts, "alice", "reports/q1.md");
      const bad = [
        {},
        { id: "cap_AAAAAAAAAAAAAAAA" },
        { id: "" },
        { token: "" },
        { token: "noise" },
        { token: append(token, "{}") },
        { token: append(token, '{"expires":"2029-01-01T00:00:00Z"}') },
        { id: "cap_AAAAAAAAAAAAAAAA", token },
        { token: issuer.mint({ grant: "documents:read" }).token },
        { token },
        { id },
      ];
      for (const one of bad) {
        for (const [skill, given] of [
          ["list", {}],
          ["retrieve", { document }],
          ["browse", {}],
        ] as const) {
          expect(codes(await call(agent, skill, given, [one]))).not.toContain("allowed");
          expect(codes(await call(agent, skill, given, [one, one]))).not.toContain("allowed");
        }
      }
      expect(ran).toEqual([]);
    },
  );

  test("makes admission refuse the whole request, even beside valid capabilities", async () => {
    const { agent } = await world({ mode: "prefer" });
    const { token } = await grantedOne(agent, { grants: ["clock:read"] });
    expect(await agent.admit(ALICE, [{ token }])).toMatchObject({
      allowed: true,
      capabilities: [{ capability: { grant: "clock:read" } }],
    });
    expect(await agent.admit(ALICE, [{ token }, { token: "noise" }])).toMatchObject({
      allowed: false,
      denials: [{ code: "token_malformed", capability: 1 }],
    });
    const many = Array.from({ length: 9 }, () => ({ token }));
    expect(await agent.admit(ALICE, many)).toMatchObject({
      allowed: false,
      denials: [{ code: "token_too_large" }],
    });
  });
});
