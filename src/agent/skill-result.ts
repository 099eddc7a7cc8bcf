import { isDeeperThan, type Json } from "../bytes/json.js";

/** Maximum nesting depth of arrays and objects in a result, the same as in arguments. */
const MAX_NESTED = 256;

/** Thrown if a skill has run, but its result cannot be written as JSON. */
export class SkillResultError extends Error {
  override readonly name = "SkillResultError";
}

/**
 * Converts a skill's result to JSON once, so that every answer and every store has the same value.
 *
 * @returns The value as `JSON.stringify` writes it; `null` if the skill returned `undefined`.
 * @throws SkillResultError for what `JSON.stringify` cannot write, such as a BigInt, a cycle or a function, and
 *   for a value nested more than 256 deep.
 */
export function resultAsJson(value: unknown): Json {
  const json = value === undefined ? null : written(value);
  if (!isDeeperThan(json, MAX_NESTED)) return json;
  throw new SkillResultError(`the result is nested more than ${MAX_NESTED} deep`);
}

function written(value: unknown): Json {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new SkillResultError("the result cannot be written as JSON", { cause });
  }
  if (text !== undefined) return JSON.parse(text);
  throw new SkillResultError(`the result is a ${typeof value}, which JSON does not have`);
}
