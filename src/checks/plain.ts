// This folder checks values that a program passes in: plain data, known options, and suggestions for misspelt names.
// A Map, a Promise or an object with inherited properties would look like an object with fewer properties, and a hop
// made of such an object would restrict less.

import { quotedName } from "../bytes/json.js";
import { described } from "./kinds.js";

/** Thrown for data that is not plain. If the data came from a request, the server answers 400. */
export class NotPlainError extends TypeError {}

/** Maximum nesting depth; also stops cyclic values. */
const MAX_NESTED = 256;
const ACCEPTED = "a string, a number, a boolean, null, an array or a plain object";

/**
 * The kind of data. Only the `arguments` of a call may contain numbers that are not finite, as parsed from `1e999`,
 * and properties that are `undefined`. The copy leaves out such properties, as `JSON.stringify` does.
 */
type Kind = "data" | "arguments";

/** A copy in progress. */
interface Copying {
  /** The name of the whole value in messages. */
  readonly where: string;
  /** Names and indexes that lead from the whole value to the current value. */
  readonly steps: (string | number)[];
  readonly kind: Kind;
}

/**
 * Copies plain data: strings, numbers, booleans, null, and arrays and objects of these. Each property is read
 * once.
 *
 * An object is plain if all its properties are its own, enumerable and named by strings, and its prototype is
 * null or an `Object.prototype` of any realm. An array is plain if it has no holes and no other properties, and
 * its prototype is an `Array.prototype`.
 *
 * @param where - The name of the value in messages, such as `hop`.
 * @throws NotPlainError naming the place, such as `hop.constraints.amount.max`.
 */
export function plainCopy<T>(value: T, where: string, kind: Kind = "data"): T {
  return copyOf(value, { where, steps: [], kind }) as T;
}

/**
 * Copies a plain object, as {@link plainCopy} defines it. Each property is read once; values are not copied.
 *
 * @param where - The name of the object in messages, such as `options`.
 * @throws NotPlainError naming the part that is not plain.
 */
export function plainObject<T>(value: T, where: string): T & object {
  return shallowCopy(value, { where, steps: [], kind: "data" }) as T & object;
}

function copyOf(value: unknown, copying: Copying): unknown {
  if (isScalar(value, copying)) return value;
  if (value === undefined) {
    throw new NotPlainError(`${placeOf(copying)} is undefined; leave it out, or give it a value`);
  }
  if (typeof value === "number") {
    throw new NotPlainError(`${placeOf(copying)} must be a finite number, not ${value}`);
  }
  if (typeof value !== "object") {
    throw new NotPlainError(`${placeOf(copying)} must be ${ACCEPTED}, not ${described(value)}`);
  }
  if (copying.steps.length >= MAX_NESTED) {
    throw new NotPlainError(
      `${copying.where} must be nested at most ${MAX_NESTED} deep, and not hold itself`,
    );
  }
  return Array.isArray(value) ? copyOfArray(value, copying) : copyOfObject(value, copying);
}

function isScalar(value: unknown, { kind }: Copying): boolean {
  if (typeof value === "number") return kind === "arguments" || Number.isFinite(value);
  return typeof value === "string" || typeof value === "boolean" || value === null;
}

function copyOfObject(value: unknown, copying: Copying): object {
  const copy = shallowCopy(value, copying);
  for (const name of Object.keys(copy)) {
    const inner = copy[name];
    if (isScalar(inner, copying)) continue;
    if (inner === undefined && copying.kind === "arguments") delete copy[name];
    else copy[name] = copyOfInner(inner, name, copying);
  }
  return copy;
}

function copyOfArray(value: readonly unknown[], copying: Copying): unknown[] {
  if (!isArrayPrototype(Object.getPrototypeOf(value))) {
    throw new NotPlainError(`${placeOf(copying)} must be a plain array, not of a class of its own`);
  }
  const { length } = value;
  // A plain array has one own name for each element, and "length".
  const names = Object.getOwnPropertyNames(value).length;
  if (names !== length + 1 || hasSymbols(value)) throw notOnlyItems(copying);
  const copy: unknown[] = [];
  for (let at = 0; at < length; at++) {
    if (!Object.hasOwn(value, at)) throw notOnlyItems(copying);
    const item = value[at];
    copy.push(isScalar(item, copying) ? item : copyOfInner(item, at, copying));
  }
  return copy;
}

function notOnlyItems(copying: Copying): NotPlainError {
  const message = `${placeOf(copying)} must be an array without holes and without other properties`;
  return new NotPlainError(message);
}

function copyOfInner(value: unknown, step: string | number, copying: Copying): unknown {
  copying.steps.push(step);
  const copy = copyOf(value, copying);
  copying.steps.pop();
  return copy;
}

function shallowCopy(value: unknown, copying: Copying): { [name: string]: unknown } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new NotPlainError(`${placeOf(copying)} must be a plain object, not ${described(value)}`);
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype && !isObjectPrototype(prototype)) {
    throw new NotPlainError(`${placeOf(copying)} must be a plain object, not ${described(value)}`);
  }
  // Reads each property once; "__proto__" is copied like any other property.
  const copy: { [name: string]: unknown } = { ...value };
  const names = Object.getOwnPropertyNames(value);
  if (names.length !== Object.keys(copy).length || hasSymbols(value)) {
    const hidden = names.find((name) => !Object.hasOwn(copy, name));
    const what = hidden === undefined ? "named by a symbol" : `that is not enumerable: ${hidden}`;
    throw new NotPlainError(
      `${placeOf(copying)} must be a plain object; it has a property ${what}`,
    );
  }
  return copy;
}

function hasSymbols(value: object): boolean {
  return Object.getOwnPropertySymbols(value).length > 0;
}

/** Returns whether a prototype is the `Object.prototype` of another realm, such as a `vm` context or an iframe. */
function isObjectPrototype(prototype: unknown): boolean {
  return isRealmPrototype(prototype, "isPrototypeOf") && Object.getPrototypeOf(prototype) === null;
}

function isArrayPrototype(prototype: unknown): boolean {
  if (prototype === Array.prototype) return true;
  return (
    Array.isArray(prototype) &&
    isRealmPrototype(prototype, "concat") &&
    isObjectPrototype(Object.getPrototypeOf(prototype))
  );
}

/** Returns whether an object has a method of its own and no enumerable properties, as built-in prototypes do. */
function isRealmPrototype(prototype: unknown, method: string): prototype is object {
  return (
    typeof prototype === "object" &&
    prototype !== null &&
    Object.hasOwn(prototype, method) &&
    !Reflect.ownKeys(prototype).some((key) =>
      Object.prototype.propertyIsEnumerable.call(prototype, key),
    )
  );
}

function placeOf({ where, steps }: Copying): string {
  let place = where;
  for (const step of steps) {
    if (typeof step === "number") place += `[${step}]`;
    else if (!/^[\w$-]{1,64}$/.test(step)) place += `[${quotedName(step)}]`;
    else place += place === "" ? step : `.${step}`;
  }
  return place || "it";
}
