// src/protocols/mcp/learn: records a session with an MCP server, and infers the limits that the session needs. This
// file infers limits from calls; recording.ts and recorder.ts record the session.

import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import { isWellFormed } from "../../../bytes/utf8.js";
import { CAPABILITY_LIMITS } from "../../../capability/limits.js";
import { type ArgumentPath, argumentName } from "../../../caveats/argument-pointer.js";
import type { ArgumentConstraint, Hop } from "../../../caveats/hop.js";
import { EVERY_OPERATION } from "../../../caveats/operation-authority.js";
import { encodeHop } from "../../../caveats/write-hop.js";
import { mayBePlaceName } from "./places.js";
import {
  asOperators,
  type Detail,
  type Learned,
  limitOfValues,
  unlimited,
} from "./value-limits.js";

/** One call of a recording. */
export interface RecordedCall {
  /** The operation, as the gate names it: `read_file`, `resources:read`. */
  readonly operation: string;
  readonly arguments: JsonObject;
  /**
   * Names of the arguments for which limits are learned; all arguments unless given. All calls of one operation have
   * the same names.
   */
  readonly limited?: readonly string[] | undefined;
}

/** The part of a hop that allows the recorded calls. */
export type LearnedHop = Pick<Hop, "operations" | "operationConstraints" | "arguments">;

/** An argument to which the hop sets no limit, or an array to whose elements the hop sets no limit. */
export interface OpenArgument {
  readonly operation: string;
  /** The name of the argument, or its JSON Pointer. */
  readonly argument: string;
  /** `true` if the argument is an array of a limited length, whose elements may have any value. */
  readonly isElements: boolean;
}

/** A recorded operation that the hop does not allow. */
export interface LeftOut {
  readonly operation: string;
  /** The argument for which there is no narrow limit; `undefined` if the reason is not an argument. */
  readonly argument?: string | undefined;
  /** Text to show after the argument and a colon; without an argument, after the operation and a colon. */
  readonly reason: string;
}

/** The result of {@link learnLimits}. */
export interface LearnedLimits {
  /** `undefined` if there are no calls, or every operation is left out. */
  readonly hop: LearnedHop | undefined;
  /** The number of calls for each operation of the hop. The operations are in the order of their first calls. */
  readonly calls: ReadonlyMap<string, number>;
  readonly open: readonly OpenArgument[];
  readonly leftOut: readonly LeftOut[];
}

/**
 * Levels of detail, from fine to coarse. The first level whose limits fit into a token is used, or else the last level.
 */
const DETAILS: readonly Omit<Detail, "allowBroad">[] = [
  { values: 3, places: 64 },
  { values: 3, places: 16 },
  { values: 1, places: 8 },
  { values: 0, places: 3 },
];

/** Maximum size of a learned hop, in bytes. A caveat has at most 8,192 bytes, and also needs space for an expiry. */
const MAX_BYTES = 7_680;

/**
 * Maximum number of different property names for which an object argument gets a limit for each property. With more
 * names, the object is treated as a map, whose names are data too.
 */
const MAX_MEMBERS = 32;

/**
 * Infers limits that allow the recorded calls and little else:
 * - the operations;
 * - for each operation, the closed list of its arguments;
 * - for each argument, the narrowest limit that all its values satisfy.
 *
 * The hop allows every recorded call of its operations. It leaves out an operation if a path or a URL in its arguments
 * could be limited only to `/`, or to a folder of one segment such as `/home`, or not at all.
 *
 * @param allowBroad - `true` keeps such operations.
 */
export function learnLimits(
  calls: Iterable<RecordedCall>,
  { allowBroad = false }: { readonly allowBroad?: boolean | undefined } = {},
): LearnedLimits {
  const byOperation = new Map<string, [RecordedCall, ...RecordedCall[]]>();
  for (const call of calls) {
    const known = byOperation.get(call.operation);
    if (known === undefined) byOperation.set(call.operation, [call]);
    else known.push(call);
  }
  let learned: LearnedLimits = { hop: undefined, calls: new Map(), open: [], leftOut: [] };
  for (const detail of DETAILS) {
    learned = learnedWith(byOperation, { ...detail, allowBroad });
    if (learned.hop === undefined || encodeHop(learned.hop).length <= MAX_BYTES) break;
  }
  return learned;
}

