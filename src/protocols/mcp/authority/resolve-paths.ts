import { lstatSync, readlinkSync } from "node:fs";
import { dirname, isAbsolute, join, resolve } from "node:path";
import type { AgentDenial } from "../../../agent/refusal.js";
import type { JsonObject } from "../../../bytes/json.js";
import type { AuthenticToken } from "../../../capability/authentic-token.js";
import { findArgument, readArgumentName } from "../../../caveats/argument-pointer.js";
import { type ArgumentConstraint, type Hop, ownMember } from "../../../caveats/hop.js";
import { ruleOf } from "../../../caveats/hop-rule.js";
import { entriesFor, entryRule } from "../../../caveats/operation-authority.js";
import { isBelow } from "../../../caveats/path-form.js";
import { shown } from "../../../caveats/scalar.js";
import { errorCode } from "../../../system/error-code.js";
import type { GateCall } from "./gate-authority.js";

/**
 * Follows the symbolic links of paths in a call that its tokens allow, and returns a denial for each path that leads
 * out of a folder to which a hop limits it. Links may change before the server opens the file: this finds links that
 * are there, and locks nothing. Of a URI with escapes, both paths are followed: with them and decoded.
 *
 * @param base - The folder from which the server reads relative paths.
 */
export function linkDenials(
  {
    operation,
    arguments: given,
    undecodedPath,
  }: Pick<GateCall, "operation" | "arguments" | "undecodedPath">,
  tokens: readonly AuthenticToken[],
  base: string,
): readonly AgentDenial[] {
  const undecoded =
    undecodedPath === undefined ? "" : ", or in a server that does not decode escapes";
  return tokens.flatMap(({ chains }, capability) =>
    chains.flatMap(({ links }, discharge) =>
      links.flatMap((link, at) => {
        if (link.kind !== "hop") return [];
        return folderLimits(link.hop, operation)
          .filter(({ argument, folder }) => {
            const paths = pathsIn(given, argument);
            const others = paths.length === 0 ? [] : undecodedPaths(undecodedPath);
            return !allStay([...paths, ...others], folder, base);
          })
          .map(({ rule, argument, folder }): AgentDenial => {
            const message = `argument ${shown(argument)} leads out of ${shown(folder)} by a symbolic link${undecoded}`;
            return {
              code: "constraint_violated",
              hop: at + 1,
              ...(discharge > 0 ? { discharge } : {}),
              ...(tokens.length > 1 ? { capability } : {}),
              rule,
              expected: folder,
              message,
            };
          });
      }),
    ),
  );
}

/** The folder to which a hop limits an argument of an operation, or each of its elements. */
interface FolderLimit {
  /** The rule, as denials name it, such as `operationConstraints.read.path.path`. */
  readonly rule: string;
  /** The name of the argument, or a JSON Pointer into it. */
  readonly argument: string;
  readonly folder: string;
}

function folderLimits(hop: Hop, operation: string): readonly FolderLimit[] {
  const entries = ownMember(hop, "operationConstraints") ?? {};
  return entriesFor(entries, operation).flatMap(([entry, constraints]) =>
    Object.entries(constraints).flatMap(([argument, limit]) =>
      foldersOf(limit).map(([operator, folder]) => {
        const rule = ruleOf(entryRule("operationConstraints", entry), argument);
        return { rule: `${rule}.${operator}`, argument, folder };
      }),
    ),
  );
}

/** Returns the folders to which a limit keeps an argument, each with the operator that says so. */
function foldersOf(
  limit: ArgumentConstraint,
): readonly (readonly [operator: string, folder: string])[] {
  if (limit === null || typeof limit !== "object") return [];
  const each = ownMember(limit, "each");
  const own = ownMember(limit, "path");
  const ofEach = each === undefined ? undefined : ownMember(each, "path");
  return [
    ...(own === undefined ? [] : [["path", own] as const]),
    ...(ofEach === undefined ? [] : [["each", ofEach] as const]),
  ];
}

/** Returns the strings of an argument: the argument itself, or its elements. */
function pathsIn(given: JsonObject, argument: string): readonly string[] {
  const found = findArgument(given, readArgumentName(argument) ?? [argument]);
  const values: readonly unknown[] = found.kind === "present" ? [found.value].flat() : [];
  return values.filter((value) => typeof value === "string");
}

/** Returns the path of a URI with its escapes, if a server that does not decode them finds something there. */
function undecodedPaths(path: string | undefined): readonly string[] {
  const [firstEscaped] = /^[^%]*%[^/]*/.exec(path ?? "") ?? [];
  return path !== undefined && firstEscaped !== undefined && isThere(firstEscaped) ? [path] : [];
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch (error) {
    return !["ENOENT", "ENOTDIR", "ENAMETOOLONG"].includes(errorCode(error));
  }
}

/** Returns whether every path leads to the folder or below it. */
function allStay(paths: readonly string[], folder: string, base: string): boolean {
  try {
    const allowed = targetOf(resolve(base, folder));
    return paths.every((path) => isBelow(allowed, targetOf(resolve(base, path))));
  } catch (error) {
    // A link that cannot be read, or a chain of links without an end.
    if (error instanceof EndlessLinksError || errorCode(error) !== "") return false;
    throw error;
  }
}

/** Maximum number of links that are followed for one path, as on Linux. */
const MAX_LINKS = 40;

class EndlessLinksError extends Error {
  override readonly name = "EndlessLinksError";
}

/**
 * Returns where an absolute path leads: each symbolic link on the way is followed, also one to something that does not
 * exist yet, which the server might make.
 */
function targetOf(path: string): string {
  let target = "/";
  let links = 0;
  const left = path.split("/");
  for (let name = left.shift(); name !== undefined; name = left.shift()) {
    if (name === "" || name === ".") continue;
    const here = name === ".." ? dirname(target) : join(target, name);
    const link = linkAt(here);
    if (link === undefined) {
      target = here;
      continue;
    }
    links++;
    if (links > MAX_LINKS) throw new EndlessLinksError();
    if (isAbsolute(link)) target = "/";
    left.unshift(...link.split("/"));
  }
  return target;
}

/** Returns the target of the symbolic link at a path; `undefined` if there is no link at the path. */
function linkAt(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (["EINVAL", "ENOENT", "ENOTDIR"].includes(errorCode(error))) return undefined;
    throw error;
  }
}
