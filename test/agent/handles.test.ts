import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/bytes/json.js";
import { append, attenuated } from "../capability/support.js";
import { ambientHandle } from "../support/handles.js";
import { item, Shelf } from "./shelf.js";
import {
  ALICE,
  BOB,
  call,
  codes,
  grantedOne,
  handleOf,
  REPORTS,
  result,
  world,
} from "./support.js";

const LETTERS: Json = {
  grants: ["documents:read"],
  operations: ["retrieve"],
  resourceQuery: { collection: "letters" },
};

describe("in the arguments of a skill that accepts any object", () => {
  const places: readonly [string, (handle: string) => { readonly [name: string]: Json }][] = [
    ["a property", (handle) => ({ document: handle })],
    ["an array in an array", (handle) => ({ a: [[1, [handle]]] })],
    ["an object in an array", (handle) => ({ a: [{ b: { c: handle } }] })],
    ["a property called __proto__", (handle) => JSON.parse(`{"__proto__":{"x":"${handle}"}}`)],
    ["a property called constructor", (handle) => ({ constructor: { prototype: handle } })],
    ["the name of a property", (handle) => ({ texts: { [handle]: "new text" } })],
    ["a property with an empty name", (handle) => ({ "": handle })],
  ];

  test.each(places)(
    "handles in %s are found, and refused if they belong to another capability",
    async (_, at) => {
      const { agent, ran } = await world();
      const one = await grantedOne(agent, REPORTS);
      const bobs = await grantedOne(agent, LETTERS, BOB);
      const own = handleOf(one, "First quarter");
      expect(result(await call(agent, "compare", at(own), [one]))).toEqual(["reports/q1.md"]);
      const stolen = handleOf(bobs, "To my aunt");
      const other = handleOf(await grantedOne(agent, REPORTS), "Second quarter");
      for (const foreign of [stolen, other, `rh_${"A".repeat(22)}`]) {
        expect(codes(await call(agent, "compare", { ...at(foreign), own }, [one]))).toEqual([
          "resource_denied",
        ]);
      }
      expect(ran).toEqual(["compare"]);
    },
  );

  test("a string that only resembles a handle is a plain argument, and names no resource", async () => {
    const { agent } = await world();
    const one = await grantedOne(agent, REPORTS);
    const own = handleOf(one, "First quarter");
    for (const text of [
      ` ${own}`,
      `${own}\n`,
      own.toUpperCase(),
      own.replace("_", "\uff3f"),
      `rh_${own}`.repeat(30),
      "reports/q1.md",
    ]) {
      expect(codes(await call(agent, "compare", { text }, [one]))).toEqual(["resource_denied"]);
      expect(result(await call(agent, "compare", { text, own }, [one]))).toEqual(["reports/q1.md"]);
    }
  });

  test("of 5,000 invalid handles in one call, 16 are reported", async () => {
    const { agent, ran } = await world({ mode: "prefer" });
    const admin = await grantedOne(agent, { grants: ["documents:admin"] });
    const many = Array.from({ length: 5000 }, (_, at) => `rh_${String(at).padStart(21, "A")}A`);
    for (const presented of [[admin], []]) {
      const outcome = await call(agent, "compare", { many }, presented);
      expect(codes(outcome)).toEqual(Array(16).fill("handle_invalid"));
    }
    expect(ran).toEqual([]);
  });
});

