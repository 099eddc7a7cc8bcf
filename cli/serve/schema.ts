import { readFileSync } from "node:fs";
import type { ErrorObject } from "ajv";
import type { Ajv2020 } from "ajv/dist/2020.js";
import type { PolicyDefinition } from "../../src/agent/policy-table.js";
import type { FixedToken } from "../../src/auth/fixed-tokens.js";
import { meant } from "../../src/checks/members.js";
import { nearest } from "../../src/checks/nearest.js";
import type { GateConfig } from "../mcp/gate-config.js";
import { quoted } from "../output.js";
import { packageFile } from "../package-file.js";
import type { SessionConfig } from "../session/session-config.js";
import type { AgentConfig } from "./agent-config.js";

export interface ConfigProblem {
  /** The field, such as `grants[1].operations[0]`; empty for the whole file. */
  readonly path: string;
  /** The message, which begins with the field. */
  readonly message: string;
}

export interface ConfigParts {
  readonly config: AgentConfig;
  readonly policy: PolicyDefinition;
  readonly developmentTokens: readonly FixedToken[];
  readonly session: SessionConfig;
  readonly gate: GateConfig;
}

const ID = "urn:proviso:agent-config:1";
// The reference to the schema of each part. Ajv recognizes a compiled schema by the identity of this object.
const FORMS: { readonly [Part in keyof ConfigParts]: object } = {
  config: { $ref: ID },
  policy: { $ref: `${ID}#/$defs/policy` },
  developmentTokens: { $ref: `${ID}#/$defs/developmentTokens` },
  session: { $ref: "urn:proviso:session-config:1" },
  gate: { $ref: "urn:proviso:gate-config:1" },
};

type Form<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problems: readonly ConfigProblem[] };

let compiled: Ajv2020 | undefined;

/**
 * Returns a value with the defaults of its schema in `schemas/`, or a list of all violations. Messages show
 * names of properties, never values.
 *
 * @param value - The value to check. The function adds the defaults to it.
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
    // The schemas are part of this package, and each compiled function runs once. If Ajv validated the schemas
    // and optimized the code, a tenth of the agent's start would go into that.
    meta: false,
    validateSchema: false,
    code: { optimize: false },
  });
  // Editors use this keyword, and so do this file's messages about a pattern.
  ajv.addVocabulary(["patternErrorMessage"]);
  ajv.addFormat("url", (text: string) => URL.canParse(text));
  for (const name of ["agent", "session", "gate"]) {
    const file = packageFile(`dist/schemas/${name}-config.schema.json`);
    ajv.addSchema(JSON.parse(readFileSync(file, "utf8")));
  }
  return ajv;
}

function problemFrom(error: ErrorObject): ConfigProblem | undefined {
  // The keyword around the alternatives reports one problem for all of them.
  if (["if", "propertyNames"].includes(error.keyword) || error.schemaPath.includes("/oneOf/"))
    return undefined;
  const { propertyName } = error;
  const [member, what] = WORDS[error.keyword]?.(error) ?? ["", error.message];
  const named = propertyName === undefined ? member : memberPath(propertyName.slice(0, 64));
  const path = `${pathOf(error.instancePath)}${named}`.replace(/^\./, "");
  return { path, message: `${path === "" ? "the whole" : path}: ${what}` };
}

type Words = readonly [member: string, what: string | undefined];

/**
 * For each keyword: returns the property that is missing or unknown (empty for any other violation), and the message.
 */
const WORDS: { readonly [keyword: string]: (error: ErrorObject) => Words } = {
  required: ({ params }) => [memberPath(params["missingProperty"]), "is missing"],
  dependentRequired: ({ params }) => [
    memberPath(params["missingProperty"]),
    `is missing; it goes with ${quoted(params["property"])}`,
  ],
  additionalProperties({ params, parentSchema = {} }) {
    const name = String(params["additionalProperty"]).slice(0, 64);
    const known = Object.keys(parentSchema["properties"] ?? {});
    return [memberPath(name), `unknown property${meant(name, known)}`];
  },
  oneOf: ({ schema }) => ["", `must have ${oneOf(alternatives(schema))}, and only one of them`],
  enum({ params, data }) {
    const known: readonly string[] = params["allowedValues"];
    const near = nearest(data, known);
    const hint = near === undefined ? "" : `; did you mean ${quoted(near)}?`;
    return ["", `must be ${oneOf(known)}${hint}`];
  },
  type: ({ params }) => [
    "",
    `must be ${[params["type"]]
      .flat()
      .map((type) => KINDS[type])
      .join(" or ")}`,
  ],
  minLength: ({ params: { limit } }) => [
    "",
    limit === 1 ? "must not be empty" : `must have at least ${limit} characters`,
  ],
  minItems: () => ["", "must have at least one element"],
  minProperties: () => ["", "must have at least one property"],
  uniqueItems: ({ params }) => [`[${params["i"]}]`, "is there already"],
  minimum: ({ params }) => ["", `must be ${params["limit"]} or more`],
  maximum: ({ params }) => ["", `must be ${params["limit"]} or less`],
  pattern: ({ message, parentSchema = {} }) => ["", parentSchema["patternErrorMessage"] ?? message],
  format: () => ["", "is not a URL"],
};

/** Formats a path as in a program: `grants[1].operations[0]`. */
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

const KINDS: Readonly<Record<string, string>> = {
  string: "a string",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "an array",
  object: "an object",
};
