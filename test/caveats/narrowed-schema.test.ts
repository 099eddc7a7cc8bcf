import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/bytes/json.js";
import type { ArgumentConstraint, HopInit } from "../../src/caveats/hop.js";
import { narrowedSchema } from "../../src/caveats/narrowed-schema.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";

/** The schema of a tool that sends money, as a server might write it. */
const SEND: JsonObject = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  title: "Send money",
  properties: {
    to: { $ref: "#/$defs/account", description: "Who gets it", "x-mcp-header": "To" },
    amount: { type: "number", minimum: 0, maximum: 10_000 },
    currency: { enum: ["USD", "EUR", "GBP"] },
    note: { type: ["string", "null"], default: null },
    bcc: { type: "array", items: { type: "string" } },
  },
  required: ["to"],
  $defs: { account: { type: "string", minLength: 3 } },
};

function narrowed(schema: JsonObject, ...hops: readonly HopInit[]): JsonObject {
  const operation = "send_money";
  return narrowedSchema(schema, hops.map(normalizeHop), operation);
}

/** Returns the narrowed schema of one argument that has no schema itself, under one constraint. */
function limited(constraint: ArgumentConstraint): Json | undefined {
  const hop = { operationConstraints: { send_money: { x: constraint } } };
  const { properties = {}, required } = narrowed({ type: "object" }, hop);
  expect(required).toEqual(JSON.stringify(constraint).includes("optional") ? undefined : ["x"]);
  return (properties as JsonObject)["x"];
}

function isAccepted(schema: JsonObject, call: JsonObject): boolean {
  return new Ajv2020({ strict: false }).compile(schema)(call) === true;
}

test("narrowedSchema adds the hops' limits on arguments to the server's schema", () => {
  const schema = narrowed(
    SEND,
    { constraints: { amount: { max: 100 } } },
    {
      operationConstraints: {
        send_money: {
          currency: { in: ["EUR", "USD"] },
          note: { prefix: "Invoice", optional: true },
        },
        "*": { bcc: { each: { prefix: "a" }, optional: true } },
        ping: { to: "nobody" },
      },
    },
  );
  expect(schema).toEqual({
    ...SEND,
    properties: {
      to: { $ref: "#/$defs/account", description: "Who gets it", "x-mcp-header": "To" },
      amount: { type: "number", minimum: 0, maximum: 100 },
      currency: { enum: ["USD", "EUR"], type: "string" },
      note: { type: "string", default: null, pattern: "^Invoice" },
      bcc: { type: "array", maxItems: 256, items: { type: "string", pattern: "^a" } },
    },
    required: ["to", "amount", "currency"],
  });
  expect(SEND["required"]).toEqual(["to"]);
});

test("a closed list of arguments closes the schema, and a property outside the list accepts no value", () => {
  const schema = narrowed(SEND, { arguments: { send_money: ["amount", "memo", "to"] } });
  expect(schema).toMatchObject({
    properties: { to: {}, memo: true, bcc: { type: "array", not: {} }, note: { not: {} } },
    required: ["to"],
    additionalProperties: false,
  });
  expect(isAccepted(schema, { to: "acc_1", amount: 5, memo: 1 })).toBe(true);
  expect(isAccepted(schema, { to: "acc_1", bcc: [] })).toBe(false);
  expect(isAccepted(schema, { to: "acc_1", others: 1 })).toBe(false);
  // The server accepts only the arguments that it names, and a closed list adds none.
  const closed = { ...SEND, additionalProperties: false };
  const both = narrowed(closed, { arguments: { send_money: ["memo", "to"] } });
  expect(isAccepted(both, { to: "acc_1", memo: 1 })).toBe(false);
  expect(isAccepted(narrowed({ type: "object" }, { arguments: { "*": [] } }), { a: 1 })).toBe(
    false,
  );
});

test("narrowedSchema writes each operator as keywords of JSON Schema", () => {
  expect(limited("acc_1")).toEqual({ type: "string", const: "acc_1" });
  expect(limited({ in: [1, 2] })).toEqual({ type: "number", enum: [1, 2] });
  expect(limited({ not_in: ["a"] })).toEqual({ type: "string", not: { const: "a" } });
  expect(limited({ min: 1, max: 5 })).toEqual({ type: "number", minimum: 1, maximum: 5 });
  expect(limited({ prefix: "a.b" })).toEqual({ type: "string", pattern: "^a\\.b" });
  expect(limited({ items: { min: 1, max: 3 } })).toEqual({
    type: "array",
    minItems: 1,
    maxItems: 3,
  });
  expect(limited({ each: { in: ["a", "b"] }, optional: true })).toEqual({
    type: "array",
    maxItems: 256,
    items: { type: "string", enum: ["a", "b"] },
  });
  const absent = narrowed(SEND, { operationConstraints: { "*": { bcc: { absent: true } } } });
  expect(isAccepted(absent, { to: "acc_1" })).toBe(true);
  expect(isAccepted(absent, { to: "acc_1", bcc: [] })).toBe(false);
});

