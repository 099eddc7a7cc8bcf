import type { Ajv2020 } from "ajv/dist/2020.js";
import { type Json, type JsonObject, textsIn } from "../bytes/json.js";
import { deepFrozen } from "../capability/frozen.js";
import { plainArguments } from "../caveats/invocation.js";
import { shown } from "../caveats/scalar.js";
import { assertArray, notA } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";
import { plainCopy } from "../checks/plain.js";
import { isHandle } from "../issuer/handle.js";
import type { OperationInvocation, SkillInvocation } from "./clearance.js";
import { ownPresented } from "./presented.js";
import type { AgentDenial } from "./refusal.js";
import type { Skill } from "./skill.js";

/**
 * Checks arguments against a skill's schema.
 *
 * @returns At most the first 16 violations; empty if there is none.
 */
export type ArgumentCheck = (values: { readonly [name: string]: Json }) => readonly AgentDenial[];

const MAX_REPORTED = 16;
const MAX_PATH_LENGTH = 256;

/** Validates schemas against the JSON Schema meta-schema, for all agents. */
let judge: Ajv2020 | undefined;

/**
 * Compiles the schemas of skills.
 *
 * @param where - The name of the list in errors, such as `skills`.
 * @throws TypeError naming the schema that is wrong, such as `skills[2].input`.
 * @throws Error if `ajv` is not installed.
 */
export async function compileArgumentChecks(
  skills: readonly Pick<Skill, "id" | "input">[],
  where = "skills",
): Promise<ReadonlyMap<string, ArgumentCheck>> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  // Compiling the meta-schema takes far longer than compiling a skill's schema, so compile it once per process.
  judge ??= new Ajv2020();
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    allowUnionTypes: true,
    ownProperties: true,
    meta: false,
    validateSchema: false,
  });
  ajv.addFormat("resource-handle", { type: "string", validate: isHandle });
  const checks = new Map<string, ArgumentCheck>();
  for (const [at, { id, input }] of skills.entries()) {
    try {
      if (judge.validateSchema(input) !== true) {
        throw new TypeError(`schema is invalid: ${judge.errorsText()}`);
      }
      const validate = ajv.compile(input);
      // An asynchronous check returns a promise, which is truthy, so all arguments would be accepted.
      if ("$async" in validate) throw new TypeError("it is asynchronous");
      checks.set(id, (values) => {
        if (validate(values)) return [];
        return (validate.errors ?? [])
          .slice(0, MAX_REPORTED)
          .map(({ instancePath: whole, message, params }) => {
            const instancePath = whole.slice(0, MAX_PATH_LENGTH);
            const extra = params["additionalProperty"];
            const named = typeof extra === "string" ? ` ${shown(extra)}` : "";
            const place =
              instancePath === "" ? "the arguments" : `argument ${instancePath.slice(1)}`;
            return {
              code: "arguments_invalid",
              rule: instancePath === "" ? "arguments" : `arguments${instancePath}`,
              message: `${place} ${message ?? "fail the schema"}${named}`,
            };
          });
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new TypeError(`${where}[${at}].input: is not a valid JSON Schema: ${why}`, {
        cause: error,
      });
    }
  }
  return checks;
}

/**
 * Copies a call and freezes its arguments, so that the caller's code cannot change the arguments after the
 * check.
 *
 * @param known - The allowed property names.
 * @throws TypeError naming the value that is not plain data, is unknown, or has the wrong type.
 */
export function ownInvocation<Of extends SkillInvocation | OperationInvocation>(
  invocation: Of,
  known: readonly string[],
): Of {
  const own = knownMembers(invocation, known, "invocation");
  const { capabilities, declared } = own;
  assertArray(capabilities, "invocation.capabilities", "capabilities, empty for ambient authority");
  if (declared !== undefined && typeof declared !== "boolean") {
    throw notA("invocation.declared", "a boolean", declared);
  }
  const given = deepFrozen(plainArguments(own.arguments, "invocation.arguments"));
  return { ...own, arguments: given, capabilities: ownPresented(capabilities) };
}

/** Copies the checked arguments for a skill, which may modify its copy. */
export function skillArguments(judged: JsonObject): JsonObject {
  return plainCopy(judged, "arguments", "arguments");
}

/** Returns every distinct string in the arguments that has the form of a handle, at any depth. */
export function handlesIn(value: Json): string[] {
  return [...new Set(textsIn(value))].filter(isHandle);
}
