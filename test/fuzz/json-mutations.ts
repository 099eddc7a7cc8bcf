import { anyText, anyValue } from "./garbage.js";
import type { Random } from "./random.js";

const NAMES = [
  "v",
  "l",
  "i",
  "i64",
  "c",
  "s",
  "s64",
  "v64",
  "cid",
  "vid",
  "cl",
  "location",
  "identifier",
  "caveats",
  "signature",
  "__proto__",
  "V",
  "",
  "toString",
];
const PIECES = [
  '"',
  "{",
  "}",
  "[",
  "]",
  ",",
  ":",
  "\\",
  '\\"',
  "\\u",
  "\\ud800",
  "\\u0000",
  " ",
  "\n",
  "\t",
  "null",
  "true",
  "2",
  "-0",
  "2.0",
  "2e0",
  "1e999",
  '"v":2',
  '"v":2,',
  ',"c":[]',
  "//",
  "\ufeff",
];

/** Makes one edit of a JSON text: of its characters, or of a property, a value or an item. */
export function editJson(random: Random, text: string, other: string): string {
  const at = random.below(text.length + 1);
  switch (random.below(10)) {
    case 0:
      return text.slice(0, at);
    case 1:
      return text.slice(0, at) + random.pick(PIECES) + text.slice(at + random.below(4));
    case 2:
      return text.slice(0, at) + anyText(random) + text.slice(at);
    case 3:
      return text.slice(0, at) + other.slice(random.below(other.length));
    case 4:
      return text.slice(0, at) + text.slice(at + random.below(60));
    case 5:
      return replaceSome(random, text, /"(?:[^"\\]|\\.)*"(?=:)/g, () => {
        return JSON.stringify(random.pick(NAMES));
      });
    case 6:
      return replaceSome(random, text, /(?<=:)(?:"(?:[^"\\]|\\.)*"|\d+|\[\])/g, (value) => {
        return random.pick([
          value.toUpperCase(),
          JSON.stringify(anyValue(random)),
          otherBase64(value),
        ]);
      });
    case 7:
      // Repeats a property, with the same value or another value.
      return replaceSome(random, text, /"(?:[^"\\]|\\.)*":(?:"(?:[^"\\]|\\.)*"|\d+)/g, (member) => {
        const name = member.slice(0, member.indexOf(":"));
        return random.pick([
          `${member},${member}`,
          `${name}:${JSON.stringify(anyText(random))},${member}`,
        ]);
      });
    case 8:
      return replaceSome(random, text, /\{[^{}]*\}/g, (object) => {
        return random.pick(["", "{}", `${object},${object}`, `[${object}]`, "null"]);
      });
    default:
      return deep(random, text);
  }
}

function replaceSome(
  random: Random,
  text: string,
  pattern: RegExp,
  replace: (found: string) => string,
): string {
  const found = [...text.matchAll(pattern)];
  if (found.length === 0) return text;
  const one = random.pick(found);
  return text.slice(0, one.index) + replace(one[0]) + text.slice(one.index + one[0].length);
}

function otherBase64(value: string): string {
  return value.replaceAll("-", "+").replaceAll("_", "/");
}

function deep(random: Random, text: string): string {
  const times = random.pick([1, 2, 3, 5, 50, 5000]);
  const [open, close] = random.pick([["[", "]"] as const, ['{"c":', "}"] as const]);
  return random.pick([
    open.repeat(times) + text + close.repeat(times),
    open.repeat(times),
    `[${text}${`,${text}`.repeat(times % 12)}]`,
    text.replace(":[", `:${open.repeat(times)}`),
  ]);
}

/** Writes the same JSON in another spelling: white space between tokens, escapes in strings. */
export function respelledJson(random: Random, text: string): string {
  return text.replaceAll(/"(?:[^"\\]|\\.)*"|[{}[\]:,]/g, (token) => {
    if (!token.startsWith('"'))
      return random.once(3) ? `${random.pick([" ", "\n", "\t\r"])}${token} ` : token;
    return token.replaceAll(/\\.|[^"\\]/g, (character) =>
      character.length === 1 && random.once(9)
        ? `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
        : character,
    );
  });
}
