import { describe, expect, test } from "vitest";
import { HOP_KEYS } from "../../src/caveats/hop-rules.js";
import { hopFrom, readHop } from "../../src/caveats/read-hop.js";
import { problemsIn, utf8 } from "./support.js";

const FULL =
  '{"arguments":{"*":[],"get":["amount"]},"audience":["docs"],"constraints":{"amount":{"in":[1,5],"max":10,"min":1,"not_in":[3]},"to":"acc"},' +
  '"expires":"2030-01-01T00:00:00Z","invokers":["agent-a","agent-b"],"maxFurtherHops":2,' +
  '"nonce":"AAAAAAAAAAAAAAAA","notBefore":"2029-01-01T00:00:00Z",' +
  '"operationConstraints":{"put":{"/to/iban":"DE","path":{"path":"/data"}}},"operations":["get","put"],' +
  '"purpose":"why","resourceHandles":["rh_1"]}';

describe("a canonical hop", () => {
  test("with every key is read unchanged", () => {
    const reading = readHop(utf8(FULL));
    expect(reading).toEqual({ ok: true, hop: JSON.parse(FULL) });
    expect(reading.ok && Object.keys(reading.hop).sort()).toEqual([...HOP_KEYS].sort());
  });

  test.each([
    ["sets are ordered by UTF-16 code units", '{"operations":["B","a","\u{10000}","\uFFFF"]}'],
    ["short escapes and lower-case \\u", '{"purpose":"\\b\\t\\n\\f\\r\\"\\\\ \\u0000 \\u001f"}'],
    ["text beyond ASCII is not escaped", '{"purpose":"é 漢 \u{1F511} \u007F \u2028"}'],
    ["a byte order mark inside a string is kept", '{"purpose":"\uFEFF"}'],
    ["an empty string in a set is kept", '{"operations":["","a"]}'],
  ])("is read: %s", (_, text) => {
    expect(problemsIn(text)).toEqual([]);
  });
});

describe("a caveat that is not a JSON object is not a hop", () => {
  test.each([
    ["a predicate of another kind", "time < 2030-01-01T00:00:00Z"],
    ["an empty caveat", ""],
    ["an array", '["operations"]'],
    ["a string", '"operations"'],
    ["null", "null"],
    ["a byte order mark before the object", '\uFEFF{"operations":["a"]}'],
    ["white space before the object", ' {"operations":["a"]}'],
  ])("%s", (_, text) => {
    expect(problemsIn(text)).toEqual(["caveat_unknown (caveat)"]);
  });

  test.each([
    ["a lone continuation byte", [0x7b, 0x80, 0x7d]],
    ["an overlong encoding", [0x7b, 0xc0, 0xaf, 0x7d]],
    ["an encoded surrogate", [0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x7d]],
    ["UTF-16", [0xff, 0xfe, 0x7b, 0x00]],
  ])("bytes that are not UTF-8: %s", (_, bytes) => {
    expect(problemsIn(Uint8Array.from(bytes))).toEqual(["caveat_unknown (caveat)"]);
  });
});

