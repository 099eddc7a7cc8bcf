import { describe, expect, expectTypeOf, test } from "vitest";
import { type ArgumentsOf, createSkill } from "../../src/agent/index.js";
import type { Json, JsonObject } from "../../src/bytes/json.js";
import { ALICE, granted, world } from "./support.js";

const SKILL = { id: "a", name: "A", description: "A", operation: "do", reach: "none" } as const;

// The compiler checks these types: `npm run check` fails if a derived type differs from the expected type.
describe("the argument type that createSkill derives from a schema", () => {
  test("has the schema's property names, required properties, arrays, enums and nested objects", () => {
    createSkill({
      ...SKILL,
      input: {
        type: "object",
        properties: {
          note: { type: "string", format: "resource-handle" },
          lines: { type: "integer", minimum: 1 },
          tags: { type: "array", items: { type: "string" } },
          order: { enum: ["up", "down", null] },
          version: { const: 2 },
          where: { anyOf: [{ type: "string" }, { type: "null" }] },
          either: { type: ["number", "boolean"] },
          anything: {},
          page: {
            type: "object",
            properties: { size: { type: "number" } },
            required: ["size"],
            additionalProperties: false,
          },
        },
        required: ["note", "tags", "order", "version", "where", "either", "page"],
        additionalProperties: false,
      },
      async run({ arguments: given }) {
        expectTypeOf(given.note).toEqualTypeOf<string>();
        expectTypeOf(given.lines).toEqualTypeOf<number | undefined>();
        expectTypeOf(given.tags).toEqualTypeOf<readonly string[]>();
        expectTypeOf(given.order).toEqualTypeOf<"up" | "down" | null>();
        expectTypeOf(given.version).toEqualTypeOf<2>();
        expectTypeOf(given.where).toEqualTypeOf<string | null>();
        expectTypeOf(given.either).toEqualTypeOf<number | boolean>();
        expectTypeOf(given.page.size).toEqualTypeOf<number>();
        // @ts-expect-error Nothing else is allowed.
        given.others;
        // @ts-expect-error It may be absent.
        given.lines.toFixed();
        return null;
      },
    });
  });

  test("types undeclared properties as Json if the schema does not forbid additional properties", () => {
    type Open = ArgumentsOf<{ type: "object"; properties: { a: { type: "string" } } }>;
    expectTypeOf<Open["a"]>().toEqualTypeOf<string | undefined>();
    expectTypeOf<Open["b"]>().toEqualTypeOf<Json>();
  });

  test("is JsonObject if the schema's type is not a literal type", () => {
    const input: { readonly [keyword: string]: string } = { type: "object" };
    const skill = createSkill({
      ...SKILL,
      input,
      async run(call) {
        expectTypeOf(call.arguments).toEqualTypeOf<JsonObject>();
        return null;
      },
    });
    expect(skill.input).toBe(input);
  });
});

test("an agent runs a skill made by createSkill", async () => {
  const ran: string[] = [];
  const greet = createSkill({
    ...SKILL,
    input: {
      type: "object",
      properties: { name: { type: "string" } },
      required: ["name"],
      additionalProperties: false,
    },
    async run({ arguments: { name } }) {
      ran.push(name);
      return `hello ${name}`;
    },
  });
  const { agent } = await world({
    skills: [greet],
    grants: [{ id: "g", description: "Greet", operations: ["do"] }],
    rules: { rules: [{ principal: "alice", grant: "g", operations: "*" }] },
  });
  const capabilities = await granted(agent, { grants: ["g"], purpose: "a test" });
  const call = { skill: "a", capabilities };
  expect(await agent.invoke(ALICE, { ...call, arguments: { name: "bob" } })).toMatchObject({
    result: "hello bob",
  });
  const wrong = await agent.invoke(ALICE, { ...call, arguments: { name: 7 } });
  expect(wrong).toMatchObject({ ok: false, denials: [{ code: "arguments_invalid" }] });
  expect(ran).toEqual(["bob"]);
});