test("narrowedSchema writes limits on paths and URLs as patterns of their strict forms", () => {
  const path = narrowed(
    { type: "object" },
    { operationConstraints: { "*": { x: { path: "/data" } } } },
  );
  for (const good of ["/data", "/data/a", "/data/.git/b c/d.txt", "/data/é"]) {
    expect(isAccepted(path, { x: good }), good).toBe(true);
  }
  for (const bad of [
    "/data/",
    "/database",
    "/data/../etc",
    "/data/a/.",
    "/data//a",
    "/data/a\\b",
  ]) {
    expect(isAccepted(path, { x: bad }), bad).toBe(false);
  }
  const url = narrowed(
    { type: "object" },
    {
      operationConstraints: {
        "*": {
          x: {
            url: {
              schemes: ["https"],
              hosts: [".example.com", "[::1]"],
              ports: ["443", "8443"],
              path: "/v1",
            },
          },
        },
      },
    },
  );
  for (const good of [
    "https://api.example.com/v1",
    "https://a.b.example.com:8443/v1/x/?q=1#top",
    "https://[::1]/v1/%C3%A9%20b",
  ]) {
    expect(isAccepted(url, { x: good }), good).toBe(true);
  }
  for (const bad of [
    "http://api.example.com/v1",
    "https://example.com/v1",
    "https://api.example.com:443/v1",
    "https://api.example.com:9/v1",
    "https://api.example.com/v10",
    "https://api.example.com/v1/../x",
    "https://api.example.com/v1/%2E%2E/x",
    "https://api.example.com.evil.org/v1",
    "https://user@api.example.com/v1",
  ]) {
    expect(isAccepted(url, { x: bad }), bad).toBe(false);
  }
});

test("a limit on a nested argument is added at its place in the schema, and the argument and its parents become required", () => {
  const schema = {
    type: "object",
    properties: { to: { type: "object", properties: { iban: { type: "string", minLength: 5 } } } },
  };
  expect(
    narrowed(schema, { operationConstraints: { "*": { "/to/iban": { prefix: "DE" } } } }),
  ).toEqual({
    type: "object",
    properties: {
      to: {
        type: "object",
        properties: { iban: { type: "string", minLength: 5, pattern: "^DE" } },
        required: ["iban"],
      },
    },
    required: ["to"],
  });
  const optional = {
    operationConstraints: { "*": { "/to/iban": { prefix: "DE", optional: true as const } } },
  };
  const free = narrowed(schema, optional);
  expect(isAccepted(free, {})).toBe(true);
  expect(isAccepted(free, { to: {} })).toBe(true);
  expect(isAccepted(free, { to: "DE02" })).toBe(false);
});

test("narrowedSchema adds no keyword that composes schemas at the root, since vendors' APIs refuse such a keyword there", () => {
  const schema = narrowed(
    { type: "object", properties: { x: { type: "string", pattern: "b$", const: "ab" } } },
    { operationConstraints: { "*": { x: { prefix: "a" }, y: { path: "/a", prefix: "/a/b" } } } },
    { arguments: { "*": ["x", "y"] } },
  );
  expect(Object.keys(schema)).toEqual(["type", "properties", "additionalProperties", "required"]);
  // Two patterns on one argument are combined by allOf.
  expect(schema["properties"]).toMatchObject({
    x: { pattern: "b$", const: "ab", allOf: [{ pattern: "^a" }] },
  });
});

test("narrowedSchema does not change the schema of a property to which a $ref refers, or a recursive schema", () => {
  const shared = {
    type: "object",
    properties: { from: { type: "string" }, to: { $ref: "#/properties/from" }, amount: {} },
  };
  const hop = { operationConstraints: { "*": { from: "acc_1", amount: { max: 5 } } } };
  const schema = narrowed(shared, hop);
  expect(schema).toMatchObject({ required: ["amount", "from"] });
  expect(isAccepted(schema, { from: "acc_1", to: "acc_2", amount: 5 })).toBe(true);
  expect(isAccepted(schema, { from: "acc_1", to: "acc_2", amount: 6 })).toBe(false);
  const tree = {
    type: "object",
    properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#" } } },
  };
  expect(narrowed(tree, { constraints: { name: "root" } })).toEqual(tree);
});

test("hops without limits on the operation's arguments leave the schema unchanged", () => {
  const hop = {
    operations: ["send_money"],
    operationConstraints: { ping: { to: "nobody" } },
    arguments: { ping: [] },
  };
  expect(narrowed(SEND, hop)).toBe(SEND);
});
