import { describe, expect, test } from "vitest";
import { permitsOperation, permitsResource } from "../../src/agent/policy.js";
import { type PolicyDefinition, PolicyTable } from "../../src/agent/policy-table.js";
import type { Resource } from "../../src/agent/resources/resource.js";
import { misuse } from "../caveats/support.js";

function report(fields: Resource["fields"]): Resource {
  const name = "reports/q1.md";
  return { name, displayName: name, collection: "reports", kind: "item", fields };
}

const REPORTS: Resource = {
  name: "reports/",
  displayName: "reports",
  collection: "reports",
  kind: "collection",
  fields: {},
};
const RULE = { principal: "alice", grant: "read", operations: ["get"] };

/** Passes a definition from a file, which is untyped. */
function fromFile(definition: unknown): PolicyDefinition {
  return JSON.parse(JSON.stringify(definition));
}

describe("a policy table", () => {
  test("allows exactly what its rules allow, and only to the principals that they name", () => {
    const policy = new PolicyTable({ rules: [RULE] });
    const [permission, ...others] = policy.permissions("alice", "read");
    expect(others).toEqual([]);
    expect(permission).toEqual({ operations: ["get"], resources: { collections: "*" } });
    for (const [principal, grant] of [
      ["Alice", "read"],
      ["alice ", "read"],
      ["", "read"],
      ["alice", "Read"],
      ["alice", "*"],
      ["__proto__", "read"],
      ["constructor", "read"],
      ["\u0430lice", "read"],
    ]) {
      expect(policy.permissions(principal ?? "", grant ?? "")).toEqual([]);
    }
  });

  test("applies a group's rule to its members, and * to every grant and operation", () => {
    const policy = new PolicyTable({
      groups: JSON.parse('{"staff":["alice","bob"],"__proto__":["mallory"]}'),
      rules: [
        { group: "staff", grant: "*", operations: "*" },
        { group: "__proto__", grant: "read", operations: ["get"] },
      ],
    });
    expect(permitsOperation(policy.permissions("bob", "anything"), "delete")).toBe(true);
    expect(permitsOperation(policy.permissions("mallory", "read"), "get")).toBe(true);
    expect(policy.permissions("mallory", "write")).toEqual([]);
    expect(policy.permissions("staff", "read")).toEqual([]);
  });

  test("combines operation and resource within one rule, never across rules", () => {
    const policy = new PolicyTable({
      rules: [
        { ...RULE, operations: ["get"], resources: { collections: ["reports"], filter: { a: 1 } } },
        { ...RULE, operations: ["put"], resources: { collections: ["reports"], filter: { a: 2 } } },
      ],
    });
    const permissions = policy.permissions("alice", "read");
    expect(permitsResource(permissions, "get", report({ a: 1 }))).toBe(true);
    expect(permitsResource(permissions, "put", report({ a: 2 }))).toBe(true);
    expect(permitsResource(permissions, "put", report({ a: 1 }))).toBe(false);
    expect(permitsResource(permissions, "get", report({ a: "1" }))).toBe(false);
    expect(permitsResource(permissions, "get", report({}))).toBe(false);
  });

  test("selects the collection itself only if the rule has no filter", () => {
    const of = (resources: object): boolean =>
      permitsResource(
        new PolicyTable(fromFile({ rules: [{ ...RULE, resources }] })).permissions("alice", "read"),
        "get",
        REPORTS,
      );
    expect(of({ collections: ["reports"] })).toBe(true);
    expect(of({ collections: "*" })).toBe(true);
    expect(of({ collections: ["letters"] })).toBe(false);
    expect(of({ collections: [] })).toBe(false);
    expect(of({ collections: ["reports"], filter: { a: 1 } })).toBe(false);
    expect(of({ collections: ["reports"], filter: {} })).toBe(false);
  });

  test("is replaced as a whole, and stays unchanged if the new rules are wrong", () => {
    const policy = new PolicyTable({ rules: [RULE] });
    const before = policy.permissions("alice", "read");
    const half = {
      rules: [
        { ...RULE, principal: "bob" },
        { ...RULE, grant: 7 },
      ],
    };
    expect(misuse(() => policy.replace(fromFile(half)))).toMatch(/^policy\.rules\[1\]\.grant: /);
    expect(policy.permissions("alice", "read")).toEqual(before);
    expect(policy.permissions("bob", "read")).toEqual([]);
    policy.replace({ rules: [] });
    expect(policy.permissions("alice", "read")).toEqual([]);
  });

  test("is unaffected by later changes of the object from which it was made", () => {
    const filter = { a: 1 };
    const operations = ["get"];
    const members = ["alice"];
    const policy = new PolicyTable({
      groups: { staff: members },
      rules: [
        { group: "staff", grant: "read", operations, resources: { collections: "*", filter } },
      ],
    });
    filter.a = 2;
    operations.push("put");
    members.push("bob");
    const permissions = policy.permissions("alice", "read");
    expect(permitsResource(permissions, "get", report({ a: 1 }))).toBe(true);
    expect(permitsOperation(permissions, "put")).toBe(false);
    expect(policy.permissions("bob", "read")).toEqual([]);
  });

  test("returns permissions that their receiver cannot change", () => {
    const limit = { constraints: { to: "me" } };
    const policy = new PolicyTable({
      rules: [{ principal: "alice", grant: "mail", operations: ["send"], ...limit }],
    });
    const [permission] = policy.permissions("alice", "mail");
    const changes = [
      () => Object.assign(permission?.constraints ?? {}, { to: "you" }),
      () => Object.assign(permission?.operations ?? [], ["delete"]),
      () => Object.assign(permission ?? {}, { constraints: {} }),
    ];
    for (const change of changes) expect(change).toThrow(TypeError);
    expect(policy.permissions("alice", "mail")).toMatchObject([{ ...limit, operations: ["send"] }]);
  });
});

