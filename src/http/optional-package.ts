import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

/**
 * Loads a package that not every user of an entry needs, when it is needed.
 *
 * @param use - What needs it, as the start of a sentence.
 * @throws Error that says how to install it; its cause is the error of Node.
 */
export function optionalPackage(name: string, use: string): unknown {
  try {
    return load(name);
  } catch (cause) {
    const message = `${use} needs the package ${name}, which cannot be loaded (npm install ${name})`;
    throw new Error(message, { cause });
  }
}
