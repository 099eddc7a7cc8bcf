import { onTestFinished } from "vitest";
import type { Json, JsonObject } from "../../../../src/bytes/json.js";
import {
  isPluginError,
  type PluginCall,
  type SessionPlugin,
} from "../../../../src/protocols/a2e/plugin.js";

/** The properties of a plugin call that tests set. */
export interface Made {
  readonly name?: string;
  readonly server?: string;
  readonly session?: string;
  readonly principal?: string;
  readonly signal?: AbortSignal;
  readonly parts?: Json[];
  readonly mayCall?: PluginCall["mayCall"];
}

/** Calls an operation as a session host does after a message has passed every check. */
export async function call(
  plugin: SessionPlugin,
  operation: string,
  given: JsonObject = {},
  {
    name,
    server,
    session = "s1",
    principal = "alice",
    signal,
    parts = [],
    mayCall = () => true,
  }: Made = {},
): Promise<JsonObject> {
  const found = plugin.operations[operation];
  if (found === undefined) throw new Error(`the plugin has no ${operation}`);
  const made: PluginCall = {
    name,
    server,
    arguments: given,
    principal,
    session: { id: session, agentId: "tester" },
    signal: signal ?? new AbortController().signal,
    mayCall,
    narrowed: (_operation, _named, input) => input,
    async send(part) {
      parts.push(part);
    },
  };
  const answer = await found.run(made);
  if (typeof answer !== "object" || answer === null || Array.isArray(answer)) {
    throw new Error("the answer is not an object");
  }
  return answer as JsonObject;
}

/** Returns the code and the other properties of the error that rejects a call. */
export async function refusal(
  action: Promise<unknown>,
): Promise<{ code: string; message: string; retryable: boolean; detail: JsonObject }> {
  try {
    await action;
  } catch (error) {
    if (!isPluginError(error)) throw error;
    const { code, message, retryable, detail } = error;
    return { code, message, retryable, detail };
  }
  throw new Error("the call succeeded");
}

/** Closes the plugin at the end of the test. Returns the plugin. */
export function closed(plugin: SessionPlugin): SessionPlugin {
  onTestFinished(() => plugin.close?.());
  return plugin;
}
