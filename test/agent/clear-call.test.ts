import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { AgentDenialCode } from "../../src/agent/refusal.js";
import type { Json } from "../../src/bytes/json.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { createKeyring } from "../../src/issuer/keyring.js";
import { append, attenuated } from "../capability/support.js";
import {
  BOB,
  call,
  codes,
  granted,
  grantedOne,
  handleOf,
  REPORTS,
  reading,
  result,
  world,
} from "./support.js";

describe("an allowed call", () => {
  test("runs the skill with exactly the resources that the arguments name", async () => {
    const { agent, one, q1, ran } = await reading();
    const outcome = await call(agent, "retrieve", { document: q1 }, [one]);
    expect(outcome).toMatchObject({ ok: true, authority: "capability", capability: one.id });
    expect(result(outcome)).toContain("Text of reports/q1.md.");
    expect(result(await call(agent, "compare", { a: [q1, { b: q1 }] }, [one]))).toEqual([
      "reports/q1.md",
    ]);
    expect(ran).toEqual(["retrieve", "compare"]);
  });

  test("runs as the capability's principal, even if another principal presents the capability", async () => {
    const { agent } = await world();
    const one = await grantedOne(agent, { grants: ["clock:read"] });
    expect(result(await call(agent, "tell", {}, [{ token: one.token }], BOB))).toBe("hello alice");
  });

  test("creates an item by its collection's handle, and updates an item by the item's handle", async () => {
    const { agent, folder, ran } = await world();
    const grants = ["documents:read", "documents:write"];
    const all = await granted(agent, { ...Object(REPORTS), grants });
    const [read, update, create] = all;
    if (read === undefined || update === undefined || create === undefined)
      throw new Error("three are issued");
    const item = handleOf(update, "First quarter");
    const collection = handleOf(create, "reports");
    const made = { file: "q3.md", text: "New.\n" };
    // A handle of the wrong kind, a handle with the wrong capability, and again a handle of the wrong kind.
    expect(codes(await call(agent, "create", { in: item, ...made }, [create]))).toEqual([
      "resource_denied",
    ]);
    expect(codes(await call(agent, "create", { in: collection, ...made }, [update]))).toEqual([
      "operation_denied",
      "resource_denied",
    ]);
    expect(
      codes(await call(agent, "update", { document: collection, text: "x" }, [update])),
    ).toEqual(["resource_denied"]);
    expect(ran).toEqual([]);
    expect(result(await call(agent, "create", { in: collection, ...made }, [create]))).toBe(
      "reports/q3.md",
    );
    expect(result(await call(agent, "update", { document: item, text: "y" }, [update]))).toBeNull();
    expect(await folder.readText("reports/q1.md")).toBe("y");
  });
});

describe("a refused call", () => {
  const cases: readonly [
    AgentDenialCode,
    (parts: Awaited<ReturnType<typeof reading>>) => Promise<string[]>,
  ][] = [
    [
      "capability_missing",
      async ({ agent, q1 }) => codes(await call(agent, "retrieve", { document: q1 })),
    ],
    [
      "capability_unknown",
      async ({ agent, one, q1 }) =>
        codes(
          await call(agent, "retrieve", { document: q1 }, [{ ...one, id: "cap_AAAAAAAAAAAAAAAA" }]),
        ),
    ],
    ["skill_unknown", async ({ agent, one }) => codes(await call(agent, "retreive", {}, [one]))],
    [
      "arguments_invalid",
      async ({ agent, one, q1 }) =>
        codes(await call(agent, "retrieve", { document: q1, page: "1" }, [one])),
    ],
    [
      "handle_invalid",
      async ({ agent, one, issuer, policy }) => {
        // A legacy capability is not limited to handles, so only the gate detects an invalid handle.
        const admin = await grantedOne(agent, { grants: ["documents:admin"] });
        expect(policy.permissions("alice", "documents:admin")).toHaveLength(1);
        expect(issuer.name).toBe("documents-agent");
        return codes(
          await call(agent, "retrieve", { document: handleOf(one, "First quarter") }, [admin]),
        );
      },
    ],
    [
      "resource_gone",
      async ({ agent, one, q1, root, policy }) => {
        rmSync(join(root, "reports/q1.md"));
        // A caller with permission for part of a collection must not learn whether other resources exist.
        expect(codes(await call(agent, "retrieve", { document: q1 }, [one]))).toEqual([
          "policy_denied",
        ]);
        const resources = { collections: ["reports"] };
        const all = { principal: "alice", grant: "documents:read", operations: "*", resources };
        policy.replace({ rules: [{ ...all, operations: "*" }] });
        return codes(await call(agent, "retrieve", { document: q1 }, [one]));
      },
    ],
    [
      "policy_denied",
      async ({ agent, one, q1, policy }) => {
        policy.replace({ rules: [] });
        return codes(await call(agent, "retrieve", { document: q1 }, [one]));
      },
    ],
  ];

  test.each(cases)("does not run the skill, and gets the code %s", async (code, run) => {
    const parts = await reading();
    expect(await run(parts)).toEqual([code]);
    expect(parts.ran).toEqual([]);
  });

  test("gets skill_unknown for a skill that is named like an inherited property", async () => {
    const { agent, one } = await reading();
    for (const skill of ["__proto__", "constructor", "toString", "", "x".repeat(1e6)]) {
      const outcome = await call(agent, skill, {}, [one]);
      expect(codes(outcome)).toEqual(["skill_unknown"]);
      expect(JSON.stringify(outcome).length).toBeLessThan(500);
    }
  });

  test("lists every reason, including arguments that fail the schema", async () => {
    const { agent, one, clock } = await reading();
    clock.now += 3_600_000;
    const outcome = await call(agent, "update", { document: "x", text: 7 }, [one]);
    expect(codes(outcome)).toEqual([
      "grant_denied",
      "operation_denied",
      "resource_denied",
      "expired",
      "arguments_invalid",
      "arguments_invalid",
    ]);
  });
});

