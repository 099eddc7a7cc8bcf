import type { ErrorObject, ValidateFunction } from "ajv";
import { isJsonObject, type Json, type JsonObject, quotedName } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { objectIn } from "../client/received.js";
import type { CardVersion } from "./card-version.js";
import { pointer, shownPath } from "./faults.js";
import { snakeCase } from "./fields.js";
import type { Remark } from "./finding.js";
import { memberRemark } from "./member-remarks.js";
import { DISCOVERY_PARAMS_SCHEMA } from "./params-schema.js";
import { CARD_SCHEMAS } from "./schema-members.js";

/** Maximum number of findings for one schema. Each finding takes time. */
const MOST = 200;

/** Remarks on one part of a card, and the number of omitted remarks. */
export interface SchemaRemarks {
  readonly remarks: readonly Remark[];
  /** JSON Pointers to the wrong or missing parts, on which other checks need not remark again. */
  readonly paths: readonly string[];
  readonly left: number;
  /** The number of errors among the omitted remarks. */
  readonly leftErrors: number;
}

export const NO_REMARKS: SchemaRemarks = { remarks: [], paths: [], left: 0, leftErrors: 0 };

/** Checks a card against the schema of an A2A version. */
export async function cardSchemaRemarks(
  card: Json,
  version: CardVersion,
  near: Suggest,
): Promise<SchemaRemarks> {
  const validate = await validator(`card ${version}`, () => {
    const schema = CARD_SCHEMAS[version];
    return inlined(schema, schema["$defs"]);
  });
  const plain = withoutNulls(card);
  return remarksOf(validate, plain, "", (error) => {
    const member = memberOf(error);
    if (error.keyword !== "additionalProperties" || member === undefined) return remark(error, "");
    const { instancePath: here, data, parentSchema } = error;
    const known = Object.keys(propertiesOf(parentSchema));
    const holder = objectIn(data);
    return memberRemark(
      { name: member, here, holder, known, version, card: objectIn(plain) },
      near,
    );
  });
}

/** Checks the contract's params against their schema, which allows no unknown properties. */
export async function paramsRemarks(
  params: Json,
  base: string,
  near: Suggest,
): Promise<SchemaRemarks> {
  const validate = await validator("params", () => DISCOVERY_PARAMS_SCHEMA);
  return remarksOf(validate, params, base, (error) => {
    const member = memberOf(error);
    if (error.keyword !== "additionalProperties" || member === undefined)
      return remark(error, base);
    const path = pointer(`${base}${error.instancePath}`, member);
    const known = Object.keys(propertiesOf(error.parentSchema));
    const meant = known.find((one) => snakeCase(one) === member) ?? near(member, known);
    const hint = meant === undefined ? "" : `; did you mean ${quotedName(meant)}?`;
    return contractRemark(path, `the contract has no such property${hint}`);
  });
}

/** Converts validation errors to remarks. Unknown properties of a card come last, since every reader ignores them. */
function remarksOf(
  validate: ValidateFunction,
  value: Json,
  base: string,
  from: (error: ErrorObject) => Remark,
): SchemaRemarks {
  if (validate(value)) return NO_REMARKS;
  // In the contract's params, where `base` is not empty, an unknown property is an error like any other.
  const isUnknown = ({ keyword }: ErrorObject): boolean =>
    keyword === "additionalProperties" && base === "";
  const all = (validate.errors ?? []).filter(isAnError);
  const errors = [...all.filter((one) => !isUnknown(one)), ...all.filter(isUnknown)];
  const [shown, left] = [errors.slice(0, MOST), errors.slice(MOST)];
  return {
    remarks: shown.map(from),
    paths: shown.flatMap((one) => (isUnknown(one) ? [] : [pointerOf(one, base)])),
    left: left.length,
    leftErrors: left.filter((one) => !isUnknown(one)).length,
  };
}

function pointerOf(error: ErrorObject, base: string): string {
  const member = memberOf(error);
  const here = `${base}${error.instancePath}`;
  return member === undefined ? here : pointer(here, member);
}

/**
 * Returns `false` for errors that repeat another error: those of an `if`, and those of the failed alternatives of a
 * `oneOf`.
 */
function isAnError({ keyword, schemaPath }: ErrorObject): boolean {
  return keyword !== "if" && !/\/oneOf\/\d/.test(schemaPath);
}

/** Removes properties that are `null`, because they count as absent (docs/spec.md, section 14.3). */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, one]) => one !== null);
  return Object.fromEntries(members.map(([name, one]) => [name, withoutNulls(one)]));
}

const compiled = new Map<string, Promise<ValidateFunction>>();

function validator(name: string, schema: () => JsonObject): Promise<ValidateFunction> {
  const found = compiled.get(name) ?? compile(schema());
  compiled.set(name, found);
  return found;
}

async function compile(schema: JsonObject): Promise<ValidateFunction> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictRequired: false,
    strictTypes: false,
    ownProperties: true,
    verbose: true,
  });
  ajv.addFormat("url", (text: string) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text));
  return ajv.compile(schema);
}

/** Inlines definitions. If the schema had references, a hundred thousand faulty elements would take minutes to check. */
function inlined(schema: JsonObject, definitions: Json | undefined): JsonObject {
  const inner = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(inner);
    if (!isJsonObject(value)) return value;
    const { $ref } = value;
    if (typeof $ref !== "string") return inlined(value, definitions);
    return inner(objectIn(objectIn(definitions)[$ref.replace("#/$defs/", "")]));
  };
  const members = Object.entries(schema).filter(([name]) => name !== "$defs");
  return Object.fromEntries(members.map(([name, value]) => [name, inner(value)]));
}

function remark(error: ErrorObject, base: string): Remark {
  const here = `${base}${error.instancePath}`;
  return contractRemark(here, words(error, here));
}

function contractRemark(path: string, message: string): Remark {
  return { severity: "error", code: "schema", path, message: `${shownPath(path)}: ${message}` };
}

function memberOf({ keyword, params }: ErrorObject): string | undefined {
  const found: unknown =
    keyword === "required" ? params["missingProperty"] : params["additionalProperty"];
  return typeof found === "string" ? found : undefined;
}

function words(error: ErrorObject, here: string): string {
  const { keyword, params, parentSchema } = error;
  const member = memberOf(error) ?? "";
  switch (keyword) {
    case "required":
      return `${quotedName(member)} is missing`;
    case "type":
      return `expected ${params["type"] === "object" || params["type"] === "array" ? "an" : "a"} ${params["type"]}`;
    case "minLength":
      return "it is empty";
    case "minItems":
      return "it has no elements";
    case "maxItems":
      return `more than ${params["limit"]} elements`;
    case "enum":
      return `expected ${[params["allowedValues"]].flat().join(", ")}`;
    case "const":
      return `expected ${params["allowedValue"]}`;
    case "format":
      return "expected an absolute URL";
    case "pattern":
      return here.endsWith("rotocolVersion") || here.includes("/protocolVersions/")
        ? 'expected a version, such as "1.0"'
        : "expected unpadded base64url";
    case "oneOf": {
      const names = Object.keys(propertiesOf(parentSchema)).join(", ");
      return `expected ${params["passingSchemas"] === null ? "one" : "only one"} of ${names}`;
    }
    default:
      return error.message ?? "it fails the schema";
  }
}

function propertiesOf(schema: unknown): object {
  return objectIn(objectIn(schema)["properties"]);
}
