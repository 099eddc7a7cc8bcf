import { expect, test } from "vitest";
import { escapedJson, escapeOf, printable } from "../../src/display/printable.js";

test.each([
  ["plain", "plain"],
  ["", ""],
  ["é 漢 😀", "é 漢 😀"],
  ["a\nb\rc\td", "a\\nb\\rc\\td"],
  ["\u001b[31m", "\\u{1b}[31m"],
  ["a\u202eb\u200bc", "a\\u{202e}b\\u{200b}c"],
  ["\u2028\u2029", "\\u{2028}\\u{2029}"],
  ["\ud800 \u{e0041} \ue000 \u0378", "\\u{d800} \\u{e0041} \\u{e000} \\u{378}"],
])("printable shows %j as %s", (text, shown) => {
  expect(printable(text)).toBe(shown);
});

test("escapeOf writes a character as an escape", () => {
  expect(["\n", "\u{1f600}", ""].map(escapeOf)).toEqual(["\\n", "\\u{1f600}", "\\u{0}"]);
});

test("escapedJson escapes unsafe characters, and JSON.parse restores the value", () => {
  const value = { "a\u202e": ["\u200b", "é", "\u{e0041}", "\n", "\u00ad\u0007"] };
  const json = escapedJson(value);
  expect(json).toBe('{"a\\u202e":["\\u200b","é","\\udb40\\udc41","\\n","\\u00ad\\u0007"]}');
  expect(JSON.parse(json)).toEqual(value);
  expect(escapedJson(undefined)).toBe("null");
});
