import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import { objectIn, textIn, textsIn } from "../../src/client/received.js";
import { usageError } from "../exit.js";
import { printable } from "../output.js";
import { didYouMean } from "../unknown-name.js";
import type { RemoteCard, RemoteSkill } from "./card.js";

const HANDLE = "resource-handle";

export interface SkillArgument {
  readonly name: string;
  /** The type in words, such as `string` or `array of handle`; `value` if the schema has no type. */
  readonly type: string;
  readonly takesHandles: "one" | "many" | "none";
  readonly required: boolean;
  readonly description: string | undefined;
}

/**
 * Returns the arguments of a skill, in the order of its schema; `undefined` if the card has no schema for the
 * skill.
 */
export function argumentsOf({ input }: RemoteSkill): readonly SkillArgument[] | undefined {
  if (input === undefined) return undefined;
  const required = textsIn(input["required"]);
  return Object.entries(objectIn(input["properties"])).map(([name, schema]) => {
    const property = objectIn(schema);
    return {
      name,
      type: typeOf(property),
      takesHandles: handlesIn(property),
      required: required.includes(name),
      description: textIn(property["description"]),
    };
  });
}

/**
 * Builds the arguments of a call from the given arguments and handles. The handles go to the arguments that
 * expect handles.
 *
 * @throws CliError if the skill expects no handles, or fewer handles.
 */
export function argumentsFrom(
  { name: agent, skills }: RemoteCard,
  id: string,
  given: JsonObject,
  handles: readonly string[],
): JsonObject {
  if (handles.length === 0) return given;
  const skill = skills.find((one) => one.id === id);
  if (skill === undefined) {
    const names = skills.map((one) => one.id);
    const hint = didYouMean(id, names, "proviso card shows its skills");
    throw usageError(`${agent} has no skill ${id.slice(0, 64)}`, hint);
  }
  const taking = (argumentsOf(skill) ?? []).filter(({ takesHandles }) => takesHandles !== "none");
  const [argument, ...others] = taking;
  if (argument === undefined) {
    const problem = `${skill.id} has no argument of its own that takes a resource`;
    throw usageError(problem, "proviso card shows its arguments");
  }
  if (others.length > 0) {
    const names = taking.map(({ name }) => `--arg ${printable(name)}=`).join(" or ");
    const problem = `${skill.id} takes resources in ${taking.length} arguments`;
    throw usageError(problem, `say which: ${names}`);
  }
  const { name, takesHandles } = argument;
  if (Object.hasOwn(given, name)) {
    throw usageError(`--resource and --arg ${name}= say the same thing`, "keep one of them");
  }
  const [only] = handles;
  if (takesHandles === "many") return { ...given, [name]: handles };
  if (handles.length > 1 || only === undefined) {
    throw usageError(`${skill.id} takes one resource a call`, "call it once for each");
  }
  return { ...given, [name]: only };
}

function typeOf(schema: JsonObject): string {
  if (schema["format"] === HANDLE) return "handle";
  const choices: readonly Json[] = Array.isArray(schema["enum"]) ? schema["enum"] : [];
  if (choices.length > 0 && choices.length <= 8) {
    return choices.map((one) => (typeof one === "string" ? one : JSON.stringify(one))).join("|");
  }
  const { type, items } = schema;
  if (type === "array" && items !== undefined && isJsonObject(items)) {
    return `array of ${typeOf(items)}`;
  }
  if (Array.isArray(type)) return textsIn(type).join(" or ");
  return textIn(type) ?? "value";
}

function handlesIn(schema: JsonObject): SkillArgument["takesHandles"] {
  if (schema["format"] === HANDLE) return "one";
  return objectIn(schema["items"])["format"] === HANDLE ? "many" : "none";
}
