import { readFileSync } from "node:fs";
import type { ErrorObject } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import type { PolicyDefinition } from "../../src/agent/policy-table.js";
import type { FixedToken } from "../../src/auth/fixed-tokens.js";
import { meant } from "../../src/caveats/known-members.js";
import { nearest } from "../../src/caveats/nearest.js";
import { quoted } from "../output.js";
import { packageFile } from "../package-file.js";
import type { AgentConfig } from "./agent-config.js";

/** Something wrong with a configuration. */
export interface ConfigProblem {
  /** The field, such as `grants[1].operations[0]`; empty for the whole. */
  readonly path: string;
  /** With the field before it. */
  readonly message: string;
}

/** What the schema has a form for. */
export interface ConfigParts {
  readonly config: AgentConfig;
  readonly policy: PolicyDefinition;
  readonly developmentTokens: readonly FixedToken[];
}

const ID = "urn:proviso:agent-config:1";
// One object each, by which ajv knows what it has compiled.
const FORMS: { readonly [Part in keyof ConfigParts]: object } = {
  config: { $ref: ID },
  policy: { $ref: `${ID}#/$defs/policy` },
  developmentTokens: { $ref: `${ID}#/$defs/developmentTokens` },
};

type Form<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

let compiled: Ajv2020 | undefined;

/**
 * A value with the defaults of `schemas/agent-config.schema.json`, which is for editors too, or
 * everything in which it fails that. Messages show names of members, and never a value.
 *
 * @param value - Takes the defaults itself.
 */
export async function checkForm<Part extends keyof ConfigParts>(
  value: unknown,
  part: Part,
): Promise<Form<ConfigParts[Part]>> {
  compiled ??= await compile();
  const validate = compiled.compile<ConfigParts[Part]>(FORMS[part]);
  if (validate(value)) return { ok: true, value };
  const problems = new Map<string, ConfigProblem>();
  for (const error of validate.errors ?? []) {
    const problem = problemFrom(error);
    if (problem !== undefined) problems.set(problem.message, problem);
  }
  return { ok: false, problems: [...problems.values()] };
}

async function compile(): Promise<Ajv2020> {
  const { Ajv2020: Compiler } = await import("ajv/dist/2020.js");
  const ajv = new Compiler({
    allErrors: true,
    useDefaults: true,
    strict: true,
    strictRequired: false,
    allowUnionTypes: true,
    ownProperties: true,
    verbose: true,
  });
  // Known to editors, and the words used here where a pattern fails.
  ajv.addVocabulary(["patternErrorMessage"]);
  ajv.addFormat("url", (text: string) => URL.canParse(text));
  const file = packageFile("schemas/agent-config.schema.json");
  ajv.addSchema(JSON.parse(readFileSync(file, "utf8")));
  return ajv;
}

function problemFrom(error: ErrorObject): ConfigProblem | undefined {
  const { keyword, params, schemaPath, parentSchema = {} } = error;
  // The alternatives are told as one.
  if (keyword === "if" || schemaPath.includes("/oneOf/")) return undefined;
  const where = pathOf(error.instancePath).replace(/^\./, "");
  const tell = (path: string, what: string): ConfigProblem => ({
    path,
    message: `${path === "" ? "the whole" : path}: ${what}`,
  });
  const inside = (name: unknown): string =>
    `${where}${memberPath(String(name))}`.replace(/^\./, "");
  switch (keyword) {
    case "required":
      return tell(inside(params["missingProperty"]), "is missing");
    case "dependentRequired": {
      const what = `is missing; it goes with ${quoted(String(params["property"]))}`;
      return tell(inside(params["missingProperty"]), what);
    }
    case "additionalProperties": {
      const known = Object.keys(parentSchema["properties"] ?? {});
      const name = String(params["additionalProperty"]).slice(0, 64);
      return tell(inside(name), `unknown member${meant(name, known)}`);
    }
    case "oneOf":
      return tell(where, `must have ${oneOf(alternatives(error.schema))}, and only one of them`);
    case "enum": {
      const known: readonly string[] = params["allowedValues"];
      const near = nearest(error.data, known);
      const hint = near === undefined ? "" : `; did you mean ${quoted(near)}?`;
      return tell(where, `must be ${oneOf(known)}${hint}`);
    }
    case "type":
      return tell(where, `must be ${[params["type"]].flat().map(kindOf).join(" or ")}`);
    case "minLength":
      if (params["limit"] === 1) return tell(where, "must not be empty");
      return tell(where, `must have at least ${params["limit"]} characters`);
    case "minItems":
    case "minProperties":
      return tell(where, "must have at least one");
    case "uniqueItems":
      return tell(`${where}[${params["i"]}]`, "is there already");
    case "minimum":
      return tell(where, `must be ${params["limit"]} or more`);
    case "maximum":
      return tell(where, `must be ${params["limit"]} or less`);
    case "pattern":
      return tell(where, String(parentSchema["patternErrorMessage"] ?? error.message));
    case "format":
      return tell(where, "is not a URL");
    default:
      return tell(where, error.message ?? "is not as it must be");
  }
}

/** A place as it is written in a program: `grants[1].operations[0]`. */
function pathOf(pointer: string): string {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => memberPath(step.replaceAll("~1", "/").replaceAll("~0", "~"))).join("");
}

function memberPath(name: string): string {
  if (/^\d+$/.test(name)) return `[${name}]`;
  return /^[\w$-]+$/.test(name) ? `.${name}` : `[${quoted(name)}]`;
}

function alternatives(schema: unknown): string[] {
  if (!Array.isArray(schema)) return [];
  return schema.flatMap((one: { readonly required?: readonly string[] }) => one.required ?? []);
}

function oneOf(values: readonly string[]): string {
  return new Intl.ListFormat("en-GB", { type: "disjunction" }).format(values.map(quoted));
}

function kindOf(type: unknown): string {
  const kinds = { string: "a text", integer: "a whole number", object: "an object" };
  const more = { array: "an array", number: "a number", boolean: "true or false" };
  const known = Object.entries({ ...kinds, ...more }).find(([name]) => name === type);
  return known?.[1] ?? String(type);
}