describe("a skill with reach", () => {
  test("'named' refuses a call without a handle, even if the skill's schema requires no handle", async () => {
    const { agent, ran } = await world();
    const one = await grantedOne(agent, REPORTS);
    expect(codes(await call(agent, "compare", {}, [one]))).toEqual(["resource_denied"]);
    const admin = await grantedOne(agent, { grants: ["documents:admin"] });
    expect(codes(await call(agent, "compare", {}, [admin]))).toEqual(["handle_invalid"]);
    expect(ran).toEqual([]);
  });

  test("'none' needs no handle, and refuses a handle of another capability", async () => {
    const { agent } = await world();
    const clock = await grantedOne(agent, { grants: ["clock:read"] });
    expect(result(await call(agent, "tell", {}, [clock]))).toBe("hello alice");
    const own = handleOf(await grantedOne(agent, REPORTS), "First quarter");
    expect(codes(await call(agent, "tell", { own }, [clock]))).toEqual(["handle_invalid"]);
  });

  test("'none' refuses a token with a resourceHandles hop, since the call names no handle", async () => {
    const { agent } = await world();
    const { token } = await grantedOne(agent, { grants: ["clock:read"] });
    const bound = append(token, `{"resourceHandles":["rh_x"]}`);
    expect(codes(await call(agent, "tell", {}, [{ token: bound }]))).toEqual(["resource_denied"]);
  });

  test("'scoped' gets exactly the resources that every hop of the token allows", async () => {
    const { agent, root } = await world();
    const one = await grantedOne(agent, REPORTS);
    const { token } = one;
    const [q1, q2] = [handleOf(one, "First quarter"), handleOf(one, "Second quarter")];
    const seen = async (by: string, given = {}): Promise<Json> => {
      const outcome = await call(agent, "list", given, [{ token: by }]);
      return outcome.ok ? outcome.result : [...new Set(codes(outcome))];
    };
    expect(await seen(token)).toEqual(["reports/q1.md", "reports/q2.md"]);
    const first = attenuated(token, { resourceHandles: [q1] });
    expect(await seen(first)).toEqual(["reports/q1.md"]);
    expect(await seen(first, { about: q2 })).toEqual(["resource_denied"]);
    expect(await seen(append(first, `{"resourceHandles":["${q2}"]}`))).toEqual(["resource_denied"]);
    const alsoNoise = [q1, `rh_${"A".repeat(22)}`].sort();
    expect(await seen(append(token, JSON.stringify({ resourceHandles: alsoNoise })))).toEqual([
      "reports/q1.md",
    ]);
    expect(await seen(append(token, `{"resourceHandles":["rh_${"A".repeat(22)}"]}`))).toEqual([
      "resource_denied",
    ]);
    rmSync(join(root, "reports/q1.md"));
    expect(await seen(token)).toEqual(["reports/q2.md"]);
    expect(await seen(first)).toEqual(["policy_denied"]);
  });

  test("'scoped' does not report missing handles if a call is refused for another reason", async () => {
    const { agent } = await world();
    const { token } = await grantedOne(agent, REPORTS);
    const expired = append(token, '{"expires":"2029-01-01T00:00:00Z"}');
    expect(codes(await call(agent, "list", {}, [{ token: expired }]))).toEqual(["expired"]);
    const other = attenuated(token, { operations: ["retrieve"] });
    expect(codes(await call(agent, "list", {}, [{ token: other }]))).toEqual(["operation_denied"]);
  });

  test("'scoped' gets only the collections that the call's capability, legacy grant or ambient authority allows", async () => {
    const resources = { collections: ["reports"] };
    const rules = ["documents:read", "documents:admin"].map((grant) => {
      return { principal: "alice", grant, operations: "*", resources } as const;
    });
    const { agent } = await world({ mode: "prefer", rules: { rules } });
    const read = await grantedOne(agent, { ...Object(REPORTS), operations: ["browse"] });
    const admin = await grantedOne(agent, { grants: ["documents:admin"] });
    for (const presented of [[read], [admin], []]) {
      expect(result(await call(agent, "browse", {}, presented))).toEqual(["reports/"]);
    }
    expect(result(await call(agent, "list", {}, []))).toHaveLength(3);
  });
});

describe("a handle", () => {
  test("is refused in a call with another principal's capability, even if both capabilities name the same resource", async () => {
    const { agent, policy, ran } = await world();
    const alices = await grantedOne(agent, REPORTS);
    policy.replace({
      rules: ["alice", "bob"].map((principal) => ({
        principal,
        grant: "documents:read",
        operations: "*",
      })),
    });
    const bobs = await grantedOne(agent, { ...Object(REPORTS), operations: ["retrieve"] }, BOB);
    const document = handleOf(bobs, "First quarter");
    expect(handleOf(alices, "First quarter")).not.toBe(document);
    expect(codes(await call(agent, "retrieve", { document }, [alices], ALICE))).toEqual([
      "resource_denied",
    ]);
    expect(codes(await call(agent, "retrieve", { document }, [bobs], BOB))).toEqual(["allowed"]);
    expect(ran).toEqual(["retrieve"]);
  });

  test("is bound to one exact name: look-alike Unicode names have different handles", async () => {
    const names = ["c/\u00e9", "c/e\u0301", "c/\u0435", "c/e"];
    const resources = new Shelf(
      names.map((name) => item(name, {})),
      [],
    );
    const rules = [{ principal: "alice", grant: "documents:read", operations: "*" as const }];
    const { agent } = await world({ resources, rules: { rules } });
    const one = await grantedOne(agent, {
      grants: ["documents:read"],
      operations: ["retrieve"],
      resourceQuery: { collection: "c" },
    });
    for (const name of names) {
      expect(result(await call(agent, "compare", { a: handleOf(one, name) }, [one]))).toEqual([
        name,
      ]);
    }
  });
});

describe("a handle of the wrong kind for the skill (item or collection)", () => {
  test("is refused, though the policy allows the operation on both kinds", async () => {
    const rules = [{ principal: "alice", grant: "documents:write", operations: "*" as const }];
    const parts = await world({ mode: "prefer", rules: { rules } });
    const { agent, ran } = parts;
    const item = await ambientHandle(parts, "alice", "reports/q1.md");
    const collection = await ambientHandle(parts, "alice", "reports/");
    const made = { file: "q3.md", text: "x" };
    const wrong = await call(agent, "create", { in: item, ...made });
    expect(wrong).toMatchObject({ denials: [{ code: "handle_invalid", expected: "collection" }] });
    const other = await call(agent, "update", { document: collection, text: "x" });
    expect(other).toMatchObject({ denials: [{ code: "handle_invalid", expected: "item" }] });
    expect(ran).toEqual([]);
    expect(codes(await call(agent, "create", { in: collection, ...made }))).toEqual(["allowed"]);
  });
});