function learnedWith(
  byOperation: ReadonlyMap<string, readonly [RecordedCall, ...RecordedCall[]]>,
  detail: Detail,
): LearnedLimits {
  const calls = new Map<string, number>();
  const constraints = new Map<string, { readonly [argument: string]: ArgumentConstraint }>();
  const lists = new Map<string, readonly string[]>();
  const open: OpenArgument[] = [];
  const leftOut: LeftOut[] = [];
  for (const [operation, recorded] of byOperation) {
    const given = recorded.map((call) => call.arguments);
    const names = [...new Set(given.flatMap((one) => Object.keys(one)))];
    const problem = namesProblem(operation, names);
    if (problem !== undefined) {
      leftOut.push({ operation, reason: problem });
      continue;
    }
    const own = new OperationLimits(detail);
    own.addCalls(given, recorded[0].limited);
    const broad = own.broad[0];
    if (broad !== undefined) {
      leftOut.push({ operation, ...broad });
      continue;
    }
    calls.set(operation, given.length);
    lists.set(operation, names);
    if (own.limits.size > 0) constraints.set(operation, Object.fromEntries(own.limits));
    for (const one of own.open) open.push({ operation, ...one });
  }
  if (calls.size === 0) return { hop: undefined, calls, open, leftOut };
  const hop: LearnedHop = {
    operations: [...calls.keys()],
    arguments: Object.fromEntries(lists),
    ...(constraints.size === 0 ? {} : { operationConstraints: Object.fromEntries(constraints) }),
  };
  return { hop, calls, open, leftOut };
}

/** Returns why a hop cannot name an operation or its arguments; `undefined` if it can. */
function namesProblem(operation: string, names: readonly string[]): string | undefined {
  if (operation === "" || operation === EVERY_OPERATION)
    return "its name stands for no single tool";
  if (!isWellFormed(operation)) return "its name is no Unicode text";
  if (!names.every(isWellFormed)) return "the name of an argument is no Unicode text";
  return names.length > CAPABILITY_LIMITS.setMembers
    ? `it has more than ${CAPABILITY_LIMITS.setMembers} arguments`
    : undefined;
}

/** Collects the limits on the arguments of one operation. */
class OperationLimits {
  readonly limits: Map<string, ArgumentConstraint> = new Map();
  /** Arguments that may have any value. */
  readonly open: Omit<OpenArgument, "operation">[] = [];
  /** Arguments with values that no narrow limit allows. */
  readonly broad: { readonly argument: string; readonly reason: string }[] = [];
  readonly #detail: Detail;

  constructor(detail: Detail) {
    this.#detail = detail;
  }

  /** @param limited - Names of the arguments for which limits are learned; all arguments unless given. */
  addCalls(given: readonly JsonObject[], limited: readonly string[] | undefined): void {
    const isLimited = (name: string): boolean => limited?.includes(name) ?? true;
    const kept = given.map((one) =>
      Object.fromEntries(Object.entries(one).filter(([name]) => isLimited(name))),
    );
    this.#addMembers([], kept, false);
    for (const name of new Set(given.flatMap((one) => Object.keys(one)))) {
      if (!isLimited(name)) this.open.push({ argument: argumentName([name]), isElements: false });
    }
  }

  /**
   * Adds the properties of objects that are at the same path in their calls.
   *
   * @param isOptional - `true` if at least one call has no object at this path.
   */
  #addMembers(path: readonly string[], objects: readonly JsonObject[], isOptional: boolean): void {
    const members = new Map<string, Json[]>();
    for (const object of objects) {
      for (const [name, value] of Object.entries(object)) {
        const known = members.get(name);
        if (known === undefined) members.set(name, [value]);
        else known.push(value);
      }
    }
    for (const [name, values] of members) {
      this.#add(nonEmpty([...path, name]), values, isOptional || values.length < objects.length);
    }
  }

  #add(path: ArgumentPath, values: readonly Json[], isOptional: boolean): void {
    if (values.every(isJsonObject) && this.#areRecords(values)) {
      this.#addMembers(path, values, isOptional);
      return;
    }
    const name = path[path.length - 1] ?? "";
    const learned = values.some(isJsonObject)
      ? unlimited(values, name, this.#detail)
      : limitOfValues(values, name, this.#detail);
    this.#take(path, learned, isOptional);
  }

  /** Returns whether objects get a limit for each property. */
  #areRecords(objects: readonly JsonObject[]): boolean {
    const names = [...new Set(objects.flatMap((object) => Object.keys(object)))];
    // Limits on properties do not exclude further properties. If names can be paths, the object could have any other
    // path as a name.
    const areSafe = this.#detail.allowBroad || !names.some(mayBePlaceName);
    return names.length > 0 && names.length <= MAX_MEMBERS && areSafe && names.every(isWellFormed);
  }

  #take(path: ArgumentPath, learned: Learned, isOptional: boolean): void {
    const argument = argumentName(path);
    if (learned.kind === "any") this.open.push({ argument, isElements: false });
    else if (learned.kind === "too-broad") this.broad.push({ argument, reason: learned.reason });
    else {
      const { limit, each, anyElements = false } = learned;
      if (anyElements) this.open.push({ argument, isElements: true });
      const isPlain = each === undefined && !isOptional;
      const constraint = isPlain
        ? limit
        : {
            ...asOperators(limit),
            ...(each === undefined ? {} : { each }),
            ...(isOptional ? { optional: true as const } : {}),
          };
      this.limits.set(argument, constraint);
    }
  }
}

function nonEmpty(path: readonly string[]): ArgumentPath {
  const [first = "", ...others] = path;
  return [first, ...others];
}
