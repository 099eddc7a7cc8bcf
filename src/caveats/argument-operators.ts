import { isJsonObject, isObject, type Json } from "../bytes/json.js";
import type { Suggest } from "../checks/nearest.js";
import { isSet } from "./canonical-order.js";
import type { ArgumentOperators, ElementOperators, ItemsLimit, UrlLimit } from "./hop.js";
import { type HopProblem, malformed, unknownName, wrongValue } from "./hop-rule.js";
import {
  constraintProblems,
  type OperatorFailure,
  type OperatorRule,
  type OperatorTable,
  operatorFailures,
  operatorProblems,
  SCALAR_OPERATORS,
} from "./operators.js";
import { isBelow, isPath } from "./path-form.js";
import { scalarType, shown, shownList } from "./scalar.js";
import { allowsUrl, isPort, isUrlFolder, URL_SCHEMES } from "./url-form.js";
import { isHostEntry } from "./url-host.js";

/** Longest string that `operationConstraints` judges, in UTF-16 code units. */
export const MAX_JUDGED_UNITS = 4096;

/** Longest array that `operationConstraints` judges, in elements. */
export const MAX_JUDGED_ELEMENTS = 256;

/**
 * Returns `value`, or `undefined` for an object and for a string or array that is too long. `undefined` satisfies no
 * operator, so such an argument is refused.
 */
export function judgedValue(value: unknown): unknown {
  if (typeof value === "string") return value.length <= MAX_JUDGED_UNITS ? value : undefined;
  if (Array.isArray(value)) return value.length <= MAX_JUDGED_ELEMENTS ? value : undefined;
  return isObject(value) ? undefined : value;
}

/** `path`: a string that is a path in the strict form, and is the folder or below the folder. */
const PATH: OperatorRule<string> = {
  *problems(rule, operand) {
    if (typeof operand === "string" && isPath(operand)) return;
    const expected =
      "a folder such as /data or reports/2026, without a final / and without .. segments";
    yield wrongValue(rule, expected, operand);
  },
  failure(folder, value) {
    if (typeof value === "string" && isPath(value) && isBelow(folder, value)) return undefined;
    return { expected: folder, must: `must be a plain path under ${shown(folder)}` };
  },
};

/** `url`: a string that is a URL in the strict form, all parts of which are allowed. */
const URL_RULE: OperatorRule<UrlLimit> = {
  problems: urlProblems,
  failure(limit, value) {
    if (typeof value === "string" && allowsUrl(limit, value)) return undefined;
    return { expected: shape(limit), must: `must be a plain URL of ${urlWords(limit)}` };
  },
};

/** `prefix`: a string that begins with the operand. */
const PREFIX: OperatorRule<string> = {
  *problems(rule, operand) {
    if (typeof operand !== "string" || operand === "")
      yield wrongValue(rule, "a non-empty string", operand);
  },
  failure(prefix, value) {
    const begins = scalarType(value) === "string" && String(value).startsWith(prefix);
    return begins ? undefined : { expected: prefix, must: `must begin with ${shown(prefix)}` };
  },
};

/** `items`: an array whose number of elements is within bounds. */
const ITEMS: OperatorRule<ItemsLimit> = {
  *problems(rule, operand, suggest) {
    if (!isJsonObject(operand) || Object.keys(operand).length === 0) {
      yield wrongValue(rule, 'an object with "min" or "max"', operand);
      return;
    }
    for (const [name, bound] of Object.entries(operand)) {
      const where = `${rule}.${name}`;
      if (!ITEMS_BOUNDS.includes(name)) {
        const place = { inside: rule, rule: where, what: "unknown bound", known: ITEMS_BOUNDS };
        yield unknownName(name, place, suggest);
      } else if (!isCount(bound)) {
        yield wrongValue(where, `a whole number from 0 to ${MAX_JUDGED_ELEMENTS}`, bound);
      }
    }
  },
  failure({ min = 0, max = MAX_JUDGED_ELEMENTS }, value) {
    if (Array.isArray(value) && value.length >= min && value.length <= max) return undefined;
    return { expected: { min, max }, must: `must be an array of ${min} to ${max} elements` };
  },
};

const ITEMS_BOUNDS: readonly string[] = ["max", "min"];

function isCount(value: Json): boolean {
  return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= MAX_JUDGED_ELEMENTS;
}

/** The operators that `each` may have. */
const ELEMENT_OPERATORS: OperatorTable<ElementOperators> = {
  ...SCALAR_OPERATORS,
  items: ITEMS,
  path: PATH,
  prefix: PREFIX,
  url: URL_RULE,
};

