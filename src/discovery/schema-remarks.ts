import type { ErrorObject, ValidateFunction } from "ajv";
import { isJsonObject, type Json, type JsonObject, quotedName } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { objectIn } from "../client/received.js";
import { AGENT_CARD_SCHEMA } from "./card-schema.js";
import { pointer, shownPath } from "./faults.js";
import type { Remark } from "./finding.js";
import { DISCOVERY_PARAMS_SCHEMA } from "./params-schema.js";
import { snakeCase } from "./places.js";
import { DISCOVERY_URI } from "./uris.js";

interface Validators {
  readonly card: ValidateFunction;
  readonly params: ValidateFunction;
}

/** More remarks do not help a reader, and each takes time. */
const MOST = 200;

let compiled: Promise<Validators> | undefined;

/** Where a value fails the schema of a card, or of the contract's params. */
export async function schemaRemarks(
  part: keyof Validators,
  value: unknown,
  near: Suggest,
  base = "",
): Promise<readonly Remark[]> {
  compiled ??= compile();
  const validate = (await compiled)[part];
  if (validate(value)) return [];
  return (validate.errors ?? []).slice(0, MOST).map((error) => remarkFrom(error, base, near));
}

async function compile(): Promise<Validators> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    strictRequired: false,
    ownProperties: true,
    verbose: true,
  });
  ajv.addFormat("url", (text: string) => /^[a-z][a-z0-9+.-]*:/i.test(text) && URL.canParse(text));
  const card = ajv.compile(inlined(AGENT_CARD_SCHEMA, AGENT_CARD_SCHEMA["$defs"]));
  return { card, params: ajv.compile(DISCOVERY_PARAMS_SCHEMA) };
}

/** Inlines definitions: checked by reference, a hundred thousand faulty items would take minutes. */
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

function remarkFrom(error: ErrorObject, base: string, near: Suggest): Remark {
  const here = `${base}${error.instancePath}`;
  const member = memberOf(error);
  const path = member === undefined || error.keyword === "required" ? here : pointer(here, member);
  return {
    severity: "error",
    code: "schema",
    path,
    message: `${shownPath(path)}: ${words(error, here, base === "", near)}`,
  };
}

function memberOf({ keyword, params }: ErrorObject): string | undefined {
  const found: unknown =
    keyword === "required" ? params["missingProperty"] : params["additionalProperty"];
  return typeof found === "string" ? found : undefined;
}

function words(error: ErrorObject, here: string, isCard: boolean, suggest: Suggest): string {
  const { keyword, params, parentSchema } = error;
  const member = memberOf(error) ?? "";
  switch (keyword) {
    case "required":
      return `${quotedName(member)} is missing`;
    case "additionalProperties":
      return unknownMember(member, here, parentSchema, isCard, suggest);
    case "type":
      return `expected ${params["type"] === "object" || params["type"] === "array" ? "an" : "a"} ${params["type"]}`;
    case "minLength":
      return "it is empty";
    case "minItems":
      return "it has no items";
    case "maxItems":
      return `more than ${params["limit"]} items`;
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
    case "minProperties":
      return `expected one of ${Object.keys(propertiesOf(parentSchema)).join(", ")}`;
    case "maxProperties":
      return `expected only one of ${Object.keys(propertiesOf(parentSchema)).join(", ")}`;
    default:
      return error.message ?? "it fails the schema";
  }
}

/** The contract's own fields have a place; any other member is taken for a slip of the pen. */
const CONTRACT = [
  "minProtocolVersion",
  "maxProtocolVersion",
  "protocolVersions",
  "capabilityGrants",
];

function unknownMember(
  name: string,
  here: string,
  schema: unknown,
  isCard: boolean,
  suggest: Suggest,
): string {
  const known = Object.keys(propertiesOf(schema));
  const isContract = isCard && CONTRACT.some((one) => one === name || snakeCase(one) === name);
  if (
    isContract ||
    (here === "/capabilities" && /^[a-z]+(_[a-z]+)+$/.test(name) && name !== "push_notifications")
  ) {
    return `not a member of A2A 1.0; its place is in the params of ${DISCOVERY_URI}`;
  }
  const camel = known.find((one) => snakeCase(one) === name);
  const near = camel ?? suggest(name, known);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  return `unknown member${hint}`;
}

function propertiesOf(schema: unknown): object {
  return objectIn(objectIn(schema)["properties"]);
}