describe("a wrong policy is refused, and the message names its field", () => {
  test.each<[string, unknown, string]>([
    ["not an object", [], "policy"],
    [
      "an unknown property",
      { rules: [], group: {} },
      'policy.group: unknown property; did you mean "groups"?',
    ],
    ["no rules", {}, "policy.rules: must be an array"],
    ["groups as an array", { groups: [], rules: [] }, "policy.groups: must be an object"],
    [
      "a group as a string",
      { groups: { a: "alice" }, rules: [] },
      "policy.groups.a: must be an array of strings",
    ],
    [
      "an empty group member",
      { groups: { a: [""] }, rules: [] },
      "policy.groups.a[0]: must be a non-empty string",
    ],
    [
      "a rule as a string",
      { rules: ["alice"] },
      "policy.rules[0] must be a plain object with principal, ",
    ],
    [
      "an unknown property of a rule",
      { rules: [{ ...RULE, resource: {} }] },
      'policy.rules[0].resource: unknown property; did you mean "resources"?',
    ],
    [
      "a rule without a principal or group",
      { rules: [{ grant: "read", operations: ["get"] }] },
      "policy.rules[0]: name either a principal or a group",
    ],
    [
      "a principal and a group",
      { groups: { a: [] }, rules: [{ ...RULE, group: "a" }] },
      "policy.rules[0]: name either a principal or a group",
    ],
    [
      "an unknown group",
      { groups: { staff: [] }, rules: [{ group: "stuff", grant: "*", operations: "*" }] },
      'policy.rules[0].group: there is no group "stuff"; did you mean "staff"?',
    ],
    [
      "a group named like an inherited property",
      { groups: { a: [] }, rules: [{ group: "constructor", grant: "*", operations: "*" }] },
      'policy.rules[0].group: there is no group "constructor"',
    ],
    [
      "an invalid principal",
      { rules: [{ ...RULE, principal: 7 }] },
      "policy.rules[0].principal[0]: must be a non-empty string",
    ],
    [
      "no grant",
      { rules: [{ principal: "alice", operations: "*" }] },
      "policy.rules[0].grant: must be a grant's id",
    ],
    [
      "operations as a string",
      { rules: [{ ...RULE, operations: "get" }] },
      "policy.rules[0].operations: must be an array of strings",
    ],
    [
      "resources as a string",
      { rules: [{ ...RULE, resources: "reports" }] },
      'policy.rules[0].resources: must be an object with "collections"',
    ],
    [
      "an unknown property of a selector",
      { rules: [{ ...RULE, resources: { collections: "*", filters: {} } }] },
      'policy.rules[0].resources.filters: unknown property; did you mean "filter"?',
    ],
    [
      "a filter without collections",
      { rules: [{ ...RULE, resources: { filter: {} } }] },
      "policy.rules[0].resources.collections: must be an array of strings",
    ],
    [
      "an unknown operator",
      { rules: [{ ...RULE, resources: { collections: "*", filter: { a: { from: 1 } } } }] },
      "policy.rules[0].resources.filter: ",
    ],
  ])("%s", (_, definition, message) => {
    expect(misuse(() => new PolicyTable(fromFile(definition)))).toContain(message);
  });
});

test("a rule for autonomous:* matches every autonomous agent, and no user", () => {
  const table = new PolicyTable({
    rules: [{ principal: "autonomous:*", grant: "documents:read", operations: "*" }],
  });
  expect(table.permissions("autonomous:host_1", "documents:read")).toHaveLength(1);
  for (const principal of ["alice", "autonomous", "Autonomous:x", "*"]) {
    expect(table.permissions(principal, "documents:read"), principal).toEqual([]);
  }
});
