import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { InvocationOutcome } from "../../src/agent/clearance.js";
import type { Ledger } from "../../src/agent/ledger.js";
import type { AgentDenial } from "../../src/agent/refusal.js";
import type { Json } from "../../src/bytes/json.js";
import { attenuated } from "../capability/support.js";
import { mintedFor } from "../support/handles.js";
import { GRANTS } from "./documents.js";
import {
  ALICE,
  BOB,
  call,
  codes,
  denialOf,
  grantedOne,
  handleOf,
  result,
  world,
} from "./support.js";

// Alice's policy uses the field "confidential"; Bob's policy uses no field.

function query(collection: string, filter: Json): Json {
  const resourceQuery = { collection, filter };
  return { grants: ["documents:read"], operations: ["retrieve", "list"], resourceQuery };
}
const FIRST = query("reports", { quarter: "Q1" });
const BOTH = query("reports", { quarter: { in: ["Q1", "Q2"] } });
const OLD = query("letters", { year: { max: 1950 } });

/** Returns the grants with `recheck` of documents:read set. */
const grants = (recheck: boolean) =>
  GRANTS.map((grant) => (grant.id === "documents:read" ? { ...grant, recheck } : grant));

function document(fields: string): string {
  return `---\n${fields}\n---\nAnother text.\n`;
}
const SECOND = document("title: First quarter\nquarter: Q2\nconfidential: false");

function denials(outcome: InvocationOutcome): readonly AgentDenial[] {
  return outcome.ok ? [] : outcome.denials;
}

describe("if the policy filters by fields, a request's query is checked again at each call", () => {
  test("so a resource that no longer matches is refused until it matches again", async () => {
    const { agent, folder, ran } = await world();
    const one = await grantedOne(agent, FIRST);
    const q1 = handleOf(one, "First quarter");
    const before = await folder.readText("reports/q1.md");
    await folder.writeText("reports/q1.md", SECOND);
    const denial = {
      code: "policy_denied",
      rule: "query",
      actual: q1,
      message: "the handle's resource no longer matches the query by which it was granted",
    };
    expect(denials(await call(agent, "retrieve", { document: q1 }, [one]))).toEqual([denial]);
    expect(denials(await call(agent, "list", {}, [one]))).toEqual([denial]);
    expect(ran).toEqual([]);
    await folder.writeText("reports/q1.md", before);
    expect(codes(await call(agent, "retrieve", { document: q1 }, [one]))).toEqual(["allowed"]);
  });

  test("also if the capability is presented by id, narrowed, or used after a restart", async () => {
    const { agent, again, folder } = await world();
    const one = await grantedOne(agent, FIRST);
    const q1 = handleOf(one, "First quarter");
    await folder.writeText("reports/q1.md", SECOND);
    const restarted = await again({});
    for (const presented of [
      { id: one.id },
      { token: one.token },
      { token: attenuated(one.token, { operations: ["retrieve"] }) },
    ]) {
      const outcome = await call(restarted, "retrieve", { document: q1 }, [presented]);
      expect(denials(outcome).map(({ rule }) => rule)).toEqual(["query"]);
    }
  });

  test("so a scoped skill gets only the resources that still match", async () => {
    const { agent, folder } = await world();
    const one = await grantedOne(agent, BOTH);
    expect(result(await call(agent, "list", {}, [one]))).toEqual([
      "reports/q1.md",
      "reports/q2.md",
    ]);
    await folder.writeText("reports/q1.md", document("quarter: Q3\nconfidential: false"));
    expect(result(await call(agent, "list", {}, [one]))).toEqual(["reports/q2.md"]);
  });

  test("and a resource hidden by the policy is refused exactly like a missing resource", async () => {
    const { agent, folder, root } = await world();
    const one = await grantedOne(agent, FIRST);
    const q1 = handleOf(one, "First quarter");
    await folder.writeText("reports/q1.md", document("quarter: Q2\nconfidential: true"));
    const hidden = denials(await call(agent, "retrieve", { document: q1 }, [one]));
    expect(hidden).toMatchObject([{ code: "policy_denied", rule: "policy" }]);
    rmSync(join(root, "reports/q1.md"));
    expect(denials(await call(agent, "retrieve", { document: q1 }, [one]))).toEqual(hidden);
  });

  test("but a collection still matches, whatever the filter says about items", async () => {
    const { agent, folder } = await world();
    const outcome = await agent.request(ALICE, {
      grants: ["documents:write", "documents:read"],
      operations: ["create", "retrieve"],
      resourceQuery: { collection: "reports", filter: { quarter: "Q1" } },
    });
    const capabilities = outcome.ok ? outcome.capabilities : [];
    const one = capabilities.find(({ operations }) => operations.includes("create"));
    const handle = one?.resourceHandles?.[0]?.handle ?? "";
    await folder.writeText("reports/q1.md", SECOND);
    const given = { in: handle, file: "new.md", text: "x" };
    expect(codes(await call(agent, "create", given, [one ?? {}]))).toEqual(["allowed"]);
  });

  test("unless the grant has recheck: false", async () => {
    const { agent, folder } = await world({ grants: grants(false) });
    const one = await grantedOne(agent, FIRST);
    await folder.writeText("reports/q1.md", SECOND);
    const given = { document: handleOf(one, "First quarter") };
    expect(codes(await call(agent, "retrieve", given, [one]))).toEqual(["allowed"]);
  });
});

