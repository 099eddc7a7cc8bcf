import { expect, test } from "vitest";
import { TokenSearch } from "../../src/agent/token-search.js";
import type { Json } from "../../src/bytes/json.js";
import { cpuTime } from "../support/cpu-time.js";

// These tests search texts that are the most expensive of their length for a token search. They measure the CPU time
// of the second search, in milliseconds.

const repeated = (text: string): string => text.repeat(Math.ceil(256_000 / text.length));
const bytes = (...values: number[]): string =>
  Buffer.from(Array.from({ length: 190_000 }, (_, at) => values[at % values.length] ?? 0)).toString(
    "base64url",
  );
test.each<[string, Json]>([
  ["open braces", repeated('{"i":')],
  ["open strings", repeated('{"i":"')],
  ["objects that hold the name of a signature", repeated('{"s":"')],
  ["backslashes", repeated("\\")],
  ["escaped quotes", repeated('{\\"s\\":')],
  ["beginnings of v2", repeated("AgIC")],
  ["beginnings of v2 with a location", bytes(2, 1, 0x80, 0x20, 2, 0x63, 0x7b)],
  ["identifiers that end a macaroon", bytes(2, 2, 0x63, 0x7b, 0, 0)],
  ["packets of v1", Buffer.from(repeated("0011location x\n")).toString("base64")],
  ["runs that are one character too short", `${repeated(`${"a".repeat(183)} `)}\\\\\\\\n`],
  ["many short strings", Array.from({ length: 100_000 }, () => "ab")],
  ["deeply nested arrays", JSON.parse(`${"[".repeat(5000)}${"]".repeat(5000)}`)],
])("TokenSearch takes less than 400 ms for a value with %s", (_, value) => {
  new TokenSearch(() => false).look(value);
  const spent = cpuTime();
  new TokenSearch(() => false).look(value);
  expect(spent()).toBeLessThan(400);
});
