import { isJsonObject, type Json, type JsonObject } from "../bytes/json.js";
import { objectIn } from "../client/received.js";
import { AGENT_CARD_SCHEMA } from "./card-schema.js";
import { pointer, shown, shownPath } from "./faults.js";
import { snakeCase } from "./fields.js";

/**
 * A card reduced to A2A 1.0's properties, as the official SDKs read it; or the problem for which the SDKs
 * reject the card.
 */
export type A2AMembers =
  | { readonly card: JsonObject; readonly problem?: undefined }
  | { readonly card?: undefined; readonly problem: string };

/**
 * Removes properties that A2A 1.0 does not have, as the official SDKs do before they verify a signature.
 * Converts snake_case names to camelCase.
 */
export function a2aMembers(card: JsonObject): A2AMembers {
  const problems: string[] = [];
  const kept = within(card, AGENT_CARD_SCHEMA, "", problems);
  const { supportedInterfaces } = objectIn(kept);
  if (!Array.isArray(supportedInterfaces) || supportedInterfaces.length === 0) {
    problems.unshift("it lists no supportedInterfaces, as a card of A2A 1.0 does");
  }
  const [problem] = problems;
  return problem === undefined ? { card: objectIn(kept) } : { problem };
}

// Recursion is safe for a received card, because its depth has been checked.
function within(value: Json, schema: JsonObject, path: string, problems: string[]): Json {
  const { $ref, type, properties, items, additionalProperties: others, oneOf } = schema;
  if (typeof $ref === "string") return within(value, definition($ref), path, problems);
  if (kindOf(value) !== type && type !== undefined) {
    problems.push(`${shownPath(path)} is ${shown(value)}, where A2A has ${String(type)}`);
    return value;
  }
  if (Array.isArray(value)) {
    const list: readonly Json[] = value;
    return list.map((one, at) => within(one, objectIn(items), pointer(path, at), problems));
  }
  if (!isJsonObject(value) || (properties === undefined && others === undefined)) return value;
  const kept: [string, Json][] = [];
  for (const [name, member] of Object.entries(value)) {
    const known = nameIn(name, objectIn(properties));
    const inner = known === undefined ? others : objectIn(properties)[known];
    if (member === null || inner === undefined || inner === false) continue;
    kept.push([known ?? name, within(member, objectIn(inner), pointer(path, name), problems)]);
  }
  if (oneOf !== undefined && kept.length > 1) {
    problems.push(`${shownPath(path)} has ${kept.length} properties, where A2A has one`);
  }
  return Object.fromEntries(kept);
}

function definition(ref: string): JsonObject {
  return objectIn(objectIn(AGENT_CARD_SCHEMA["$defs"])[ref.replace("#/$defs/", "")]);
}

/** Returns the schema's name for a property that is written in camelCase or snake_case. */
function nameIn(name: string, properties: JsonObject): string | undefined {
  return Object.keys(properties).find((known) => known === name || snakeCase(known) === name);
}

function kindOf(value: Json): string {
  if (Array.isArray(value)) return "array";
  return value === null ? "null" : typeof value;
}
