import type { ValidateFunction } from "ajv/dist/2020.js";
import { isDeeperThan, type Json, type JsonObject } from "../../../bytes/json.js";

/** Longest schema that is compiled, in characters of JSON; a longer one is ignored. */
const LONGEST = 65_536;
const DEEPEST = 24;

const compiled = new WeakMap<JsonObject, ValidateFunction | undefined>();

/**
 * Validates a value against another party's schema. Ignores the schema's patterns, since matching a pattern could take
 * forever. If the schema is too large or cannot be compiled, every value is accepted.
 *
 * @returns The first violation; `undefined` if there is none.
 * @throws Error if `ajv` is not installed.
 */
export async function failing(value: Json, schema: JsonObject): Promise<string | undefined> {
  if (!compiled.has(schema)) compiled.set(schema, await compile(schema));
  const validate = compiled.get(schema);
  if (validate === undefined || validate(value)) return undefined;
  const [{ instancePath = "", message = "fails it" } = {}] = validate.errors ?? [];
  return `${instancePath.slice(0, 128)} ${message.slice(0, 256)}`.trim();
}

async function compile(schema: JsonObject): Promise<ValidateFunction | undefined> {
  if (isDeeperThan(schema, DEEPEST) || JSON.stringify(schema).length > LONGEST) return undefined;
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({
    strict: false,
    validateFormats: false,
    ownProperties: true,
    addUsedSchema: false,
    logger: false,
    code: { regExp: anyText },
  });
  try {
    const validate = ajv.compile(schema);
    return "$async" in validate ? undefined : validate;
  } catch {
    return undefined;
  }
}

/** Returns a replacement for a regular expression, which matches every string. */
function anyText(): { readonly test: () => boolean } {
  return { test: () => true };
}
anyText.code = "anyText";