describe("a caveat that is not canonical is malformed", () => {
  test.each([
    ["broken JSON", '{"operations":["a"]'],
    ["text after the object", '{"operations":["a"]}x'],
    ["a trailing line feed", '{"operations":["a"]}\n'],
    ["space after a colon", '{"operations": ["a"]}'],
    ["a space between properties", '{"operations":["a", "b"]}'],
    ["properties out of order", '{"operations":["a"],"expires":"2030-01-01T00:00:00Z"}'],
    ["arguments out of order", '{"constraints":{"b":1,"a":1}}'],
    ["number-like arguments in number order", '{"constraints":{"2":1,"10":1}}'],
    ["the same key twice", '{"operations":["a"],"operations":["a"]}'],
    ["the same argument twice", '{"constraints":{"a":1,"a":1}}'],
    ["the same key in an escaped spelling", '{"operations":["a"],"operation\\u0073":["b"]}'],
    ["an escape that is not needed", '{"purpose":"\\u0061"}'],
    ["an escaped slash", '{"purpose":"a\\/b"}'],
    ["an upper-case escape", '{"purpose":"\\u001F"}'],
    ["a long escape where a short one exists", '{"purpose":"\\u000a"}'],
    ["a pair of surrogate escapes", '{"purpose":"\\ud83d\\udd11"}'],
    ["a lone surrogate escape", '{"purpose":"\\ud83d"}'],
    ["a lone surrogate escape in a name", '{"constraints":{"\\udd11":1}}'],
    ["a raw control character", '{"purpose":"\u0001"}'],
    ["negative zero", '{"maxFurtherHops":-0}'],
    ["a fraction of zero", '{"maxFurtherHops":1.0}'],
    ["an exponent where none is needed", '{"constraints":{"a":1e2}}'],
    ["an exponent without sign", '{"constraints":{"a":1e21}}'],
    ["more digits than a double has", '{"constraints":{"a":0.10000000000000001}}'],
    ["a number between two doubles", '{"constraints":{"a":9007199254740993}}'],
    ["a number that is infinite as a double", '{"constraints":{"a":1e400}}'],
    ["a number that is zero as a double", '{"constraints":{"a":1e-400}}'],
    ["a leading zero", '{"constraints":{"a":01}}'],
    ["NaN", '{"constraints":{"a":NaN}}'],
  ])("%s", (_, text) => {
    expect(problemsIn(text)).toEqual(["caveat_malformed (caveat)"]);
  });

  test("the empty object", () => {
    expect(problemsIn("{}")).toEqual(["caveat_malformed (caveat)"]);
  });
});

describe("a caveat is refused because of an unknown key", () => {
  test.each([
    ["a misspelt key", '{"opperations":["a"]}', "caveat_unknown opperations → operations"],
    ["another case", '{"Expires":"2030-01-01T00:00:00Z"}', "caveat_unknown Expires → expires"],
    ["a key from elsewhere", '{"$schema":"x"}', "caveat_unknown $schema"],
    ["an empty key", '{"":1}', "caveat_unknown "],
    ["cnf, which is reserved", '{"cnf":{"jkt":"x"}}', "caveat_unknown cnf"],
    ["handover, which is reserved", '{"handover":"x"}', "caveat_unknown handover"],
    ["__proto__", '{"__proto__":{"operations":["a"]}}', "caveat_unknown __proto__"],
    ["constructor", '{"constructor":1}', "caveat_unknown constructor"],
    ["toString", '{"toString":1}', "caveat_unknown toString"],
  ])("%s", (_, text, problem) => {
    expect(problemsIn(text)).toEqual([problem]);
  });

  test("that is reserved, and the message says that it is reserved", () => {
    const reading = readHop(utf8('{"cnf":{}}'));
    expect(reading.ok || reading.problems[0]?.message).toMatch(/^reserved key "cnf" in a hop; /);
  });

  test("although the caveat's other keys are known", () => {
    const text = '{"operations":["a"],"operationz":["b"]}';
    expect(problemsIn(text)).toEqual(["caveat_unknown operationz → operations"]);
  });
});

test("readHop reports every problem of a caveat", () => {
  const text = '{"cnf":1,"constraints":{"a":[],"b":{"mox":1}},"expires":"soon","operations":[]}';
  expect(problemsIn(text)).toEqual([
    "caveat_unknown cnf",
    "caveat_malformed constraints.a",
    "caveat_unknown constraints.b.mox → max",
    "caveat_malformed expires",
    "caveat_malformed operations",
  ]);
});

test("readHop reports at most 16 problems of a caveat, of whatever kind", () => {
  const limits = Object.fromEntries(Array.from({ length: 20 }, (_, at) => [`a${10 + at}`, []]));
  const text = JSON.stringify({ cnf: 1, constraints: limits, operations: [] });
  const problems = problemsIn(text);
  expect(problems).toHaveLength(16);
  expect(problems.slice(0, 2)).toEqual(["caveat_unknown cnf", "caveat_malformed constraints.a10"]);
});

test.each([null, 1, "text", true, ["operations"]])(
  "hopFrom refuses a JSON value that is not an object: %j",
  (value) => {
    expect(hopFrom(value)).toMatchObject({ ok: false, problems: [{ code: "caveat_unknown" }] });
  },
);
