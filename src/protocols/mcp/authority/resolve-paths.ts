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
 * Follows symbolic links in the paths of a call that the tokens allow. Returns a denial for each folder limit of a hop
 * if a link leads a path out of the folder. The links can still change before the server opens the file. For a URI with
 * percent-escapes, follows both the decoded path and the path with its escapes.
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
  const leadsOut = ({ argument, folder }: FolderLimit): boolean => {
    const paths = pathsIn(given, argument);
    const others = paths.length === 0 ? [] : undecodedPaths(undecodedPath);
    return !allStay([...paths, ...others], folder, base);
  };
  return tokens.flatMap((token, capability) =>
    folderLimits(token, operation)
      .filter(leadsOut)
      .map(({ hop, discharge, rule, argument, folder }) => ({
        code: "constraint_violated",
        hop,
        discharge: discharge > 0 ? discharge : undefined,
        capability: tokens.length > 1 ? capability : undefined,
        rule,
        expected: folder,
        message: `argument ${shown(argument)} leads out of ${shown(folder)} by a symbolic link${undecoded}`,
      })),
  );
}

/** A folder limit of a hop, for an argument of an operation or for each element of the argument. */
interface FolderLimit {
  /** The number of the hop in its macaroon, from 1. */
  readonly hop: number;
  /** The number of the discharge that has the hop; 0 for the token itself. */
  readonly discharge: number;
  /** The name of the rule in denials, such as `operationConstraints.read.path.path`. */
  readonly rule: string;
  /** The name of the argument, or a JSON Pointer into it. */
  readonly argument: string;
  readonly folder: string;
}

function folderLimits({ chains }: AuthenticToken, operation: string): readonly FolderLimit[] {
  return chains.flatMap(({ links }, discharge) =>
    links.flatMap((link, at) => {
      const limits = link.kind === "hop" ? limitsIn(link.hop, operation) : [];
      return limits.map((limit) => ({ hop: at + 1, discharge, ...limit }));
    }),
  );
}

function limitsIn(
  hop: Hop,
  operation: string,
): readonly Pick<FolderLimit, "rule" | "argument" | "folder">[] {
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

/** Returns the folders that a constraint names, each with its operator: `path`, or `each` for the elements. */
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

/** Returns the argument if it is a string, or those of its elements that are strings. */
function pathsIn(given: JsonObject, argument: string): readonly string[] {
  const found = findArgument(given, readArgumentName(argument) ?? [argument]);
  const values: readonly unknown[] = found.kind === "present" ? [found.value].flat() : [];
  return values.filter((value) => typeof value === "string");
}

/**
 * Returns the path as written if its beginning, through the first segment with an escape, exists on disk. A server that
 * does not decode escapes can then open the path.
 */
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
    // The system cannot read a link, or the chain of links is too long.
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
 * Returns the path to which an absolute path leads when every symbolic link in it is followed. A link is followed even
 * if its target does not exist, because the server might create the target.
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
