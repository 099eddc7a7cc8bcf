import { describe, expect, test } from "vitest";
import {
  createSessionHost,
  type PluginOperation,
  pluginGrants,
  pluginOperations,
  type SessionPlugin,
} from "../../../src/protocols/a2e/index.js";
import { misuse, world } from "../../agent/support.js";
import { codeOf, hosted, joined } from "./support.js";

interface Choices extends Partial<Omit<SessionPlugin, "operations">> {
  readonly operations?: { readonly [name: string]: Partial<PluginOperation> };
}

/** Returns a plugin that answers every call with the plugin's name. */
function saying(
  name: string,
  { operations = { "tool/call": {} }, ...more }: Choices = {},
): SessionPlugin {
  const own = Object.entries(operations).map(([operation, one]) => [
    operation,
    { run: async () => name, ...one },
  ]);
  return { name, type: "tools", ...more, operations: Object.fromEntries(own) };
}

/** Returns the answer to each call, and the metadata that the peer gets. */
async function served(
  plugins: readonly SessionPlugin[],
  ...calls: readonly (readonly [operation: string, name?: string])[]
): Promise<{ answers: unknown[]; metadata: unknown }> {
  const host = await hosted({ plugins });
  const session = await joined(host, ["tools"], [host.token("tools")]);
  const answers: unknown[] = [];
  for (const [operation, name] of calls) {
    const call = session.call(operation, name === undefined ? {} : { name });
    answers.push(await call.catch(() => codeOf(call)));
  }
  return { answers, metadata: session.capabilities.get("tools")?.metadata };
}

const CALL = ["tool/call", "x"] as const;

describe("a message", () => {
  test("goes to the plugin with the highest priority, and among equal priorities to the first plugin by name", async () => {
    const low = saying("aaa", { priority: -1 });
    expect(await served([low, saying("b"), saying("a", { priority: 0 })], CALL)).toEqual({
      answers: ["a"],
      metadata: { name: "a", type: "tools", priority: 0, exclusive: false },
    });
    expect((await served([saying("a"), saying("b", { priority: 2 })], CALL)).answers).toEqual([
      "b",
    ]);
  });

  test("goes to the first plugin that handles its type and its name", async () => {
    const only = saying("only", {
      priority: 9,
      operations: { "tool/call": { handles: (name) => name === "mine" } },
    });
    const lists = saying("lists", { priority: 5, operations: { "tool/list": {} } });
    const all = [saying("rest"), only, lists];
    const calls = [
      ["tool/call", "mine"],
      ["tool/call", "x"],
      ["tool/call"],
      ["tool/list"],
    ] as const;
    expect(await served(all, ...calls)).toMatchObject({
      answers: ["only", "rest", "rest", "lists"],
      metadata: { name: "only", priority: 9 },
    });
    expect((await served([only], CALL)).answers).toEqual(["name_unknown"]);
  });

  test("goes to the plugin that is exclusive for its type, whatever the priorities", async () => {
    const alone = saying("alone", {
      exclusive: true,
      priority: -5,
      operations: { "tool/call": { handles: (name) => name === "mine" } },
    });
    const high = saying("high", { priority: 9, operations: { "tool/call": {}, "tool/list": {} } });
    expect(
      await served([high, alone], ["tool/call", "mine"], ["tool/call", "x"], ["tool/list"]),
    ).toMatchObject({
      answers: ["alone", "name_unknown", "high"],
      metadata: { name: "alone", exclusive: true },
    });
  });

  test("is not passed to a second plugin if the first plugin fails", async () => {
    const failing = saying("failing", {
      priority: 1,
      operations: {
        "tool/call": {
          run: async () => {
            throw new Error("no");
          },
        },
      },
    });
    expect((await served([saying("rest"), failing], CALL)).answers).toEqual(["plugin_failed"]);
  });
});

describe("the plugins of a host", () => {
  const one = saying("one");
  test.each<[string, readonly unknown[], string]>([
    ["if one is not an object", [null], "plugins[0] must be an object, not null"],
    [
      "for an unknown capability type",
      [{ ...one, type: "tool" }],
      'plugins[0].type: no such capability; did you mean "tools"?',
    ],
    [
      "for the type multi_agent",
      [{ ...one, type: "multi_agent" }],
      "plugins[0].type: multi_agent is reserved",
    ],
    ["for an unknown property", [{ ...one, prio: 1 }], "plugins[0].prio: unknown property"],
    ["for a malformed name", [{ ...one, name: "" }], "plugins[0].name: must be 1 to 64"],
    ["for the same name twice", [one, one], 'plugins[1].name: "one" is taken, of type tools'],
    [
      "for an invalid priority",
      [{ ...one, priority: Number.NaN }],
      "plugins[0].priority: must be a number",
    ],
    [
      "if one has no operations",
      [{ ...one, operations: {} }],
      "plugins[0].operations: there must be at least one",
    ],
    [
      "for an operation in the namespace of another type",
      [{ ...one, operations: { "memory/get": { run: async () => 1 } } }],
      'operations of tools begin with "tool/"',
    ],
    [
      "for a malformed operation",
      [{ ...one, operations: { "tool/Call": {} } }],
      "must be two to four names",
    ],
    [
      "for an operation without a function",
      [{ ...one, operations: { "tool/call": {} } }],
      ".run: must be a function",
    ],
    [
      "if two are exclusive for one type",
      [saying("a", { exclusive: true }), saying("b", { exclusive: true })],
      'plugins[1].exclusive: "a" has "tool/call" for itself',
    ],
  ])("are refused %s", (_, plugins, words) => {
    expect(misuse(() => Reflect.apply(pluginOperations, undefined, [plugins]))).toContain(words);
  });

  test("are accepted if two exclusive plugins have different operations", () => {
    const [a, b] = [
      saying("a", { exclusive: true }),
      saying("b", { exclusive: true, operations: { "tool/list": {} } }),
    ];
    expect(pluginGrants([a, b])).toEqual([
      {
        id: "a2e:tools",
        description: "Messages of the A2E capability tools",
        operations: ["tool/call", "tool/list"],
      },
    ]);
  });

  test("are refused by createSessionHost if the agent lacks their grant or operation, or if a schema or an option is invalid", async () => {
    const two = saying("two", { operations: { "tool/call": {}, "tool/list": {} } });
    const { agent } = await world({
      skills: [],
      rules: { rules: [] },
      operations: pluginOperations([one]),
      grants: pluginGrants([one]),
    });
    await expect(createSessionHost({ agent, plugins: [two] })).rejects.toThrow(
      'agent: its grant "a2e:tools" has no operation "tool/list"',
    );
    const memory = saying("m", { type: "memory", operations: { "memory/get": {} } });
    await expect(createSessionHost({ agent, plugins: [memory] })).rejects.toThrow(
      'agent: has no grant "a2e:memory"',
    );
    const input = { type: "object", properties: 7 };
    const bad = saying("bad", { operations: { "tool/call": { input } } });
    await expect(createSessionHost({ agent, plugins: [bad] })).rejects.toThrow(
      "plugins[0].operations[0].input: is not a valid JSON Schema",
    );
    const ambient = { principal: "alice", invoker: "it" };
    await expect(createSessionHost({ agent, plugins: [one], ambient })).rejects.toThrow(
      'the agent\'s mode "require" accepts no ambient authority',
    );
    await expect(
      createSessionHost({ agent, plugins: [one], limits: { look: 2000 } }),
    ).rejects.toThrow("limits.look");
  });
});
