// src/protocols/mcp/learn: what a session with an MCP server needs, from a recording of it. This file has the
// inference, which is a function of the calls alone; recording.ts and recorder.ts have the recording.

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
  /** The arguments whose values are looked at; all unless given. Those of one operation are the same in all calls. */
  readonly limited?: readonly string[] | undefined;
}

/** The part of a hop that allows what was seen. */
export type LearnedHop = Pick<Hop, "operations" | "operationConstraints" | "arguments">;

/** An argument, or the elements of one, that may have any value, since no limit says what its values have in common. */
export interface OpenArgument {
  readonly operation: string;
  /** The name of the argument, or its JSON Pointer. */
  readonly argument: string;
  /** True if the argument is an array of a limited length, whose elements may have any value. */
  readonly isElements: boolean;
}

/** An operation that the hop does not have, though it was seen. */
export interface LeftOut {
  readonly operation: string;
  /** The argument for which there is no narrow limit; `undefined` if the reason is not an argument. */
  readonly argument?: string | undefined;
  /** The end of a sentence about the argument, or about the operation. */
  readonly reason: string;
}

/** The result of {@link learnLimits}. */
export interface LearnedLimits {
  /** `undefined` if no call is left. */
  readonly hop: LearnedHop | undefined;
  /** The number of calls of each operation of the hop, in the order in which these were first seen. */
  readonly calls: ReadonlyMap<string, number>;
  readonly open: readonly OpenArgument[];
  readonly leftOut: readonly LeftOut[];
}

/** Levels of detail: the first whose limits fit into a token is used. */
const DETAILS: readonly Omit<Detail, "allowBroad">[] = [
  { values: 3, places: 64 },
  { values: 3, places: 16 },
  { values: 1, places: 8 },
  { values: 0, places: 3 },
];

/** Bytes that a hop may have here; a caveat has 8,192 at most, and holds an expiry too. */
const MAX_BYTES = 7_680;

/** Members of an object that are looked at one by one; one with more is a map, whose names are values too. */
const MAX_MEMBERS = 32;

/**
 * Returns the limits that allow what was seen, and little else: the operations; for each the closed list of its
 * arguments; and for each argument the narrowest limit that all its values have in common. A call that the hop has the
 * operation of is allowed by it. A path or a URL is never allowed below `/`, below a folder of one segment such as
 * `/home`, or without a limit: such an operation is left out.
 *
 * @param allowBroad - Allows these too.
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
  /** Arguments that no narrow limit allows. */
  readonly broad: { readonly argument: string; readonly reason: string }[] = [];
  readonly #detail: Detail;

  constructor(detail: Detail) {
    this.#detail = detail;
  }

  /** @param limited - The arguments that are looked at; all unless given. */
  addCalls(given: readonly JsonObject[], limited: readonly string[] | undefined): void {
    if (limited === undefined) {
      this.#addMembers([], given, false);
      return;
    }
    const isLimited = (name: string): boolean => limited.includes(name);
    const seen = new Set(given.flatMap((one) => Object.keys(one)));
    this.#addMembers(
      [],
      given.map((one) =>
        Object.fromEntries(Object.entries(one).filter(([name]) => isLimited(name))),
      ),
      false,
    );
    for (const name of seen) {
      if (!isLimited(name)) this.open.push({ argument: argumentName([name]), isElements: false });
    }
  }

  /**
   * Adds the members of some objects, which all stand at the same place of their calls.
   *
   * @param isOptional - True if a call has no object there.
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
    const name = path[path.length - 1] ?? "";
    if (values.every(isJsonObject)) {
      const names = [...new Set(values.flatMap((value) => Object.keys(value)))];
      // Limits on members do not close the list of them: beside a path as a name, any other may stand.
      const areSafe = this.#detail.allowBroad || !names.some(mayBePlaceName);
      const areFew = names.length > 0 && names.length <= MAX_MEMBERS;
      if (areFew && areSafe && names.every(isWellFormed)) {
        this.#addMembers(path, values, isOptional);
        return;
      }
      this.#take(path, unlimited(values, name, this.#detail), isOptional);
      return;
    }
    this.#take(
      path,
      values.some(isJsonObject)
        ? unlimited(values, name, this.#detail)
        : limitOfValues(values, name, this.#detail),
      isOptional,
    );
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
