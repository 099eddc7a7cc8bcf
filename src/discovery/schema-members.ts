import type { Json, JsonObject } from "../bytes/json.js";
import { objectIn } from "../client/received.js";
import { AGENT_CARD_SCHEMA } from "./card-schema.js";
import type { CardVersion } from "./card-version.js";
import { OLDER_CARD_SCHEMAS } from "./older-schema.js";

/** The schema of a card, by A2A version. */
export const CARD_SCHEMAS: Readonly<Record<CardVersion, JsonObject>> = {
  ...OLDER_CARD_SCHEMAS,
  "1.0": AGENT_CARD_SCHEMA,
};

/**
 * Returns the A2A versions that have a property.
 * @param path - JSON Pointer with `*` for any array index.
 */
export function versionsWith(path: string): readonly string[] {
  return Object.entries(CARD_SCHEMAS).flatMap(([version, schema]) =>
    hasMember(schema, path) ? [version] : [],
  );
}

/**
 * Returns whether a schema has a property.
 * @param path - JSON Pointer with `*` for any array index.
 */
export function hasMember(schema: JsonObject, path: string): boolean {
  let at: Json | undefined = schema;
  for (const step of path.split("/").slice(1)) {
    const { items, properties, additionalProperties: others } = resolved(objectIn(at), schema);
    // Every object inherits properties such as `constructor`, which a schema does not define.
    const known = objectIn(properties);
    const named: Json | undefined = Object.hasOwn(known, step) ? known[step] : others;
    at = step === "*" ? items : named === false ? undefined : named;
  }
  return at !== undefined;
}

function resolved(part: JsonObject, schema: JsonObject): JsonObject {
  const { $ref } = part;
  if (typeof $ref !== "string") return part;
  return objectIn(objectIn(schema["$defs"])[$ref.replace("#/$defs/", "")]);
}
