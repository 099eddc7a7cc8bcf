import { describe, expect, test } from "vitest";
import { ClearanceLostError } from "../../src/agent/clearance.js";
import { mintedFor } from "../support/handles.js";
import { POLICY } from "./documents.js";
import { ALICE, call, codes, handleOf, reading, result, world } from "./support.js";

describe("an authentic capability is refused", () => {
  test("if it names no principal", async () => {
    const { agent, issuer, ran } = await world();
    const { token } = issuer.mint({ grant: "documents:read", anyOperation: true });
    const outcome = await call(agent, "list", {}, [{ token }]);
    expect(codes(outcome)).toEqual(["policy_denied"]);
    expect(ran).toEqual([]);
  });

  test("if the policy has no rule for its principal", async () => {
    const { agent, issuer, ran } = await world();
    const { token } = issuer.mint({ grant: "documents:read", principal: "mallory" });
    for (const skill of ["list", "browse"]) {
      expect(codes(await call(agent, skill, {}, [{ token }]))).toContain("policy_denied");
    }
    expect(ran).toEqual([]);
  });

  test("if its grant was renamed, or no longer has the call's operation", async () => {
    const { again, one, q1, ran } = await reading();
    const read = { id: "documents:read", description: "Read", operations: ["list"] };
    for (const grants of [[{ ...read, id: "documents:see" }], [read]]) {
      const agent = await again({ grants });
      expect(codes(await call(agent, "retrieve", { document: q1 }, [one]))).toEqual([
        "grant_denied",
      ]);
    }
    expect(ran).toEqual([]);
  });

  test("for an operation that its grant never had, even if the policy would allow it", async () => {
    const parts = await world();
    const { agent, policy, ran } = parts;
    policy.replace({ rules: [{ principal: "alice", grant: "documents:read", operations: "*" }] });
    const capability = await mintedFor(parts, "reports/q1.md", {
      grant: "documents:read",
      principal: "alice",
      anyOperation: true,
    });
    const document = capability.handle;
    const outcome = await call(agent, "update", { document, text: "x" }, [capability]);
    expect(codes(outcome)).toEqual(["grant_denied"]);
    expect(codes(await call(agent, "retrieve", { document }, [capability]))).toEqual(["allowed"]);
    expect(ran).toEqual(["retrieve"]);
  });
});

describe("after the issuance of a capability", () => {
  test("a narrower policy refuses exactly the resources that it no longer allows", async () => {
    const { agent, one, q1, policy, ran } = await reading();
    const [rule, ...rules] = POLICY.rules;
    if (rule === undefined) throw new Error("there are rules");
    const resources = { collections: ["reports"], filter: { quarter: "Q2" } };
    policy.replace({ ...POLICY, rules: [{ ...rule, resources }, ...rules] });
    expect(codes(await call(agent, "retrieve", { document: q1 }, [one]))).toEqual([
      "policy_denied",
    ]);
    const q2 = handleOf(one, "Second quarter");
    expect(codes(await call(agent, "compare", { both: [q1, q2] }, [one]))).toEqual([
      "policy_denied",
    ]);
    expect(ran).toEqual([]);
    expect(codes(await call(agent, "retrieve", { document: q2 }, [one]))).toEqual(["allowed"]);
    expect(result(await call(agent, "list", {}, [one]))).toEqual(["reports/q2.md"]);
  });

  test("a resource that has become confidential is refused", async () => {
    const { agent, one, q1, folder, ran } = await reading();
    await folder.writeText("reports/q1.md", "---\nconfidential: true\n---\nSecret now.\n");
    expect(codes(await call(agent, "retrieve", { document: q1 }, [one]))).toEqual([
      "policy_denied",
    ]);
    expect(ran).toEqual([]);
  });

  test("the capability stays valid after a key rotation, and becomes invalid if its key is retired", async () => {
    const { agent, one, q1, keys } = await reading();
    const { kid } = keys.ring.minting;
    keys.ring = keys.ring.rotate();
    expect(codes(await call(agent, "retrieve", { document: q1 }, [one]))).toEqual(["allowed"]);
    keys.ring = keys.ring.retire(kid);
    expect(codes(await call(agent, "retrieve", { document: q1 }, [one]))).toEqual(["unknown_key"]);
  });
});

describe("after the clearance of a call", () => {
  test("the skill does not run if the call's capability was revoked, and the ledger records the refusal", async () => {
    const { agent, one, q1, ledger, ran, revocations } = await reading();
    const invocation = { skill: "retrieve", arguments: { document: q1 }, capabilities: [one] };
    const leave = await agent.clear(ALICE, invocation);
    if (!leave.allowed) throw new Error("it is allowed");
    revocations.add({ kind: "capability", id: one.id, at: "2026-01-01T00:00:00Z" });
    const run = agent.run(leave, ALICE, new AbortController());
    await expect(run).rejects.toThrow(ClearanceLostError);
    await expect(run).rejects.toMatchObject({ denials: [{ code: "revoked" }] });
    expect(ran).toEqual([]);
    const [last] = await ledger.list({ kind: "invocation", limit: 1 });
    expect(last).toMatchObject({ decision: "refused", codes: ["revoked"] });
  });
});
