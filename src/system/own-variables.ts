/**
 * Returns whether a variable of the environment configures proviso. Its value may be a token or a key. Windows ignores
 * case in the names of variables.
 */
export function isOwnVariable(name: string): boolean {
  return /^PROVISO_/i.test(name);
}

/** Copies an environment without the variables that configure proviso. */
export function withoutOwnVariables(env: { readonly [name: string]: string | undefined }): {
  [name: string]: string;
} {
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value === undefined || isOwnVariable(name) ? [] : [[name, value]],
    ),
  );
}
