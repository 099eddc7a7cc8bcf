import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { objectAt } from "./values.js";

const OF_PARAMS = [
  "name",
  "arguments",
  "uri",
  "cursor",
  "ref",
  "argument",
  "task",
  "taskId",
  "notifications",
  "inputResponses",
  "requestState",
  "_meta",
];

/**
 * Finds a parameter that some servers read in place of one that the gate judges: Go's `encoding/json`, for example,
 * ignores case.
 *
 * @returns The parameter as it is written; `undefined` if every reader finds the same ones.
 */
export function misspeltParameter(params: JsonObject): string | undefined {
  const folded = new Set(OF_PARAMS.map(fold));
  return Object.keys(params).find((name) => !OF_PARAMS.includes(name) && folded.has(fold(name)));
}

/**
 * Finds a misleading property in a tool's arguments: one that differs in case alone from a property of the tool's schema,
 * or from another property of the same object, at any depth.
 */
export function misspeltArgument(given: JsonObject, inputSchema: JsonObject): string | undefined {
  const known = Object.keys(objectAt(inputSchema, ["properties"]) ?? {});
  const names = new Set(known);
  const others = Object.keys(given).filter((name) => !names.has(name));
  const folded = new Set(known.map(fold));
  return others.find((name) => folded.has(fold(name))) ?? twinIn(given);
}

/** Finds a property whose name differs in case alone from the name of another property of the same object. */
function twinIn(value: Json): string | undefined {
  const waiting: Json[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (isJsonObject(next)) {
      const seen = new Set<string>();
      for (const name of Object.keys(next)) {
        if (seen.has(fold(name))) return name;
        seen.add(fold(name));
      }
    }
    if (typeof next === "object" && next !== null) waiting.push(...Object.values(next));
  }
  return undefined;
}

/** Folds case as widely as any reader does: `ſ` is an `s`, and the Kelvin sign a `k`. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase();
}
