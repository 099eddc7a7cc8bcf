import { closingQuote, duplicateKey, quotedName } from "./json.js";

const NUMBER = /-?\d[\d.eE+-]*/y;
const PARTS = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;
const MAX_SHOWN = 24;

/**
 * Finds what is lost when a JSON text is parsed: a duplicate property, of which `JSON.parse` keeps the last, or a
 * number such as 9007199254740993, which no double can represent. If something is lost, a check of the parsed value
 * does not judge what the text says.
 *
 * @param text - A string that `JSON.parse` accepts.
 * @returns A message such as `an object has the property "a" twice`; `undefined` if nothing is lost.
 */
export function inexactPart(text: string): string | undefined {
  const twin = duplicateKey(text);
  if (twin !== undefined) return `an object has the property ${quotedName(twin.key)} twice`;
  const number = inexactNumber(text);
  if (number === undefined) return undefined;
  const shown = number.length > MAX_SHOWN ? `${number.slice(0, MAX_SHOWN)}...` : number;
  return `the number ${shown} cannot be kept as it is written; send it as a string`;
}

/** Returns the first number in a JSON text whose parsed value is a different number. */
export function inexactNumber(text: string): string | undefined {
  for (let i = 0; i < text.length; i++) {
    if (text.charAt(i) === '"') {
      i = closingQuote(text, i + 1);
      continue;
    }
    NUMBER.lastIndex = i;
    const [number] = NUMBER.exec(text) ?? [];
    if (number === undefined) continue;
    if (!isExact(number)) return number;
    i += number.length - 1;
  }
  return undefined;
}

function isExact(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return false;
  const written = JSON.stringify(value);
  return written === number || decimalOf(written) === decimalOf(number);
}

/**
 * Returns the digits of a number without leading and trailing zeros, and the exponent of the last digit. The
 * sign is left out; zero is `""`.
 */
function decimalOf(number: string): string {
  const [, whole = "", fraction = "", exponent = "0"] = PARTS.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  let end = digits.length;
  while (digits.charAt(end - 1) === "0") end--;
  if (end === 0) return "";
  return `${digits.slice(0, end)}e${Number(exponent) - fraction.length + digits.length - end}`;
}