describe("a call outside its capability", () => {
  test("is refused with the code of the check that failed", async () => {
    const { agent, one, q1, clock, revocations, issuer, ran } = await reading();
    const read = { document: q1 };
    const of = async (
      token: string,
      given: { readonly [name: string]: Json } = read,
    ): Promise<string[]> => codes(await call(agent, "retrieve", given, [{ token }]));
    expect(await of(attenuated(one.token, { operations: ["list"] }))).toEqual(["operation_denied"]);
    expect(
      await of(attenuated(one.token, { constraints: { page: { max: 3 } } }), { ...read, page: 4 }),
    ).toEqual(["constraint_violated"]);
    expect(await of(attenuated(one.token, { constraints: { page: { max: 3 } } }))).toEqual([
      "constraint_violated",
    ]);
    expect(await of(append(one.token, '{"invokers":["other"]}'))).toEqual(["invoker_denied"]);
    expect(await of(append(one.token, '{"audience":["other"]}'))).toEqual(["audience_denied"]);
    expect(await of(append(one.token, '{"audience":["documents-agent"]}'))).toEqual(["allowed"]);
    expect(ran.splice(0)).toEqual(["retrieve"]);
    expect(await of(append(one.token, "{}"))).toEqual(["caveat_malformed"]);
    expect(await of(append(one.token, "free text"))).toEqual(["caveat_unknown"]);
    expect(await of(append(one.token, '{"notBefore":"2030-01-01T00:00:01Z"}'))).toEqual([
      "not_yet_valid",
    ]);
    expect(await of("")).toEqual(["token_malformed"]);
    expect(await of(one.token.slice(0, -4))).toEqual(["token_truncated"]);
    expect(await of(append(one.token, `{"purpose":"${"x".repeat(8193)}"}`))).toEqual([
      "token_too_large",
    ]);
    expect(await of(`${one.token.slice(0, -4)}AAAA`)).toEqual(["signature_mismatch"]);
    const granted = { grant: "documents:read", operations: ["retrieve"] };
    const foreign = createIssuer({
      name: "other",
      keys: createKeyring(),
      revocations,
      clock: () => clock.now,
    });
    expect(await of(foreign.mint(granted).token)).toEqual(["foreign_issuer"]);
    const same = createIssuer({
      name: "documents-agent",
      keys: createKeyring(),
      revocations,
      clock: () => clock.now,
    });
    expect(await of(same.mint(granted).token)).toEqual(["unknown_key"]);
    const revocation = issuer.revocationOf(one.token);
    if (revocation.ok) revocations.add(revocation.entry);
    expect(await of(one.token)).toEqual(["revoked"]);
    expect(ran).toEqual([]);
  });

  test("is refused if a hop was appended to a capability that may not be narrowed", async () => {
    const { agent } = await world();
    const { token } = await grantedOne(agent, { grants: ["documents:admin"] });
    expect(codes(await call(agent, "list", {}, [{ token }]))).toEqual(["allowed"]);
    const child = append(token, '{"operations":["list"]}');
    expect(codes(await call(agent, "list", {}, [{ token: child }]))).toEqual(["too_many_hops"]);
  });
});
