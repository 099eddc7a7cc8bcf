import { expect, test } from "vitest";
import {
  createToolsPlugin,
  type SessionTool,
} from "../../../../src/protocols/a2e/plugins/tools-plugin.js";
import { call, refusal } from "./calls.js";

const ADD: SessionTool = {
  name: "add",
  description: "Adds two numbers",
  input: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false,
  },
  run: ({ arguments: { a, b } }) => ({ sum: Number(a) + Number(b) }),
};
const COUNT: SessionTool = {
  name: "count.up",
  description: "Counts to three, a part for each",
  input: { type: "object" },
  async run({ send, principal }) {
    for (const number of [1, 2, 3]) await send({ number });
    return { for: principal };
  },
};

test("tool/list shows a tool with its schema, and tool/call runs the tool with valid arguments", async () => {
  const plugin = await createToolsPlugin({ tools: [ADD, COUNT] });
  expect(plugin).toMatchObject({ name: "tools", type: "tools", priority: 0, exclusive: false });
  expect(await call(plugin, "tool/list")).toEqual({
    tools: [
      { name: "add", description: ADD.description, input: ADD.input },
      { name: "count.up", description: COUNT.description, input: COUNT.input },
    ],
  });
  expect(await call(plugin, "tool/call", { a: 1, b: 2 }, { name: "add" })).toEqual({ sum: 3 });
  const parts: never[] = [];
  expect(await call(plugin, "tool/call", {}, { name: "count.up", parts })).toEqual({
    for: "alice",
  });
  expect(parts).toEqual([{ number: 1 }, { number: 2 }, { number: 3 }]);
});

test("arguments that fail the schema are refused with every reason, before the tool runs", async () => {
  let ran = false;
  const run = async (): Promise<null> => {
    ran = true;
    return null;
  };
  const plugin = await createToolsPlugin({ tools: [{ ...ADD, run }] });
  const refused = await refusal(call(plugin, "tool/call", { a: "1", c: 2 }, { name: "add" }));
  expect(refused.code).toBe("arguments_invalid");
  expect(refused.detail["denials"]).toHaveLength(3);
  expect(JSON.stringify(refused.detail)).toMatch(/arguments\/a.*must be number/);
  expect(ran).toBe(false);
});

test("the tools plugin handles calls of its own tools, and no other calls", async () => {
  const plugin = await createToolsPlugin({
    tools: [ADD],
    name: "sums",
    priority: 7,
    exclusive: true,
  });
  const handles = plugin.operations["tool/call"]?.handles;
  expect(plugin).toMatchObject({ name: "sums", priority: 7, exclusive: true });
  for (const [name, answer] of [
    ["add", true],
    ["ad", false],
    ["toString", false],
    [undefined, false],
  ] as const) {
    expect(handles?.(name)).toBe(answer);
  }
  const refused = await refusal(call(plugin, "tool/call", {}, { name: "ad" }));
  expect(refused).toMatchObject({ code: "name_unknown", message: expect.stringContaining("add") });
});

test("createToolsPlugin throws an error that names the wrong option", async () => {
  const wrong: [unknown, string][] = [
    [{ tools: [] }, "tools: there must be at least one"],
    [{ tools: [ADD], prioriti: 1 }, 'options.prioriti: unknown property; did you mean "priority"?'],
    [{ tools: [ADD, { ...ADD }] }, 'tools[1].name: "add" is taken'],
    [{ tools: [{ ...ADD, name: "a b" }] }, "tools[0].name: a name must be 1 to 64"],
    [
      { tools: [{ ...ADD, descripton: "" }] },
      'tools[0].descripton: unknown property; did you mean "description"?',
    ],
    [
      { tools: [{ ...ADD, input: { type: "object", properties: { a: { type: "nmber" } } } }] },
      "tools[0].input: is not a valid JSON Schema",
    ],
    [
      { tools: [{ ...ADD, input: { type: "string" } }] },
      'tools[0].input: must be a JSON Schema with "type": "object"',
    ],
    [{ tools: [{ ...ADD, run: "add" }] }, "tools[0].run: must be a function"],
  ];
  for (const [options, message] of wrong) {
    await expect(Reflect.apply(createToolsPlugin, undefined, [options])).rejects.toThrow(message);
  }
});
