import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import { CapabilityClient } from "../../src/protocols/a2a/client/capability-client.js";
import type { TaskCall } from "../../src/protocols/a2a/task-runner.js";
import { type ModeName, tokensFor } from "./authority.js";
import { type AgentName, SERVICES, type Service, workerOf } from "./world/people.js";
import type { World } from "./world/world.js";

const ORDER = /^CALL (\S+) (\S+) (\{.*\})$/gm;

/** Returns an order that can be hidden in any text. */
export function order(service: Service, skill: string, given: JsonObject): string {
  return `CALL ${service} ${skill} ${JSON.stringify(given)}`;
}

/**
 * Obeys every order in a message, with all the agent's authority. A model might or might not obey; this agent
 * always does.
 */
export async function obey(
  agent: AgentName,
  task: TaskCall,
  world: World,
  mode: ModeName,
): Promise<Json> {
  const said = [task.text, ...task.data.flatMap(textsIn)].join("\n");
  const given = task.data.flatMap(tokensIn);
  const results: Json[] = [];
  for (const [, service = "", skill = "", text = ""] of said.matchAll(ORDER)) {
    try {
      const values: Json = JSON.parse(text);
      if (isJsonObject(values) && isService(service)) {
        results.push(await act(agent, task, { service, skill, values, given }, world, mode));
      }
    } catch (error) {
      results.push({ failed: error instanceof Error ? error.message : "something else" });
    }
  }
  return { done: results };
}

interface Order {
  readonly service: Service;
  readonly skill: string;
  readonly values: JsonObject;
  /** Tokens from the message. */
  readonly given: readonly string[];
}

async function act(
  agent: AgentName,
  task: TaskCall,
  { service, skill, values, given }: Order,
  world: World,
  mode: ModeName,
): Promise<Json> {
  if (service === agent) {
    const outcome = await task.invoke(skill, values);
    return outcome.ok ? outcome.result : { refused: outcome.denials.map(({ code }) => code) };
  }
  // In ambient mode, an agent calls others with the authority of the user who connected it, as agents do today.
  const principal = mode === "ambient" ? "alice" : "itself";
  const connection = world.connect(service, principal, workerOf(agent));
  const tokens = tokensFor(service, given).slice(0, 8);
  const client = new CapabilityClient(await connection.client());
  const { result } = await client.invoke(skill, values, tokens.length === 0 ? undefined : tokens);
  return result;
}

function isService(name: string): name is Service {
  return SERVICES.some((service) => service === name);
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return (Array.isArray(value) ? value : Object.values(value)).flatMap(textsIn);
}

/** Returns the strings that are tokens: v2 in base64url always starts with the same characters. */
function tokensIn(value: Json): readonly string[] {
  return textsIn(value).filter((text) => /^Ag[A-Za-z0-9_-]{80,}$/.test(text));
}
