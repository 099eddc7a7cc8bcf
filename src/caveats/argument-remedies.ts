import { isObject, type Json } from "../bytes/json.js";
import { type Suggest, suggestions } from "../checks/nearest.js";
import { allowsArgument } from "./argument-domain.js";
import {
  type ArgumentPath,
  argumentName,
  findArgument,
  readArgumentName,
} from "./argument-pointer.js";
import { constraintRule } from "./constraints-rule.js";
import type { ArgumentDomain } from "./domain.js";
import { ruleOf } from "./hop-rule.js";
import { nearestArgument } from "./nearest-argument.js";
import { EVERY_OPERATION, entryRule, type OperationAuthority } from "./operation-authority.js";

interface Arguments {
  readonly [name: string]: unknown;
}

/** A change to the arguments of a refused call. */
export type ArgumentRemedy =
  | {
      /**
       * Sets the argument. If a property on the path to the argument is missing or not an object, an object takes its
       * place.
       */
      readonly kind: "set_argument";
      /** JSON Pointer (RFC 6901) to the argument within the call's arguments, such as `/amount` or `/to/iban`. */
      readonly pointer: string;
      readonly value: Json;
    }
  | {
      /** Removes the argument. */
      readonly kind: "remove_argument";
      /** JSON Pointer (RFC 6901) to the argument within the call's arguments. */
      readonly pointer: string;
    };

/** A remedy for one argument, with a test for the denials that concern this argument. */
export interface PlannedRemedy {
  readonly remedy: ArgumentRemedy;
  /** Returns whether a denial is about this argument. */
  isFor(denial: { readonly rule?: string; readonly actual?: unknown }): boolean;
}

/**
 * Finds a remedy for each argument that the limits refuse. Returns `undefined` if one of these arguments has no
 * remedy.
 *
 * @param over - The limits of all hops together on the arguments of the operation.
 */
export function planRemedies(
  over: OperationAuthority,
  operation: string,
  given: Arguments,
): readonly PlannedRemedy[] | undefined {
  const plan: PlannedRemedy[] = [];
  const { limited, closed } = over;
  const suggest = suggestions();
  for (const [name, domain] of limited) {
    const path = readArgumentName(name) ?? [name];
    if (isAllowed(domain, path, given)) continue;
    const [top] = path;
    const isListed = closed?.includes(top) !== false;
    const remedy = isListed ? remedyOf(domain, path, given, suggest) : removal([top]);
    if (remedy === undefined) return undefined;
    const rules = rulesOf(path, operation);
    // A denial names the rule of a limit, or the rule of one operator in the limit.
    const isFor = ({ rule = "" }): boolean =>
      rules.includes(rule) || rules.includes(rule.replace(/\.\w+$/, ""));
    plan.push({ remedy, isFor });
  }
  const lists = [operation, EVERY_OPERATION].map((one) => entryRule("arguments", one));
  for (const name of closed === undefined ? [] : Object.keys(given)) {
    if (closed?.includes(name)) continue;
    plan.push({
      remedy: removal([name]),
      isFor: ({ rule = "", actual }) => lists.includes(rule) && actual === name,
    });
  }
  return plan;
}

function isAllowed(domain: ArgumentDomain, path: ArgumentPath, given: Arguments): boolean {
  const found = findArgument(given, path);
  if (found.kind === "missing") return domain.missing;
  return found.kind === "present" && allowsArgument(domain, found.value);
}

function remedyOf(
  domain: ArgumentDomain,
  path: ArgumentPath,
  given: Arguments,
  suggest: Suggest,
): ArgumentRemedy | undefined {
  const found = findArgument(given, path);
  if (found.kind === "unreachable" && domain.missing) return removal(blocking(path, given));
  const value = found.kind === "present" ? found.value : undefined;
  const near = nearestArgument(domain, value, suggest);
  if (near !== undefined) return { kind: "set_argument", pointer: pointerTo(path), value: near };
  return domain.missing ? removal(path) : undefined;
}

/** Returns the path of the first value on the way to the argument that is not an object. */
function blocking(path: ArgumentPath, given: Arguments): ArgumentPath {
  const [top, ...inside] = path;
  const at = inside.findIndex((_, depth) => {
    const found = findArgument(given, [top, ...inside.slice(0, depth)]);
    return found.kind === "present" && !isObject(found.value);
  });
  return [top, ...inside.slice(0, at)];
}

function removal(path: ArgumentPath): ArgumentRemedy {
  return { kind: "remove_argument", pointer: pointerTo(path) };
}

/** Returns the rules that denials may name for limits on an argument. */
function rulesOf(path: ArgumentPath, operation: string): readonly string[] {
  const rules = [operation, EVERY_OPERATION].map((one) =>
    ruleOf(entryRule("operationConstraints", one), argumentName(path)),
  );
  return path.length === 1 ? [constraintRule(path[0]), ...rules] : rules;
}

/**
 * Returns the JSON Pointer to an argument. Unlike {@link argumentName}, also returns a pointer for a top-level
 * argument.
 */
function pointerTo([top, ...inside]: ArgumentPath): string {
  return inside.length === 0 && !top.startsWith("/")
    ? `/${top.replaceAll("~", "~0").replaceAll("/", "~1")}`
    : argumentName([top, ...inside]);
}

/** Applies the remedies one after another, in the order given, and returns the changed arguments. */
export function applyRemedies(given: Arguments, remedies: readonly ArgumentRemedy[]): Arguments {
  return remedies.reduce<Arguments>((changed, remedy) => {
    const value = remedy.kind === "set_argument" ? remedy.value : undefined;
    const [top = "", ...inside] = remedy.pointer
      .slice(1)
      .split("/")
      .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));
    return changedAt(changed, [top, ...inside], value);
  }, given);
}

/**
 * Returns a copy of `holder` with `value` at the path. If `value` is `undefined`, the copy lacks the property at the
 * path.
 */
function changedAt(
  holder: Arguments,
  [name, next, ...inside]: readonly [string, ...string[]],
  value: Json | undefined,
): Arguments {
  const members = new Map(Object.entries(holder));
  const before = members.get(name);
  if (next !== undefined) {
    const inner = isObject(before) ? before : {};
    if (value !== undefined || isObject(before)) {
      members.set(name, changedAt(inner, [next, ...inside], value));
    }
  } else if (value === undefined) members.delete(name);
  else members.set(name, value);
  return Object.fromEntries(members);
}
