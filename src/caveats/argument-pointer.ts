import { isObject } from "../bytes/json.js";

/** The names of members that lead from a call's arguments to one argument; at least one. */
export type ArgumentPath = readonly [string, ...string[]];

/** The place of an argument in a call: its value, or why it has none. */
export type Found =
  | { readonly kind: "present"; readonly value: unknown }
  | { readonly kind: "missing" }
  /** A member on the way, `holder`, has a `value` that is no object. */
  | { readonly kind: "unreachable"; readonly holder: string; readonly value: unknown }
  /** The value is longer than what may be judged: so many `units` or `elements`. */
  | { readonly kind: "oversized"; readonly value: unknown; readonly size: string };

const POINTER = /^(\/([^~/]|~[01])*)+$/;

/**
 * Reads the name of an argument in `operationConstraints`: that of a member at the top level or, if it begins with
 * `/`, a JSON Pointer (RFC 6901). Returns `undefined` for a pointer that is malformed, or that names an argument at
 * the top level which has a name without one.
 */
export function readArgumentName(name: string): ArgumentPath | undefined {
  if (!name.startsWith("/")) return [name];
  if (!POINTER.test(name)) return undefined;
  const [first = "", ...others] = name
    .slice(1)
    .split("/")
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
  return others.length > 0 || first.startsWith("/") ? [first, ...others] : undefined;
}

/** Writes the name of an argument in `operationConstraints`, as {@link readArgumentName} reads it. */
export function argumentName([first, ...others]: ArgumentPath): string {
  if (others.length === 0 && !first.startsWith("/")) return first;
  return [first, ...others]
    .map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/** Finds an argument in a call. Only own members of objects count, and no element of an array. */
export function findArgument(
  given: { readonly [name: string]: unknown },
  path: ArgumentPath,
): Found {
  let value: unknown = given;
  for (const [depth, name] of path.entries()) {
    if (!isObject(value)) return { kind: "unreachable", holder: path[depth - 1] ?? "", value };
    if (!Object.hasOwn(value, name)) return { kind: "missing" };
    value = value[name];
  }
  return { kind: "present", value };
}
