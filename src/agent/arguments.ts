import type { Ajv2020 } from "ajv/dist/2020.js";
import { isJsonObject, isObject, type Json, type JsonObject, textsIn } from "../bytes/json.js";
import { shown } from "../caveats/scalar.js";
import { isHandle } from "../issuer/handle.js";
import type { OperationInvocation, SkillInvocation } from "./clearance.js";
import type { AgentDenial } from "./refusal.js";
import type { Skill } from "./skill.js";

/** Judges arguments by a skill's schema: every way in which they fail, none if they do not. */
export type ArgumentCheck = (values: { readonly [name: string]: Json }) => readonly AgentDenial[];

const MAX_REPORTED = 16;
const MAX_PATH_LENGTH = 256;

/** Knows what a JSON Schema is, and holds no schema itself. */
let judge: Ajv2020 | undefined;

/**
 * Compiles the schemas of what takes arguments.
 *
 * @param where - What errors call them.
 * @throws TypeError naming the schema that is wrong, such as `skills[2].input`.
 * @throws Error if `ajv` is not installed.
 */
export async function compileArgumentChecks(
  skills: readonly Pick<Skill, "id" | "input">[],
  where = "skills",
): Promise<ReadonlyMap<string, ArgumentCheck>> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  // Compiling what schemas are judged by takes far longer than compiling them: once a process.
  judge ??= new Ajv2020();
  const ajv = new Ajv2020({
    ...{ allErrors: true, strict: true, allowUnionTypes: true, ownProperties: true },
    ...{ meta: false, validateSchema: false },
  });
  ajv.addFormat("resource-handle", { type: "string", validate: isHandle });
  const checks = new Map<string, ArgumentCheck>();
  for (const [at, { id, input }] of skills.entries()) {
    try {
      if (judge.validateSchema(input) !== true) {
        throw new TypeError(`schema is invalid: ${judge.errorsText()}`);
      }
      const validate = ajv.compile(input);
      // Its answer would be a promise, which is as good as yes.
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

/** Arrays and objects within each other, in arguments: what is nested deeper may hold itself. */
const MAX_NESTED = 256;

/**
 * A copy with frozen arguments: nothing that its caller does meanwhile changes what is judged.
 *
 * @throws TypeError if the arguments are not JSON.
 */
export function ownInvocation<Of extends SkillInvocation | OperationInvocation>(
  invocation: Of,
): Of {
  const { arguments: given, capabilities } = invocation;
  const own = copied(given, (copy) => Object.freeze(copy));
  return { ...invocation, arguments: own, capabilities: [...capabilities] };
}

/** A copy of what was judged for a skill, which may change what it is given. */
export function skillArguments(judged: JsonObject): JsonObject {
  return copied(judged, (copy) => copy);
}

type Finish = <Of extends object>(copy: Of) => Of;

function copied(given: JsonObject, finish: Finish): JsonObject {
  if (!isObject(given)) throw new TypeError("arguments: must be an object");
  return copyOf(given, finish, MAX_NESTED);
}

function copyOf(object: JsonObject, finish: Finish, room: number): JsonObject {
  const members = Object.entries(object).filter(([, one]) => one !== undefined);
  return finish(
    Object.fromEntries(members.map(([name, one]) => [name, copyOfOne(one, finish, room)])),
  );
}

function copyOfOne(value: Json, finish: Finish, room: number): Json {
  if (typeof value === "object" && value !== null) {
    if (room === 0) throw new TypeError(`arguments: are nested more than ${MAX_NESTED} deep`);
    if (isJsonObject(value)) return copyOf(value, finish, room - 1);
    return finish(Array.from(value, (one) => copyOfOne(one, finish, room - 1)));
  }
  if (value === null || SCALARS.includes(typeof value)) return value;
  throw new TypeError(`arguments: must be JSON; they hold: ${typeof value}`);
}

const SCALARS: readonly string[] = ["string", "number", "boolean"];

/** Every text in the arguments that is written like a handle, wherever it stands, each once. */
export function handlesIn(value: Json): string[] {
  return [...new Set(textsIn(value))].filter(isHandle);
}
