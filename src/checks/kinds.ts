/**
 * Throws unless an argument is a string.
 *
 * @param where - The name of the argument in messages, such as `token` or `options.name`.
 * @throws TypeError naming the argument.
 */
export function assertString(value: unknown, where: string): asserts value is string {
  if (typeof value !== "string") throw notA(where, "a string", value);
}

/**
 * Throws unless an argument is a string or `undefined`.
 *
 * @throws TypeError naming the argument.
 */
export function assertOptionalString(
  value: unknown,
  where: string,
): asserts value is string | undefined {
  if (value !== undefined) assertString(value, where);
}

/**
 * Throws unless an argument is an array.
 *
 * @param of - The kind of elements in the plural, such as `strings`.
 * @throws TypeError naming the argument.
 */
export function assertArray(
  value: unknown,
  where: string,
  of: string,
): asserts value is readonly unknown[] {
  if (!Array.isArray(value)) throw notA(where, `an array of ${of}`, value);
}

/**
 * Recognizes objects of one kind: `method` is a method that they have, and `expected` describes such an object and
 * the function that makes it.
 */
export type Part = readonly [method: string, expected: string];

/**
 * Throws unless an argument is an object with the method `method`, such as an object made by another function of this
 * package.
 *
 * @throws TypeError naming the argument and the expected object.
 */
export function assertHas(value: unknown, [method, expected]: Part, where: string): void {
  const isObject = typeof value === "object" && value !== null;
  if (isObject && typeof Reflect.get(value, method) === "function") return;
  throw notA(where, expected, value);
}

/**
 * Throws unless options have every required object.
 *
 * @param parts - The required objects, by the name of the option.
 * @throws TypeError naming the option that is missing or has the wrong type, such as a Promise.
 */
export function assertParts(options: object, parts: { readonly [name: string]: Part }): void {
  for (const [name, part] of Object.entries(parts)) {
    const value: unknown = Reflect.get(options, name);
    if (value !== undefined) assertHas(value, part, `options.${name}`);
    else throw new TypeError(`options.${name}: is missing; it must be ${part[1]}`);
  }
}

export const AGENT: Part = ["clearOperation", "an agent, as createIssuingAgent() gives it"];
export const ISSUER: Part = ["authorize", "an issuer, as createIssuer() gives it"];
export const LEDGER: Part = ["commit", "a ledger, as openLedger() gives it"];
export const POLICY: Part = ["permissions", "a policy, as createPolicyTable() gives it"];
export const REVOCATIONS: Part = ["add", "a list or store, as openRevocations() gives it"];
export const PARTY_STORE: Part = ["change", "a store, as openParties() gives it"];
export const PARTIES: Part = ["register", "parties, as createParties() gives them"];
export const AUTHENTICATOR: Part = [
  "authenticate",
  "an authenticator, as createJwtAuthenticator() gives it",
];
export const LOG: Part = ["info", "an object with the functions info, warn and error"];

/** Returns the error for an argument of the wrong type. It never shows the argument's contents. */
export function notA(where: string, expected: string, value: unknown): TypeError {
  return new TypeError(`${where} must be ${expected}, not ${described(value)}`);
}

/** Describes the type of a value for a message, never its contents: `a Map`, `a string`, `undefined`. */
export function described(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  if (value === "") return "an empty string";
  if (typeof value === "function") return "a function";
  if (typeof value !== "object") return `a ${typeof value}`;
  if (Array.isArray(value)) return "an array";
  const name = classOf(value);
  if (name === "Promise") return "a Promise: is an await missing?";
  if (name === "Object" && isPlain(value)) return "a plain object";
  if (name === "Object" || name === "") return "an object that inherits from another";
  return /^[AEIO]/.test(name) ? `an ${name}` : `a ${name}`;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

function classOf(value: object): string {
  try {
    const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
    const made: unknown = tag === "Object" ? Reflect.get(value, "constructor") : undefined;
    return typeof made === "function" ? made.name : tag;
  } catch {
    // A getter or a Proxy of the calling code threw.
    return "";
  }
}
