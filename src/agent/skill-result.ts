import { isDeeperThan, type Json } from "../bytes/json.js";

/** Most arrays and objects within each other in a result, as in arguments. */
const MAX_NESTED = 256;

/** A skill has run, and its result cannot be written as JSON. */
export class SkillResultError extends Error {
  override readonly name = "SkillResultError";
}

/**
 * Turns what a skill returned into JSON, once: every answer and every store then holds the same value.
 *
 * @returns The value as `JSON.stringify` writes it; `null` if the skill returned nothing.
 * @throws SkillResultError for what `JSON.stringify` cannot write, such as a BigInt, a cycle or a function, and for
 *   a value nested more than 256 deep.
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
