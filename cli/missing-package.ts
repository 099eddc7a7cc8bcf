import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { isErrno } from "../src/system/error-code.js";
import type { Context } from "./context.js";
import { CliError, environmentError } from "./exit.js";
import { packageFile } from "./package-file.js";

/** Packages that the build bundles into the command. */
const BUNDLED = ["@noble/curves", "kysely", "lru-cache"];
/** Node's message for a missing package; for a missing file it has the path instead. */
const NOT_FOUND = /^Cannot find (?:package|module) '((?:@[^/']+\/)?[a-z\d][^/'\\:]*)[/']/i;

/**
 * Returns the error about missing packages, if that is the cause of an error. It names all missing packages of
 * the command, not only the first, so that they can be installed in one step.
 */
export function missingPackages(context: Context, error: unknown): CliError | undefined {
  const missed = missedBy(error);
  if (missed === undefined) return undefined;
  const ours = optionalPackages();
  // Another package is missing for a module of the user's own, or for one of these packages.
  const found = ours.includes(missed) ? ours.filter(isMissing) : [];
  const names = found.length === 0 ? [missed] : found;
  const message = `not installed, and needed: ${names.join(", ")}`;
  const scope = isInProject(context) ? "" : "--global ";
  return environmentError("package_missing", message, `npm install ${scope}${names.join(" ")}`);
}

/** Returns the package that an error of Node, or its cause, reports as missing. */
function missedBy(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof CliError) return undefined;
  if (!isErrno(error) || !error.code?.endsWith("MODULE_NOT_FOUND")) return missedBy(error.cause);
  return NOT_FOUND.exec(error.message)?.[1];
}

function optionalPackages(): readonly string[] {
  const text = readFileSync(packageFile("package.json"), "utf8");
  const { peerDependencies = {} }: { readonly peerDependencies?: object } = JSON.parse(text);
  return Object.keys(peerDependencies).filter((name) => !BUNDLED.includes(name));
}

function isMissing(name: string): boolean {
  try {
    createRequire(packageFile("package.json")).resolve(name);
    return false;
  } catch (error) {
    // A package without an entry for `require` still exists.
    return isErrno(error) && error.code === "MODULE_NOT_FOUND";
  }
}

/** Returns true if the command is installed in the user's project, and not globally. */
function isInProject({ cwd }: Context): boolean {
  const [project = ""] = fileURLToPath(packageFile("./")).split(/[\\/]node_modules[\\/]/);
  return cwd !== undefined && !relative(project, cwd).startsWith("..");
}
