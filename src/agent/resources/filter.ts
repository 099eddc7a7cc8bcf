import { isObject } from "../../bytes/json.js";
import { isScalar, type Scalar, shown, shownList } from "../../caveats/scalar.js";
import { nearest } from "../../checks/nearest.js";
import type {
  FieldCondition,
  QueryDenial,
  QueryRefusal,
  Resource,
  ResourceFilter,
  ResourceQuery,
} from "./resource.js";

const MAX_CONDITIONS = 32;
const MAX_VALUES = 256;

const OPERATORS: readonly string[] = ["in", "max", "min"];
const MEMBERS: readonly string[] = ["collection", "filter"];

/** A valid filter, or the problem with it. */
export type FilterReading = { readonly ok: true; readonly filter: ResourceFilter } | QueryRefusal;

/** A valid query, or the problem with it. */
export type ResourceQueryReading =
  | { readonly ok: true; readonly query: ResourceQuery }
  | QueryRefusal;

/**
 * Returns whether a resource meets every condition with all its operators. Values are equal if type and value
 * are equal; bounds only apply to values of their own type. Absent fields, empty conditions and unknown
 * operators never match.
 */
export function matches(resource: Resource, filter: ResourceFilter): boolean {
  const { fields } = resource;
  return Object.entries(filter).every(([field, condition]) => {
    const value = Object.hasOwn(fields, field) ? fields[field] : undefined;
    return value !== undefined && holds(value, condition);
  });
}

function holds(value: Scalar, condition: FieldCondition): boolean {
  if (typeof condition !== "object" || condition === null) return value === condition;
  const operators = Object.entries(condition);
  return operators.length > 0 && operators.every(([name, operand]) => judge(value, name, operand));
}

function judge(value: Scalar, operator: string, operand: unknown): boolean {
  if (operator === "in") return Array.isArray(operand) && operand.includes(value);
  if (operator !== "min" && operator !== "max") return false;
  if (typeof value === "number" && typeof operand === "number") {
    return operator === "min" ? value >= operand : value <= operand;
  }
  // ECMAScript compares strings by UTF-16 code units.
  if (typeof value === "string" && typeof operand === "string") {
    return operator === "min" ? value >= operand : value <= operand;
  }
  return false;
}

/**
 * Returns the first reason to refuse a filter.
 *
 * @param fields - The fields that can be filtered on; any unless given.
 */
export function checkFilter(
  filter: ResourceFilter,
  fields?: readonly string[],
): QueryDenial | undefined {
  const unknown = Object.keys(filter).find((field) => fields?.includes(field) === false);
  if (fields === undefined || unknown === undefined) return conditionsDenial(filter);
  const what = `there is no field ${shown(unknown)}`;
  return unknownName("unknown_field", fieldPath(unknown), what, unknown, fields);
}

function conditionsDenial(filter: { readonly [field: string]: unknown }): QueryDenial | undefined {
  for (const [field, condition] of Object.entries(filter)) {
    const denial = conditionDenial(field, condition);
    if (denial !== undefined) return denial;
  }
  return undefined;
}

function conditionDenial(field: string, condition: unknown): QueryDenial | undefined {
  if (isScalar(condition)) return textDenial(field, [condition]);
  if (!isObject(condition)) {
    return wrong(field, "", "a value, or an object with operators", condition);
  }
  const operators = Object.entries(condition);
  const path = fieldPath(field);
  if (operators.length === 0) {
    return unknownName("unknown_operator", path, `${shown(path)} has no operator`, "", OPERATORS);
  }
  for (const [name, operand] of operators) {
    if (!OPERATORS.includes(name)) {
      const what = `${shown(path)} has the unknown operator ${shown(name)}`;
      return unknownName("unknown_operator", path, what, name, OPERATORS);
    }
    const denial = name === "in" ? listDenial(field, operand) : boundDenial(field, name, operand);
    if (denial !== undefined) return denial;
  }
  const { min, max } = condition;
  if (min === undefined || max === undefined || typeof min === typeof max) return undefined;
  return wrong(field, ".max", `of the same type as min, a ${typeof min}`, max);
}

function boundDenial(field: string, name: string, operand: unknown): QueryDenial | undefined {
  if (!isScalar(operand) || (typeof operand !== "number" && typeof operand !== "string")) {
    return wrong(field, `.${name}`, "a number or a string", operand);
  }
  return textDenial(field, [operand]);
}

function listDenial(field: string, operand: unknown): QueryDenial | undefined {
  const expected = `an array of 1 to ${MAX_VALUES} values`;
  if (!Array.isArray(operand) || operand.length === 0 || operand.length > MAX_VALUES) {
    return wrong(field, ".in", expected, Array.isArray(operand) ? operand.length : operand);
  }
  // Unlike `every`, `Array.from` visits holes, so that they are refused.
  const values: unknown[] = Array.from(operand);
  if (!values.every(isScalar)) {
    const odd = values.find((value) => !isScalar(value));
    return wrong(field, ".in", "an array of strings, numbers, booleans and null", odd);
  }
  return textDenial(field, values);
}

