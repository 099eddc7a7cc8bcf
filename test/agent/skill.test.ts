import { describe, expect, test } from "vitest";
import { compileArgumentChecks, handlesIn } from "../../src/agent/arguments.js";
import { createIssuingAgent } from "../../src/agent/create-issuing-agent.js";
import { checkSkills, type Skill } from "../../src/agent/skill.js";
import type { Json } from "../../src/bytes/json.js";
import type { Grant } from "../../src/issuer/grant.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { createKeyring } from "../../src/issuer/keyring.js";
import { RevocationList } from "../../src/revocation/list.js";
import { misuse, world } from "./support.js";

const SKILL: Skill = {
  id: "read",
  name: "Read",
  description: "Reads",
  operation: "get",
  reach: "named",
  input: { type: "object" },
  run: async () => null,
};

/** Returns the message about a skill that differs from a valid one in these properties. */
function wrong(...changes: readonly object[]): string {
  return misuse(() => checkSkills(changes.map((change) => ({ ...SKILL, ...change }))));
}

describe("a wrong skill is refused, and the message names its field", () => {
  test.each<[string, readonly object[], string]>([
    ["an id with a slash", [{ id: "a/b" }], "skills[0].id: must be"],
    ["an id twice", [{}, {}], 'skills[1].id: "read" is taken'],
    ["the operation *", [{ operation: "*" }], "skills[0].operation: must be the name of one"],
    ["no operation", [{ operation: "" }], "skills[0].operation: must be the name of one"],
    ["a wrong id", [{ id: 7 }], "skills[0].id: must be 1 to 64 letters"],
    ["no id", [{ id: undefined }], "skills[0].id: is missing; it must be 1 to 64 letters"],
    ["no name", [{}, { id: "b", name: undefined }], "skills[1].name: is missing; it must be a"],
    ["no description", [{ description: "" }], "skills[0].description: must be a non-empty string"],
    ["tags that are one string", [{ tags: "a" }], "skills[0].tags: must be an array of strings"],
    [
      "examples that are numbers",
      [{ examples: [1] }],
      "skills[0].examples: must be an array of strings",
    ],
    ["an unknown target", [{ target: "all" }], 'skills[0].target: must be "item" or "collection"'],
    ["no input", [{ input: undefined }], "skills[0].input: is missing; it must be a JSON Schema"],
    [
      "an input schema of an array",
      [{ input: { type: "array" } }],
      "skills[0].input: must be a JSON Schema",
    ],
    [
      "a misspelt property",
      [{ operaton: "get" }],
      'skills[0].operaton: unknown property; did you mean "operation"?',
    ],
    [
      "an unknown reach",
      [{ reach: "all" }],
      'skills[0].reach: must be "named", "scoped" or "none"',
    ],
    ["no run", [{ run: null }], "skills[0].run: must be a function"],
    [
      "an operation that another skill declares with another target",
      [{}, { id: "b", target: "collection" }],
      'skills[1]: "read" has the operation "get" too, but on something else',
    ],
    [
      "an operation that another skill declares without resources",
      [{}, { id: "b", reach: "none" }],
      'skills[1]: "read" has the operation "get" too, but on something else',
    ],
  ])("%s", (_, changes, message) => {
    expect(wrong(...changes)).toContain(message);
  });

  test.each<[string, Json, RegExp]>([
    [
      "has an unknown keyword",
      { type: "object", propertys: {} },
      /^skills\[0\]\.input: .*propertys/,
    ],
    [
      "has an unknown format",
      { type: "object", properties: { a: { type: "string", format: "handle" } } },
      /^skills\[0\]\.input: .*handle/,
    ],
    ["is asynchronous", { type: "object", $async: true }, /^skills\[0\]\.input: .*asynchronous/],
  ])("a schema that %s", async (_, schema, message) => {
    const input = JSON.parse(JSON.stringify(schema));
    await expect(compileArgumentChecks([{ ...SKILL, input }])).rejects.toThrow(message);
  });
});

test("checkSkills refuses a value that is not an array of skills, and createIssuingAgent refuses a skill whose id is null", async () => {
  expect(misuse(() => checkSkills(JSON.parse('{"read":{}}')))).toBe("skills: must be an array");
  expect(misuse(() => checkSkills(JSON.parse('["read"]')))).toBe(
    "skills[0] must be an object, not a string",
  );
  const { id: _, ...nameless } = SKILL;
  // A module in JavaScript is untyped.
  const skills: Skill[] = [SKILL, Object.assign(nameless, { id: JSON.parse("null") })];
  const error: unknown = await world({
    skills,
    grants: [{ id: "g", description: "G", operations: ["get"] }],
  }).catch((one: unknown) => one);
  expect(error).toBeInstanceOf(TypeError);
  expect(String(error)).toContain("skills[1].id: must be 1 to 64 letters");
});

