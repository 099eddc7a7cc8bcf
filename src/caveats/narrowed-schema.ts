import { isJsonObject, isTexts, type Json, type JsonObject } from "../bytes/json.js";
import { NOTHING, schemaOfDomain } from "./domain-schema.js";
import type { Hop } from "./hop.js";
import { joinSchemas } from "./join-schemas.js";
import { meetOf } from "./meet.js";
import {
  authorityOver,
  type OperationAuthority,
  type Place,
  type Places,
  placesOf,
} from "./operation-authority.js";

/**
 * Narrows the JSON Schema of a tool's arguments to the calls that hops allow. Everything in the schema stays. Limits
 * of the hops are added to its properties, and arguments that a call must have are added to `required`. If the hops
 * have a closed list, `additionalProperties: false` is added.
 *
 * The result accepts every call that `inputSchema` accepts and the hops allow. It helps to choose arguments, but does
 * not replace the check of a call, since it also accepts a few calls that the hops refuse.
 *
 * - The result accepts a few strings that the hops refuse; {@link schemaOfDomain} says which.
 * - If a `$ref` points to an argument or into its schema, no limits are added to that schema: they could also apply
 *   to other arguments. A schema with a reference that may point to the whole schema, such as `$ref: "#"`, is returned
 *   unchanged.
 * - With a closed list, the result still accepts arguments that match `patternProperties`.
 *
 * No `allOf` is added at the top level: the APIs of model vendors refuse a tool whose schema has one.
 *
 * @param inputSchema - The schema of an object, in a draft from 6 to 2020-12.
 * @param hops - All hops that are in force, in any order.
 * @param operation - The operation whose entries apply.
 */
export function narrowedSchema(
  inputSchema: JsonObject,
  hops: readonly Hop[],
  operation: string,
): JsonObject {
  return schemaWithin(inputSchema, authorityOver(operation, meetOf([hops])));
}

/** Narrows a schema as {@link narrowedSchema} does, by the limits of an authority on the arguments of one operation. */
export function schemaWithin(
  inputSchema: JsonObject,
  { limited, closed }: OperationAuthority,
): JsonObject {
  const shared = argumentsReferredTo(inputSchema);
  const isUnlimited = limited.size === 0 && closed === undefined;
  if (isUnlimited || shared === undefined) return inputSchema;
  const places = placesOf(limited.keys());
  const properties = new Map(Object.entries(propertiesOf(inputSchema)));
  const others = inputSchema["additionalProperties"] ?? true;
  if (closed !== undefined) {
    for (const [name, property] of properties) {
      const isOpen = closed.includes(name) || shared.has(name);
      if (!isOpen) properties.set(name, joinSchemas(property, NOTHING));
    }
    for (const name of closed) {
      if (!properties.has(name) && others !== false) properties.set(name, others);
    }
  }
  const added: JsonObject = closed === undefined ? {} : { additionalProperties: false };
  const listed = new Map([...places].filter(([name]) => closed?.includes(name) !== false));
  const schema = { ...inputSchema, ...added, properties: Object.fromEntries(properties) };
  const narrowed = withLimits(schema, listed, limited, shared);
  return withRequired(narrowed, requiredIn(places, limited));
}

type Limited = OperationAuthority["limited"];

/** Adds limits on the properties of an object to the schema of the object. */
function withLimits(
  schema: JsonObject,
  places: Places,
  limited: Limited,
  shared: ReadonlySet<string>,
): JsonObject {
  const properties = new Map(Object.entries(propertiesOf(schema)));
  for (const [name, place] of places) {
    if (shared.has(name)) continue;
    const given = properties.get(name) ?? schema["additionalProperties"] ?? true;
    if (given !== false) properties.set(name, limitedTo(given, place, limited));
  }
  if (properties.size === 0) return schema;
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** Adds limits on a property, and on the properties inside it, to the schema of the property. */
function limitedTo(schema: Json, { limited: name, inside }: Place, limited: Limited): Json {
  const domain = name === undefined ? undefined : limited.get(name);
  if (domain !== undefined) return joinSchemas(schema, schemaOfDomain(domain));
  const holder = joinSchemas(schema, { type: "object" });
  if (!isJsonObject(holder)) return holder;
  const within = withLimits(holder, inside, limited, NONE_SHARED);
  return withRequired(within, requiredIn(inside, limited));
}

const NONE_SHARED: ReadonlySet<string> = new Set();

/**
 * Returns the names of the properties that every call must have. A property is required if it is limited and not
 * optional, or if a property inside it is required.
 */
function requiredIn(places: Places, limited: Limited): readonly string[] {
  return [...places].flatMap(([name, place]) => (isRequired(place, limited) ? [name] : []));
}

function isRequired({ limited: name, inside }: Place, limited: Limited): boolean {
  if (name !== undefined && limited.get(name)?.missing === false) return true;
  return [...inside.values()].some((place) => isRequired(place, limited));
}

function withRequired(schema: JsonObject, names: readonly string[]): JsonObject {
  if (names.length === 0) return schema;
  const { required = [] } = schema;
  return { ...schema, required: [...new Set([...(isTexts(required) ? required : []), ...names])] };
}

function propertiesOf({ properties = {} }: JsonObject): JsonObject {
  return isJsonObject(properties) ? properties : {};
}

const REFERENCES = ["$ref", "$dynamicRef", "$recursiveRef"];

/**
 * Returns the arguments that references in a schema point to or into; `undefined` if a reference may point to the
 * whole schema.
 */
function argumentsReferredTo(schema: JsonObject): ReadonlySet<string> | undefined {
  const names = new Set<string>();
  const rest: Json[] = [schema];
  for (let value = rest.pop(); value !== undefined; value = rest.pop()) {
    if (typeof value !== "object" || value === null) continue;
    for (const [keyword, one] of Object.entries(value)) {
      rest.push(one);
      if (!REFERENCES.includes(keyword) || typeof one !== "string") continue;
      if (!one.startsWith("#/")) return undefined;
      const [place, name] = one.slice(2).split("/");
      if (place === "properties" && name !== undefined) names.add(unescaped(name));
    }
  }
  return names;
}

/** Decodes a property name in the fragment of a reference. The fragment is a JSON Pointer (RFC 6901). */
function unescaped(token: string): string {
  const text = token.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
