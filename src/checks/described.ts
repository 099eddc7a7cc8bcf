/** Names the kind of a value in a message, and never shows what it holds: `a Map`, `a string`, `undefined`. */
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
    // A getter or a Proxy of the caller's own.
    return "";
  }
}
