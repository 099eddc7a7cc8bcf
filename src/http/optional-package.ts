import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

/**
 * Loads an optional package.
 *
 * @param use - The feature that needs the package; the beginning of a sentence.
 * @throws Error that says how to install the package. Its `cause` is Node's error.
 */
export function optionalPackage(name: string, use: string): unknown {
  try {
    return load(name);
  } catch (cause) {
    const message = `${use} needs the package ${name}, which cannot be loaded (npm install ${name})`;
    throw new Error(message, { cause });
  }
}
