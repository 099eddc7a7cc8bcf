import type { ArgumentCheck } from "../../../agent/arguments.js";
import type { Json, JsonObject } from "../../../bytes/json.js";
import { writtenDenials } from "../errors.js";
import { PluginError } from "../plugin.js";

/** @throws PluginError `arguments_invalid` if the arguments fail the check; `detail.denials` lists the violations. */
export function assertArguments(check: ArgumentCheck | undefined, given: JsonObject): void {
  const [first, ...others] = check?.(given) ?? [];
  if (first === undefined) return;
  const denials = writtenDenials([first, ...others]);
  const more = others.length === 0 ? "" : `, and ${others.length} more`;
  throw new PluginError("arguments_invalid", `${first.message}${more}`, { detail: { denials } });
}

/**
 * Reads a required string argument.
 *
 * @throws PluginError `arguments_invalid` if the argument is absent or not a string.
 */
export function textArgument(given: JsonObject, name: string): string {
  const text = optionalText(given, name);
  if (text !== undefined) return text;
  throw new PluginError("arguments_invalid", `argument ${name} is missing`);
}

/**
 * Reads an optional string argument.
 *
 * @throws PluginError `arguments_invalid` if the argument is not a string.
 */
export function optionalText(given: JsonObject, name: string): string | undefined {
  const value = memberOf(given, name);
  if (value === undefined || typeof value === "string") return value;
  throw new PluginError("arguments_invalid", `argument ${name} must be a string`);
}

/**
 * Reads an optional integer argument.
 *
 * @throws PluginError `arguments_invalid` if the argument is not an integer within the bounds.
 */
export function optionalWhole(
  given: JsonObject,
  name: string,
  [least, most]: readonly [least: number, most: number],
): number | undefined {
  const value = memberOf(given, name);
  if (value === undefined) return undefined;
  const whole = typeof value === "number" && Number.isSafeInteger(value);
  if (whole && value >= least && value <= most) return value;
  const message = `argument ${name} must be a whole number from ${least} to ${most}`;
  throw new PluginError("arguments_invalid", message);
}

/** Returns the value of an own property. Ignores inherited properties, such as `constructor`. */
export function memberOf(given: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(given, name) ? given[name] : undefined;
}
