import { expect, test } from "vitest";
import { readLine } from "../../../src/protocols/a2e/lines.js";
import { utf8 } from "../../caveats/support.js";

test("readLine refuses invalid JSON, JSON that parsers read differently, and JSON over the depth limit", () => {
  const problems = [
    '{"a":{"b":1,"b":2}}',
    '{"a":1,"\\u0061":2}',
    '{"\\ud83d":1}',
    "\ufeff{}",
    "null",
    "{}{}",
    '{"a":NaN}',
    '{"a":Infinity}',
    '{"a":[1e999]}',
    '{"a":-1E+400}',
    `{"a":${"9".repeat(400)}}`,
    `{"a":${"9".repeat(250)}e99}`,
    "",
  ];
  for (const text of problems) expect(readLine(utf8(text), 8).ok, text).toBe(false);
  expect(readLine(Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), 8).ok).toBe(false);
  expect(readLine(utf8('{"a":[[[1]]]}'), 4).ok).toBe(true);
  expect(readLine(utf8('{"a":1e308,"b":"1e999","c":1e-999}'), 4).ok).toBe(true);
  expect(readLine(utf8('{"a":[[[1]]]}'), 3).ok).toBe(false);
  // With `exact`, a number must equal the number that is written.
  for (const [text, exact] of [
    ['{"a":9007199254740993}', false] as const,
    ['{"a":1e-999}', false] as const,
    ['{"a":9007199254740992}', true] as const,
    ['{"a":0.10}', true] as const,
  ]) {
    expect(readLine(utf8(text), 4).ok, text).toBe(true);
    expect(readLine(utf8(text), 4, true).ok, text).toBe(exact);
  }
  // Ten thousand levels must not overflow the stack.
  expect(readLine(utf8(`${"[".repeat(10_000)}${"]".repeat(10_000)}`), 32).ok).toBe(false);
  expect(readLine(utf8('{"__proto__":{"a":1},"b":"\\ud83d\\ude00"}\r'), 8)).toMatchObject({
    ok: true,
  });
});
