import { compileArgumentChecks } from "../../../agent/arguments.js";
import type { Json, JsonObject } from "../../../bytes/json.js";
import { shown } from "../../../caveats/scalar.js";
import { assertKnown, assertMembers, meant } from "../../../checks/members.js";
import { type PluginCall, PluginError, type SessionPlugin } from "../plugin.js";
import { assertArguments } from "./arguments.js";
import {
  assertName,
  ORDER_MEMBERS,
  objectSchema,
  orderOf,
  type PluginOrder,
} from "./plugin-options.js";

/** A function that peers of a session can call. */
export interface SessionTool {
  /** The `tool_name` in calls of the tool: 1 to 64 letters, digits, `_`, `.` or `-`. */
  readonly name: string;
  /** A description that helps users and models to choose a tool. */
  readonly description: string;
  /** JSON Schema (2020-12) of the arguments, with `"type": "object"`. */
  readonly input: JsonObject;
  /**
   * Runs the tool with arguments that satisfy the schema. The peer gets the result, or the code and message of
   * a {@link PluginError}.
   */
  run(call: PluginCall): Promise<Json> | Json;
}

export interface ToolsPluginOptions extends PluginOrder {
  /** The tools of the plugin; at least one. */
  readonly tools: readonly SessionTool[];
}

/**
 * Creates a plugin for the capability `tools`: functions of this process. `tool/list` answers `{tools: [{name,
 * description, input}]}`. It lists only tools that the session's tokens allow. If exactly one token allows a tool,
 * `input` is narrowed by the token's limits. `tool/call` runs the tool named in `tool_name` and answers with the tool's
 * result; the arguments must satisfy the tool's schema.
 *
 * @throws TypeError naming the value that is wrong, such as `tools[1].input`.
 * @throws Error if `ajv` is not installed.
 *
 * @example
 * ```ts
 * import { createToolsPlugin } from "proviso/a2e";
 *
 * const plugin = await createToolsPlugin({
 *   tools: [
 *     {
 *       name: "add",
 *       description: "Adds two numbers",
 *       input: {
 *         type: "object",
 *         properties: { a: { type: "number" }, b: { type: "number" } },
 *         required: ["a", "b"],
 *         additionalProperties: false,
 *       },
 *       run: ({ arguments: { a, b } }) => ({ sum: Number(a) + Number(b) }),
 *     },
 *   ],
 * });
 * Object.keys(plugin.operations); // => ["tool/list", "tool/call"]
 * ```
 */
export async function createToolsPlugin(options: ToolsPluginOptions): Promise<SessionPlugin> {
  assertMembers(options, ["tools", ...ORDER_MEMBERS], "options");
  const tools = checkTools(options.tools);
  const checks = await compileArgumentChecks(
    [...tools.values()].map(({ name, input }) => ({ id: name, input })),
    "tools",
  );
  const list = [...tools.values()].map(({ name, description, input }) => ({
    name,
    description,
    input,
  }));
  return {
    ...orderOf("tools", options),
    operations: {
      "tool/list": {
        input: objectSchema({}),
        listing: true,
        run: async ({ mayCall, narrowed }) => ({
          tools: list
            .filter(({ name }) => mayCall("tool/call", { name }))
            .map((tool) => ({ ...tool, input: narrowed("tool/call", tool, tool.input) })),
        }),
      },
      "tool/call": {
        handles: (name) => name !== undefined && tools.has(name),
        async run(call) {
          const tool = tools.get(call.name ?? "");
          if (tool === undefined) throw unknownTool(call.name, [...tools.keys()]);
          assertArguments(checks.get(tool.name), call.arguments);
          return tool.run(call);
        },
      },
    },
  };
}

function unknownTool(name: string | undefined, known: readonly string[]): PluginError {
  const what =
    name === undefined
      ? "tool_name is missing"
      : `there is no tool ${shown(name)}${meant(name, known)}`;
  return new PluginError("name_unknown", what);
}

function checkTools(tools: readonly SessionTool[]): ReadonlyMap<string, SessionTool> {
  if (!Array.isArray(tools) || tools.length === 0) {
    throw new TypeError("tools: there must be at least one");
  }
  const known = new Map<string, SessionTool>();
  const all: readonly SessionTool[] = tools;
  for (const [at, tool] of all.entries()) {
    const where = `tools[${at}]`;
    assertKnown(tool, ["name", "description", "input", "run"], where);
    assertName(tool.name, `${where}.name`);
    if (known.has(tool.name)) throw new TypeError(`${where}.name: "${tool.name}" is taken`);
    if (typeof tool.description !== "string" || tool.description === "") {
      throw new TypeError(`${where}.description: must be a non-empty string`);
    }
    if (typeof tool.input !== "object" || tool.input === null || tool.input["type"] !== "object") {
      throw new TypeError(`${where}.input: must be a JSON Schema with "type": "object"`);
    }
    if (typeof tool.run !== "function") throw new TypeError(`${where}.run: must be a function`);
    known.set(tool.name, tool);
  }
  return known;
}
