import { isJsonObject, type Json, type JsonObject, quotedName } from "../../../bytes/json.js";
import { readArgumentName } from "../../../caveats/argument-pointer.js";
import type { Hop } from "../../../caveats/hop.js";
import { entriesFor } from "../../../caveats/operation-authority.js";
import { folded, type Misspelling, otherSpelling } from "../message/spelling.js";
import { objectAt } from "../message/values.js";
import { SUBSCRIPTION_ID } from "./methods.js";
import { CAPABILITY_KEY } from "./presented-tokens.js";

const META_NAMES = [
  CAPABILITY_KEY,
  "progressToken",
  "io.modelcontextprotocol/protocolVersion",
  "io.modelcontextprotocol/clientCapabilities",
  SUBSCRIPTION_ID,
];

/** Properties of a server's request to the host. */
const ASKED_NAMES = [
  ...["messages", "systemPrompt", "includeContext", "modelPreferences", "maxTokens", "tools"],
  ...["mode", "message", "requestedSchema", "url", "elicitationId"],
];

/**
 * Names of the properties that the gate judges, by the path of the object that has them. `*` in a path matches every
 * entry.
 */
const NAMES: readonly { readonly path: readonly string[]; readonly names: readonly string[] }[] = [
  {
    path: ["params"],
    names: [
      ...["name", "arguments", "uri", "cursor", "ref", "argument", "context", "level", "_meta"],
      ...["task", "taskId", "notifications", "inputResponses", "requestState"],
      ...["requestId", "progressToken", "protocolVersion", "capabilities"],
      ...["inputRequests", ...ASKED_NAMES],
    ],
  },
  { path: ["params", "inputRequests", "*"], names: ["method", "params"] },
  { path: ["params", "inputRequests", "*", "params"], names: ASKED_NAMES },
  { path: ["params", "_meta"], names: META_NAMES },
  { path: ["params", "ref"], names: ["type", "name", "uri"] },
  { path: ["params", "argument"], names: ["name", "value"] },
  { path: ["params", "context"], names: ["arguments"] },
  {
    path: ["result"],
    names: [
      ...["tools", "resources", "resourceTemplates", "prompts", "tasks", "nextCursor", "_meta"],
      ...["resultType", "inputRequests", "requestState", "task", "taskId"],
      ...["protocolVersion", "capabilities"],
    ],
  },
  { path: ["result", "_meta"], names: META_NAMES },
  { path: ["result", "task"], names: ["taskId"] },
  { path: ["result", "tools", "*"], names: ["name", "inputSchema"] },
  { path: ["result", "prompts", "*"], names: ["name"] },
  { path: ["result", "tasks", "*"], names: ["taskId"] },
  { path: ["result", "inputRequests", "*"], names: ["method", "params"] },
  { path: ["result", "inputRequests", "*", "params"], names: ASKED_NAMES },
  { path: ["error"], names: ["code", "data"] },
  { path: ["error", "data"], names: ["elicitations"] },
  { path: ["error", "data", "elicitations", "*"], names: ASKED_NAMES },
];

/**
 * Finds a property whose name differs only in case from a property that the gate judges. Some parsers, such as Go's
 * `encoding/json`, ignore case and would confuse the two.
 *
 * @returns A sentence about the property; `undefined` if there is none.
 */
export function misspellingIn(message: JsonObject): string | undefined {
  for (const { path, names } of NAMES) {
    for (const object of objectsAt(message, path)) {
      const misspelt = misspelling(object, names);
      if (misspelt !== undefined) {
        const { name, other } = misspelt;
        return `the property ${quotedName(name)} differs in case alone from "${other}", a property of the protocol`;
      }
    }
  }
  return undefined;
}

/** Finds a property of an object whose name differs only in case from one of `names`. */
function misspelling(object: JsonObject, names: readonly string[]): Misspelling | undefined {
  const known = new Map(names.map((name) => [folded(name), name]));
  for (const name of Object.keys(object)) {
    const other = known.get(folded(name));
    if (other !== undefined && !names.includes(name)) return { name, other };
  }
  return undefined;
}

function objectsAt(message: JsonObject, path: readonly string[]): readonly JsonObject[] {
  let found: readonly Json[] = [message];
  for (const step of path) found = found.flatMap((value) => within(value, step));
  return found.filter(isJsonObject);
}

function within(value: Json, step: string): readonly Json[] {
  if (step === "*") return typeof value === "object" && value !== null ? Object.values(value) : [];
  const inner = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  return inner === undefined ? [] : [inner];
}

/**
 * Finds an argument whose name differs only in case from a property in the tool's schema or, at any depth, from another
 * property of the same object.
 */
export function misspeltArgument(
  given: JsonObject,
  inputSchema: JsonObject,
): Misspelling | undefined {
  const known = Object.keys(objectAt(inputSchema, ["properties"]) ?? {});
  return misspelling(given, known) ?? twinIn(given);
}

/**
 * Finds an argument whose name differs only in case from that of an argument that a hop limits. Also compares the names
 * in a JSON Pointer.
 */
export function misspeltLimit(
  given: JsonObject,
  hops: readonly Hop[],
  operation: string,
): Misspelling | undefined {
  const names = hops.flatMap(({ constraints = {}, operationConstraints = {} }) => [
    ...Object.keys(constraints),
    ...entriesFor(operationConstraints, operation).flatMap(([, limits]) => Object.keys(limits)),
  ]);
  return misspellingOnPaths(
    given,
    names.map((name) => readArgumentName(name) ?? [name]),
  );
}

function misspellingOnPaths(
  value: Json | undefined,
  paths: readonly (readonly string[])[],
): Misspelling | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const names = [...new Set(paths.flatMap(([name]) => name ?? []))];
  const found = misspelling(value, names);
  if (found !== undefined) return found;
  for (const name of names) {
    const inner = Object.hasOwn(value, name) ? value[name] : undefined;
    const below = paths.filter(([first]) => first === name).map(([, ...rest]) => rest);
    const deeper = misspellingOnPaths(inner, below);
    if (deeper !== undefined) return deeper;
  }
  return undefined;
}

/** Finds a property whose name differs only in case from the name of another property of the same object. */
function twinIn(value: Json): Misspelling | undefined {
  const waiting: Json[] = [value];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const twin = isJsonObject(next) ? otherSpelling(next) : undefined;
    if (twin !== undefined) return twin;
    if (typeof next !== "object" || next === null) continue;
    // One call of `push` for each element: a long array as arguments of a single call would overflow the stack.
    for (const inner of Object.values(next)) waiting.push(inner);
  }
  return undefined;
}
