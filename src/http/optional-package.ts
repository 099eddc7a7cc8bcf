import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

/**
 * Loads an optional package when it is first needed.
 *
 * @param use - The feature that needs it; the beginning of a sentence.
 * @throws Error that says how to install it; its cause is Node's error.
 */
export function optionalPackage(name: string, use: string): unknown {
  try {
    return load(name);
  } catch (cause) {
    const message = `${use} needs the package ${name}, which cannot be loaded (npm install ${name})`;
    throw new Error(message, { cause });
  }
}
