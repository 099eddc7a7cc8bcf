import declared from "canonicalize";

// A second implementation of the form of hops and identifiers (docs/spec.md, sections 5 and 6). Another package makes
// the canonical form.

// The types of canonicalize declare a default export, but the module is the function itself.
export const canonicalText: (value: unknown) => string | undefined = declared as unknown as (
  value: unknown,
) => string | undefined;

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const OPERATORS = ["in", "max", "min", "not_in"];

/** Parses a JSON object in canonical form; undefined for anything else. */
export function canonicalObject(bytes: Uint8Array): Readonly<Record<string, unknown>> | undefined {
  try {
    const text = utf8.decode(bytes);
    const value: unknown = JSON.parse(text, (name, member: unknown) => {
      // Throws for a lone surrogate, which has no UTF-8 form.
      encodeURIComponent(typeof member === "string" ? `${name} ${member}` : name);
      return member;
    });
    return isObject(value) && canonicalText(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns whether a canonical object is a well-formed hop. */
export function isHop(hop: Readonly<Record<string, unknown>>): boolean {
  const members = Object.entries(hop);
  return members.length > 0 && members.every(([name, value]) => isMember(name, value));
}

function isMember(name: string, value: unknown): boolean {
  switch (name) {
    case "operations":
    case "resourceHandles":
    case "audience":
    case "invokers":
      return isAscending(value, (item) => (typeof item === "string" ? item : undefined));
    case "constraints":
      return isObject(value) && every(value, (_, limit) => isScalar(limit) || isOperators(limit));
    case "expires":
    case "notBefore":
      return isTime(value);
    case "maxFurtherHops":
      return Number.isSafeInteger(value) && Number(value) >= 0;
    case "purpose":
      return typeof value === "string";
    case "nonce":
      return typeof value === "string" && /^[A-Za-z0-9_-]{16}$/.test(value);
    default:
      return false;
  }
}

function isOperators(limit: unknown): boolean {
  if (!isObject(limit)) return false;
  return every(limit, (name, operand) => {
    if (!OPERATORS.includes(name)) return false;
    if (name === "max" || name === "min") return typeof operand === "number";
    return isAscending(operand, (item) => (isScalar(item) ? JSON.stringify(item) : undefined));
  });
}

function every(
  value: Readonly<Record<string, unknown>>,
  holds: (name: string, member: unknown) => boolean,
): boolean {
  const members = Object.entries(value);
  return members.length > 0 && members.every(([name, member]) => holds(name, member));
}

function isAscending(value: unknown, text: (item: unknown) => string | undefined): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  let last: string | undefined;
  for (const item of value) {
    const next = text(item);
    if (next === undefined || (last !== undefined && next <= last)) return false;
    last = next;
  }
  return true;
}

function isScalar(value: unknown): boolean {
  return value === null || ["string", "number", "boolean"].includes(typeof value);
}

/** Returns whether a value is a timestamp. Does not use `Date`, which accepts 30 February. */
function isTime(value: unknown): boolean {
  if (typeof value !== "string") return false;
  const found = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/.exec(value);
  if (found === null) return false;
  const [year, month, day] = [Number(found[1]), Number(found[2]), Number(found[3])];
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1];
  return days !== undefined && day >= 1 && day <= days;
}

/** Returns whether a canonical object is a well-formed identifier. */
export function isIdentifier(value: Readonly<Record<string, unknown>>): boolean {
  const { v, id, issued, iss, kid, grant, principal = "nobody", ...others } = value;
  const named = [iss, kid, grant, principal].every((one) => typeof one === "string" && one !== "");
  const given = typeof id === "string" && /^cap_[\w-]{16,}$/.test(id);
  return v === 1 && named && given && isTime(issued) && Object.keys(others).length === 0;
}
