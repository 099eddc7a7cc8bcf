import { duplicateKey, type Json } from "../src/bytes/json.js";

const NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;
// Matches the strings and the numbers of a JSON text. Strings match so that digits in them are not taken for
// numbers.
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const LOOKS_LIKE_JSON = /^["{[]/;

/**
 * Parses a value as JSON. A value that is not valid JSON is taken as a string, unless it begins like a JSON
 * string, object or array. Such a beginning is nearly always a quoting mistake, so the value is refused.
 *
 * @param refuse - Returns the error for an invalid value.
 */
export function readValue(text: string, refuse: (problem: string, hint: string) => Error): Json {
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    if (text === "") throw refuse("the value is missing", 'write "" for the empty string');
    if (!LOOKS_LIKE_JSON.test(text)) return text;
    throw refuse(
      "the value starts like JSON but is not",
      "put the whole expression in single quotes, or write the value as a JSON string",
    );
  }
  const duplicate = duplicateKey(text);
  if (duplicate !== undefined) {
    throw refuse(`${JSON.stringify(duplicate.key)} is given twice`, "keep the one you mean");
  }
  for (const [part] of text.matchAll(STRING_OR_NUMBER)) {
    if (part.startsWith('"') || isExact(part)) continue;
    throw refuse(
      `the number ${part} cannot be held exactly`,
      "write it in double quotes to pass it as a string",
    );
  }
  // "-0" and "0" are the same number, whose canonical form is 0.
  return Object.is(value, -0) ? 0 : value;
}

/** Returns whether a double can hold a number of a JSON text without rounding. */
function isExact(text: string): boolean {
  const held = Number(text);
  if (!Number.isFinite(held)) return false;
  const written = decimal(text);
  const kept = decimal(JSON.stringify(held));
  return written.digits === kept.digits && written.exponent === kept.exponent;
}

/** Splits a decimal number into its significant digits, without zeros at either end, and a power of ten. */
function decimal(text: string): { digits: string; exponent: number } {
  const [, whole = "", fraction = "", power = ""] = NUMBER.exec(text) ?? [];
  const all = `${whole}${fraction.slice(1)}`.replace(/^0+/, "");
  const digits = all.replace(/0+$/, "");
  if (digits === "") return { digits: "0", exponent: 0 };
  const exponent = Number(power.slice(1)) - Math.max(0, fraction.length - 1);
  return { digits, exponent: exponent + all.length - digits.length };
}

/** Splits a list at commas outside double quotes. */
export function splitList(text: string): string[] {
  const items: string[] = [];
  let start = 0;
  let inString = false;
  for (let i = 0; i < text.length; i++) {
    const character = text.charAt(i);
    if (inString && character === "\\") i++;
    else if (character === '"') inString = !inString;
    else if (character === "," && !inString) {
      items.push(text.slice(start, i).trim());
      start = i + 1;
    }
  }
  items.push(text.slice(start).trim());
  return items;
}