function textDenial(field: string, values: readonly Scalar[]): QueryDenial | undefined {
  if (values.every(isFilterable)) return undefined;
  const message = `${shown(fieldPath(field))} must have strings of at most ${MAX_TEXT_LENGTH} characters`;
  return invalidValue(fieldPath(field), message);
}

function wrong(field: string, operator: string, expected: string, value: unknown): QueryDenial {
  const where = shown(fieldPath(field) + operator);
  return invalidValue(fieldPath(field), `${where} must be ${expected}, not ${shown(value)}`);
}

/**
 * Reads an untrusted filter: at most 32 conditions, names of 256 characters, lists of 256 values, strings of
 * 1024 characters. Does not check that the fields exist. The result shares no objects with `value`.
 */
export function readFilter(value: unknown): FilterReading {
  if (!isObject(value)) {
    return refused("filter", `filter must be an object, not ${shown(value)}`);
  }
  const names = Object.keys(value);
  if (names.length > MAX_CONDITIONS) {
    const message = `filter must have at most ${MAX_CONDITIONS} fields, not ${names.length}`;
    return refused("filter", message);
  }
  const odd = names.find((name) => name.length > MAX_NAME_LENGTH || !name.isWellFormed());
  if (odd !== undefined) {
    const message = `filter must have names of at most ${MAX_NAME_LENGTH} characters, not ${shown(odd)}`;
    return refused("filter", message);
  }
  const denial = conditionsDenial(value);
  if (denial !== undefined) return { ok: false, denial };
  // Every condition has just been checked against its type.
  return { ok: true, filter: structuredClone(value) as ResourceFilter };
}

/** Reads an untrusted query within the limits of {@link readFilter}. Does not check that the collection exists. */
export function readResourceQuery(value: unknown): ResourceQueryReading {
  if (!isObject(value)) {
    const message = `a resource query must be an object with a collection, not ${shown(value)}`;
    return refused("collection", message);
  }
  const unknown = Object.keys(value).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) {
    const name = unknown.slice(0, MAX_NAME_LENGTH).toWellFormed();
    const what = `a resource query has no property ${shown(name)}`;
    return { ok: false, denial: unknownName("unknown_field", name, what, name, MEMBERS) };
  }
  const collection = Object.hasOwn(value, "collection") ? value["collection"] : undefined;
  if (
    !isScalar(collection) ||
    typeof collection !== "string" ||
    collection.length > MAX_NAME_LENGTH
  ) {
    const message = `collection must be a string of at most ${MAX_NAME_LENGTH} characters, not ${shown(collection)}`;
    return refused("collection", message);
  }
  const filter = Object.hasOwn(value, "filter") ? value["filter"] : undefined;
  if (filter === undefined) return { ok: true, query: { collection } };
  const reading = readFilter(filter);
  if (!reading.ok) return reading;
  return { ok: true, query: { collection, filter: reading.filter } };
}

function refused(path: string, message: string): QueryRefusal {
  return { ok: false, denial: invalidValue(path, message) };
}

function fieldPath(field: string): string {
  return `filter.${field}`;
}

export function unknownCollection(name: string, known: readonly string[]): QueryDenial {
  const what = `there is no collection ${shown(name)}`;
  return unknownName("unknown_collection", "collection", what, name, known);
}

function invalidValue(path: string, message: string): QueryDenial {
  return { code: "invalid_value", path, known: [], message };
}

/**
 * Denies an unknown name.
 *
 * @param what - The beginning of the message, which is followed by suggestions and known names.
 */
function unknownName(
  code: QueryDenial["code"],
  path: string,
  what: string,
  name: string,
  known: readonly string[],
): QueryDenial {
  const near = nearest(name, known);
  const hint = near === undefined ? "" : `; did you mean ${shown(near)}?`;
  return { code, path, known, message: `${what}; known: ${shownList(known)}${hint}` };
}

/** Longest name of a field or a collection, in UTF-16 code units. */
export const MAX_NAME_LENGTH = 256;
/** Longest string in a field or a condition, in UTF-16 code units. */
export const MAX_TEXT_LENGTH = 1024;
/** Longest name of a resource, in bytes of UTF-8. */
export const MAX_RESOURCE_NAME_BYTES = 512;

/** Returns whether a value can be a field's value: a scalar; a string may have at most 1024 code units. */
export function isFilterable(value: unknown): value is Scalar {
  return isScalar(value) && (typeof value !== "string" || value.length <= MAX_TEXT_LENGTH);
}
