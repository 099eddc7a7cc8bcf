import { isObject } from "../bytes/json.js";

/** The property names that lead from a call's arguments to one argument; at least one. */
export type ArgumentPath = readonly [string, ...string[]];

/** The result of looking for an argument in a call: the argument's value, or the reason why no value can be judged. */
export type Found =
  | { readonly kind: "present"; readonly value: unknown }
  | { readonly kind: "missing" }
  /** `holder`, a property on the path to the argument, has a `value` that is not an object. */
  | { readonly kind: "unreachable"; readonly holder: string; readonly value: unknown }
  /** The value is too long to be judged. `size` describes its length, such as `300 elements`. */
  | { readonly kind: "oversized"; readonly value: unknown; readonly size: string };

const POINTER = /^(\/([^~/]|~[01])*)+$/;

/**
 * Reads the name of an argument in `operationConstraints`: a top-level property or, if the name begins with `/`, a JSON
 * Pointer (RFC 6901). Returns `undefined` for a malformed pointer, and for a pointer such as `/amount`: this argument
 * must be named `amount`, so that each argument has only one name.
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

/** Returns the name of an argument in `operationConstraints`; the inverse of {@link readArgumentName}. */
export function argumentName([first, ...others]: ArgumentPath): string {
  if (others.length === 0 && !first.startsWith("/")) return first;
  return [first, ...others]
    .map((token) => `/${token.replaceAll("~", "~0").replaceAll("/", "~1")}`)
    .join("");
}

/** Finds an argument in a call. Only follows own properties of objects, never elements of arrays. */
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
