import { expect, test } from "vitest";
import { canonicalJson, type Json, outlineJson } from "../../src/bytes/json.js";
import { isPlainJson, type PlainBounds } from "../../src/bytes/plain-json.js";
import { encodeUtf8 } from "../../src/bytes/utf8.js";

// Every text of some pieces, against what plain JSON is by definition: the canonical form of what it says, in ASCII,
// without escapes, its numbers whole and not below zero, and within bounds.

const OTHER_NUMBER = /[-.eE]|\d{16}/;

function isPlain(text: string, bounds: PlainBounds): boolean {
  if (/[^\x20-\x7e]|\\/.test(text)) return false;
  let value: Json;
  try {
    value = JSON.parse(text);
  } catch {
    return false;
  }
  const { depth, members } = outlineJson(text);
  const outside = text.replaceAll(/"[^"]*"|true|false|null/g, "");
  return (
    canonicalJson(value) === text &&
    !OTHER_NUMBER.test(outside) &&
    depth <= bounds.depth &&
    members <= bounds.members
  );
}

function* textsOf(pieces: readonly string[], most: number): Generator<string> {
  yield "";
  if (most === 0) return;
  for (const piece of pieces) for (const rest of textsOf(pieces, most - 1)) yield piece + rest;
}

/** The texts for which the answer is wrong, wherever they stand in the bytes. */
function wrong(texts: Iterable<string>, bounds: PlainBounds): string[] {
  const found: string[] = [];
  for (const text of texts) {
    const plain = isPlain(text, bounds);
    for (const [before, after] of [
      ["", ""],
      ['"', '"'],
      ["1", "1"],
      ["[", "]"],
      ['{"a":', "}"],
      [",", ","],
      ["t", "e"],
    ] as const) {
      const bytes = encodeUtf8(before + text + after);
      const [start, end] = [before.length, bytes.length - after.length];
      if (isPlainJson(bytes, start, end, bounds) !== plain) found.push(before + text + after);
    }
  }
  return found;
}

const BOUNDS = { depth: 2, members: 2 };

test.each([
  ["values", ["[", "]", ",", "0", "1", "-", '"', "a", "tru", "e", "null"], 4],
  ["objects", ["{", "}", ",", '"a":', '"b":', '"', ":", "1"], 5],
  ["nested", ["{", "}", "[", "]", ",", '"a":', '"b":', "1"], 5],
])("all short texts are judged by what they are: %s", (_about, pieces, most) => {
  expect(wrong(textsOf(pieces, most), BOUNDS)).toEqual([]);
});

test("members stand apart by one comma, and values behind one colon", () => {
  const between = [",", ":", " ", "", "}", "[", '"', "1", ",,"];
  const texts = between.flatMap((mark) => [
    ...[`{"a":1${mark}"b":1}`, `{"a"${mark}1}`, `[1${mark}1]`, `["a"${mark}"b"]`],
    ...[`{"a":{}${mark}"b":[]}`, `[[]${mark}{}]`, `{"a":true${mark}}`, `[null${mark}]`],
  ]);
  expect(wrong(texts, BOUNDS)).toEqual([]);
});

test("bounds hold at their edges", () => {
  const texts = [...textsOf(["{", "}", "[", "]", ",", '"a":', "1"], 4)];
  for (const depth of [0, 1, 2]) {
    for (const members of [0, 1, 3]) expect(wrong(texts, { depth, members })).toEqual([]);
  }
});

test("names stand in the order of their characters, also of those before the quote", () => {
  const names = ["", " ", "!", "#", "a", "a ", "a!", "a#", "aa", "b"];
  const texts = names.flatMap((one) => names.map((other) => `{"${one}":0,"${other}":1}`));
  expect(wrong(texts, BOUNDS)).toEqual([]);
});

test("unless given, bounds are those of what has its own", () => {
  const plain = (text: string): boolean => isPlainJson(encodeUtf8(text), 0, text.length);
  const nested = (depth: number): string => "[".repeat(depth) + "]".repeat(depth);
  expect([plain(nested(64)), plain(nested(65))]).toEqual([true, false]);
  expect(plain(`[${"1,".repeat(5000)}1]`)).toBe(true);
});