describe("if the policy filters by no fields, a request's query", () => {
  test.each([
    ["is not checked again", GRANTS, ["allowed"]],
    ["is checked again if the grant has recheck: true", grants(true), ["policy_denied"]],
  ])("%s", async (_, given, expected) => {
    const { agent, folder } = await world({ grants: given });
    const one = await grantedOne(agent, OLD, BOB);
    const letter = { document: handleOf(one, "To my aunt") };
    expect(codes(await call(agent, "retrieve", letter, [one], BOB))).toEqual(["allowed"]);
    await folder.writeText("letters/aunt.md", document("title: To my aunt\nyear: 2001"));
    expect(codes(await call(agent, "retrieve", letter, [one], BOB))).toEqual(expected);
  });
});

describe("a capability minted without a request", () => {
  test("is refused if its grant has recheck: true", async () => {
    const parts = await world({ grants: grants(true) });
    const { agent, again } = parts;
    const capability = await mintedFor(parts, "reports/q1.md", {
      grant: "documents:read",
      principal: "alice",
      operations: ["retrieve"],
    });
    const document = capability.handle;
    expect(codes(await call(agent, "retrieve", { document }, [capability]))).toEqual([
      "policy_denied",
    ]);
    const unasked = await again({ grants: grants(false) });
    expect(codes(await call(unasked, "retrieve", { document }, [capability]))).toEqual(["allowed"]);
  });
});

test("the ledger stores the query of an issued capability, and a request with a query that is too long is refused", async () => {
  const { agent, ledger } = await world();
  const { id } = await grantedOne(agent, FIRST);
  expect(JSON.parse((await ledger.issued(id))?.query ?? "null")).toEqual({
    collection: "reports",
    filter: { quarter: "Q1" },
  });
  const { id: clock } = await grantedOne(agent, { grants: ["clock:read"] });
  expect(await ledger.issued(clock)).not.toHaveProperty("query");
  const long = query("reports", { quarter: { in: Array(20).fill("x".repeat(1000)) } });
  expect(denialOf(await agent.request(ALICE, long))).toMatchObject({
    code: "invalid_request",
    path: "resourceQuery",
    message: "the resource query must take at most 16384 characters of JSON",
  });
});

test("a capability missing from the ledger is refused if its query would have to be checked", async () => {
  const { again, agent, ledger } = await world();
  const one = await grantedOne(agent, FIRST);
  const q1 = handleOf(one, "First quarter");
  const forgetful: Ledger = {
    commit: (...all) => ledger.commit(...all),
    note: (event) => ledger.note(event),
    issued: async () => undefined,
    list: (query) => ledger.list(query),
    close: async () => {},
  };
  const other = await again({ ledger: forgetful });
  expect(denials(await call(other, "retrieve", { document: q1 }, [one]))).toEqual([
    {
      code: "policy_denied",
      rule: "query",
      actual: q1,
      message: "the ledger does not know by which query the handle was granted",
    },
  ]);
  const unasked = await again({ ledger: forgetful, grants: grants(false) });
  expect(codes(await call(unasked, "retrieve", { document: q1 }, [one]))).toEqual(["allowed"]);
});