/** `each`: an array whose elements all satisfy these operators. */
const EACH: OperatorRule<ElementOperators> = {
  *problems(rule, operand, suggest) {
    if (!isJsonObject(operand) || Object.keys(operand).length === 0) {
      yield wrongValue(rule, "an object with at least one operator", operand);
      return;
    }
    const entries = Object.entries(operand);
    for (const [name] of entries) {
      if (NOT_OF_ELEMENTS.includes(name))
        yield malformed(`${rule}.${name}`, `"${rule}" must not have "${name}"`);
    }
    const others = entries.filter(([name]) => !NOT_OF_ELEMENTS.includes(name));
    yield* operatorProblems(ELEMENT_OPERATORS, rule, Object.fromEntries(others), suggest);
  },
  failure(operators, value, suggest) {
    if (!Array.isArray(value)) return { expected: shape(operators), must: "must be an array" };
    for (const [at, element] of value.entries()) {
      const [failure] = elementFailures(operators, element, suggest);
      if (failure === undefined) continue;
      const [, { must }] = failure;
      return { expected: shape(operators), must: `must be an array; element ${at} ${must}` };
    }
    return undefined;
  },
};

const NOT_OF_ELEMENTS: readonly string[] = ["absent", "each", "optional"];

/** `optional`: concerns only a missing argument, so no value violates this operator. */
const OPTIONAL: OperatorRule<true> = { problems: onlyTrue, failure: () => undefined };
const ABSENT: OperatorRule<true> = {
  problems: onlyTrue,
  failure: () => ({ expected: true, must: "must be left out" }),
};

/** The operators of `operationConstraints`, in the order in which they are judged. */
export const ARGUMENT_OPERATORS: OperatorTable<ArgumentOperators> = {
  absent: ABSENT,
  each: EACH,
  ...ELEMENT_OPERATORS,
  optional: OPTIONAL,
};

/** Yields the problems of a constraint of `operationConstraints` that was read from a caveat. */
export function* argumentConstraintProblems(
  rule: string,
  constraint: Json,
  suggest: Suggest,
): Iterable<HopProblem> {
  yield* constraintProblems(ARGUMENT_OPERATORS, rule, constraint, suggest);
  if (!isJsonObject(constraint)) return;
  const isAlone = Object.keys(constraint).length === 1;
  if (Object.hasOwn(constraint, "absent") && !isAlone) {
    yield malformed(rule, `"${rule}": "absent" must be the only operator`);
  } else if (Object.hasOwn(constraint, "optional") && isAlone) {
    yield malformed(rule, `"${rule}": "optional" must stand beside another operator`);
  }
}

/** Returns an operand as JSON. Every operand was parsed from JSON, or was converted to plain JSON values. */
function shape(operand: UrlLimit | ElementOperators): Json {
  return operand as Json;
}

/** Yields the operators that an element of an array violates. */
function elementFailures(
  operators: ElementOperators,
  element: unknown,
  suggest: Suggest,
): Iterable<readonly [name: string, failure: OperatorFailure]> {
  return operatorFailures(ELEMENT_OPERATORS, operators, judgedValue(element), suggest);
}

const URL_PARTS: readonly string[] = ["hosts", "path", "ports", "schemes"];

function* urlProblems(rule: string, operand: Json, suggest: Suggest): Iterable<HopProblem> {
  if (!isJsonObject(operand)) {
    yield wrongValue(rule, 'an object with "schemes" and "hosts"', operand);
    return;
  }
  for (const name of ["schemes", "hosts"]) {
    if (!Object.hasOwn(operand, name)) yield malformed(rule, `"${rule}" must have "${name}"`);
  }
  for (const [name, part] of Object.entries(operand)) {
    const where = `${rule}.${name}`;
    const expected = expectedPart(name, part);
    if (!URL_PARTS.includes(name)) {
      const what = "unknown part of a URL";
      yield unknownName(name, { inside: rule, rule: where, what, known: URL_PARTS }, suggest);
    } else if (expected !== undefined) yield wrongValue(where, expected, part);
  }
}

/** Returns the form that a part of `url` must have; `undefined` if the part already has that form. */
function expectedPart(name: string, part: Json): string | undefined {
  if (name === "path") {
    if (typeof part === "string" && isUrlFolder(part)) return undefined;
    return "a folder such as /v1 or /a%20b, in the strict form of a URL's path and without a final /";
  }
  const set = URL_SETS.get(name);
  if (set === undefined || (isSet(part) && part.every(set.has))) return undefined;
  return `a non-empty array of ${set.members}, strictly ascending`;
}

const URL_SETS: ReadonlyMap<string, { readonly members: string; has(text: string): boolean }> =
  new Map([
    [
      "hosts",
      { members: "hosts such as api.example.com, .example.com or 192.0.2.1", has: isHostEntry },
    ],
    ["ports", { members: 'ports such as "443"', has: isPort }],
    ["schemes", { members: URL_SCHEMES.join(", "), has: isScheme }],
  ]);

function isScheme(text: string): boolean {
  return URL_SCHEMES.includes(text);
}

/** Describes the URLs that a limit allows, for a message. */
function urlWords({ schemes, hosts, ports, path }: UrlLimit): string {
  const parts = [`scheme ${schemes.join(" or ")}`, `host ${shownList(hosts)}`];
  if (ports !== undefined) parts.push(`port ${shownList(ports)}`);
  if (path !== undefined) parts.push(`path under ${shown(path)}`);
  return parts.join(", ");
}

function* onlyTrue(rule: string, operand: Json): Iterable<HopProblem> {
  if (operand !== true) yield wrongValue(rule, "true", operand);
}