describe("a skill's arguments", () => {
  async function failures(input: Skill["input"], given: string): Promise<string[]> {
    const checks = await compileArgumentChecks([{ ...SKILL, input }]);
    return (checks.get("read")?.(JSON.parse(given)) ?? []).map(({ message }) => message);
  }

  test("that fail the schema get one message per failure, and inherited properties do not count as arguments", async () => {
    const text = { type: "string" };
    const input = {
      type: "object",
      additionalProperties: false,
      required: ["a", "toString"],
      properties: { a: text, toString: text },
    };
    expect(await failures(input, '{"a":"x","toString":"y"}')).toEqual([]);
    expect(await failures(input, '{"a":7,"b":1,"__proto__":{"toString":"y"}}')).toEqual([
      "the arguments must have required property 'toString'",
      'the arguments must NOT have additional properties "b"',
      'the arguments must NOT have additional properties "__proto__"',
      "argument a must be string",
    ]);
  });

  test("with long names give short messages, and 1,000 unknown arguments give 16 messages", async () => {
    const long = "x".repeat(100_000);
    const closed = { type: "object", additionalProperties: false };
    const [message = ""] = await failures(closed, JSON.stringify({ [long]: 1 }));
    expect(message.length).toBeLessThan(200);
    const open = { type: "object", additionalProperties: { type: "string" } };
    const [nested = ""] = await failures(open, JSON.stringify({ [long]: 1 }));
    expect(nested.length).toBeLessThan(400);
    const many = Object.fromEntries(Array.from({ length: 1000 }, (__, at) => [`a${at}`, 1]));
    expect(await failures(closed, JSON.stringify(many))).toHaveLength(16);
  });

  test("are searched for handles in arrays, objects and property names", () => {
    const [a, b, c, d] = ["a", "b", "c", "d"].map((one) => `rh_${one.repeat(21)}A`);
    const given = { x: [[{ y: a }]], [String(b)]: 1, z: { [String(c)]: null }, d, again: [a, b] };
    expect(handlesIn(JSON.parse(JSON.stringify(given))).sort()).toEqual([a, b, c, d]);
    expect(handlesIn({ text: `see ${a}`, short: "rh_a", long: `rh_${"a".repeat(22)}A` })).toEqual(
      [],
    );
  });

  test("are searched for handles at any depth", () => {
    let deep: Json = `rh_${"a".repeat(21)}A`;
    for (let at = 0; at < 100_000; at++) deep = [deep];
    expect(handlesIn(deep)).toHaveLength(1);
  });
});

describe("createIssuingAgent", () => {
  test.each<[string, object, RegExp]>([
    ["mode", { mode: "off" }, /^mode: /],
    ["lifetime", { lifetime: 0 }, /^lifetime: must be 1 to 86400/],
    ["lifetime", { lifetime: 86_401 }, /^lifetime: /],
    ["maxHandles", { maxHandles: 257 }, /^maxHandles: must be 1 to 256/],
    ["maxHandles", { maxHandles: 1.5 }, /^maxHandles: /],
  ])("names the wrong option %s in %j", async (_, options, message) => {
    await expect(world(options)).rejects.toThrow(message);
  });

  test.each<[string, object[] | undefined, RegExp]>([
    ["does not know its grants", undefined, /^issuer: must know its grants/],
    [
      "has a grant without a description",
      [{ id: "clock:read", operations: ["tell"] }],
      /^grants\[0\]\.description: must be a non-empty string/,
    ],
    [
      "has a grant with an operation that no skill has",
      [{ id: "clock:read", description: "Time", operations: ["tel"] }],
      /^grants\[0\]\.operations\[0\]: no skill has the operation "tel"; did you mean "tell"\?/,
    ],
  ])("refuses an issuer that %s", async (_, grants, message) => {
    const { again } = await world();
    const revocations = new RevocationList();
    const issuer = createIssuer({
      name: "a",
      keys: createKeyring(),
      revocations,
      ...(grants === undefined ? {} : { grants: grants as unknown as readonly Grant[] }),
    });
    await expect(again({ issuer, revocations })).rejects.toThrow(message);
  });

  test("accepts an issuer with a maximum lifetime below 15 minutes", async () => {
    const { again, issuer: known } = await world();
    const revocations = new RevocationList();
    const issuer = createIssuer({
      name: "a",
      keys: createKeyring(),
      revocations,
      maxLifetime: 60,
      grants: [...(known.grants?.values() ?? [])],
    });
    const agent = await again({ issuer, revocations, clock: Date.now });
    const outcome = await agent.request(
      { principal: "alice", invoker: "assistant" },
      { grants: ["clock:read"] },
    );
    expect(outcome).toMatchObject({ ok: true, capabilities: [{ grant: "clock:read" }] });
  });
});

test("createIssuingAgent names a required option that is missing", async () => {
  await expect(createIssuingAgent(Object({}))).rejects.toThrow("options.issuer: is missing");
});
