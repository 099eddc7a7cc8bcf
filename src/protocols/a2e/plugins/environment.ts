import { texts } from "../../../issuer/grant.js";

/** The environment of a program that a plugin starts. */
export interface Environment {
  /** Values of variables, by name. */
  readonly env?: { readonly [name: string]: string } | undefined;
  /** Names of variables to inherit from this process. */
  readonly inherit?: readonly string[] | undefined;
}

/**
 * Returns a program's environment: the variables of `env` and `inherit`, and no others.
 *
 * @throws TypeError naming the option that is wrong.
 */
export function environmentOf(
  { env = {}, inherit = [] }: Environment,
  where: string,
): { readonly [name: string]: string } {
  const own = texts(inherit, `${where}.inherit`).flatMap((name) => {
    const value = process.env[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  for (const [name, value] of Object.entries(env)) {
    if (typeof value === "string" && !/[=\0]/.test(name) && !value.includes("\0")) continue;
    throw new TypeError(`${where}.env.${name}: must be a string`);
  }
  return { ...Object.fromEntries(own), ...env };
}

/**
 * Returns a function that splits output into lines, shortens each line to `most` characters, and passes it to `take`.
 */
export function linesTo(most: number, take: (line: string) => void): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let held = "";
  return (bytes) => {
    const [first = "", ...others] = decoder.decode(bytes, { stream: true }).split("\n");
    held = (held + first).slice(0, most);
    for (const next of others) {
      take(held);
      held = next.slice(0, most);
    }
  };
}
