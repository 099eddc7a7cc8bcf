import { describe, expect, test } from "vitest";
import { readHop } from "../../src/caveats/read-hop.js";
import { problemsIn, utf8 } from "./support.js";

describe("a limit on an argument", () => {
  test.each([
    ["an exact string", '"acc_1"'],
    ["an exact empty string", '""'],
    ["an exact number", "0.5"],
    ["the greatest exact whole number", "9007199254740992"],
    ["a very large number", "1e+308"],
    ["the smallest number", "5e-324"],
    ["true", "true"],
    ["false", "false"],
    ["null", "null"],
    ["one bound", '{"max":10}'],
    ["bounds that cross", '{"max":1,"min":2}'],
    ["a negative bound", '{"min":-1.5}'],
    ["a list with every type", '{"in":["a",1,false,null,true]}'],
    ["numbers in the order of their text", '{"in":[-1,10,9]}'],
    ["an exclusion", '{"not_in":["a"]}'],
    ["all operators", '{"in":[1],"max":2,"min":0,"not_in":[3]}'],
  ])("may be %s", (_, limit) => {
    expect(problemsIn(`{"constraints":{"a":${limit}}}`)).toEqual([]);
  });

  test.each([
    ["an array", '["a"]', "caveat_malformed constraints.a"],
    ["an object without operators", "{}", "caveat_malformed constraints.a"],
    ["const", '{"const":1}', "caveat_unknown constraints.a.const"],
    ["maximum", '{"maximum":1}', "caveat_unknown constraints.a.maximum"],
    ["Max", '{"Max":1}', "caveat_unknown constraints.a.Max → max"],
    ["notin", '{"notin":[1]}', "caveat_unknown constraints.a.notin → not_in"],
    ["__proto__", '{"__proto__":{"max":1}}', "caveat_unknown constraints.a.__proto__"],
    ["a bound that is a string", '{"max":"10"}', "caveat_malformed constraints.a.max"],
    ["a bound that is null", '{"min":null}', "caveat_malformed constraints.a.min"],
    ["a bound that is an array", '{"min":[1]}', "caveat_malformed constraints.a.min"],
    ["an empty array", '{"in":[]}', "caveat_malformed constraints.a.in"],
    ["an empty exclusion", '{"not_in":[]}', "caveat_malformed constraints.a.not_in"],
    ["a value in place of an array", '{"in":"a"}', "caveat_malformed constraints.a.in"],
    ["an array of arrays", '{"in":[["a"]]}', "caveat_malformed constraints.a.in"],
    ["an array of objects", '{"not_in":[{}]}', "caveat_malformed constraints.a.not_in"],
    ["an unsorted array", '{"in":["b","a"]}', "caveat_malformed constraints.a.in"],
    ["an array in the order of numbers", '{"in":[9,10]}', "caveat_malformed constraints.a.in"],
    ["an array ordered by type", '{"in":[1,"a"]}', "caveat_malformed constraints.a.in"],
    ["a value twice", '{"in":["a","a"]}', "caveat_malformed constraints.a.in"],
    ["null twice", '{"not_in":[null,null]}', "caveat_malformed constraints.a.not_in"],
  ])("may not be %s", (_, limit, problem) => {
    expect(problemsIn(`{"constraints":{"a":${limit}}}`)).toEqual([problem]);
  });
});

test.each(["{}", "[]", '["a"]', "null", '"a<=1"', "1"])("constraints may not be %s", (value) => {
  expect(problemsIn(`{"constraints":${value}}`)).toEqual(["caveat_malformed constraints"]);
});

describe("an argument's name", () => {
  test.each(["amount", "with space", "", "__proto__", "constructor", "hasOwnProperty", "0", "漢"])(
    "may be %j, and its limit is read under that name",
    (name) => {
      const reading = readHop(utf8(`{"constraints":{${JSON.stringify(name)}:{"max":1}}}`));
      const constraints = reading.ok ? reading.hop.constraints : {};
      expect(Object.entries(constraints ?? {})).toEqual([[name, { max: 1 }]]);
    },
  );

  test.each([
    ["plain_name-1", "constraints.plain_name-1"],
    ["a.b", 'constraints["a.b"]'],
    ["a b", 'constraints["a b"]'],
    ["", 'constraints[""]'],
    ["__proto__", "constraints.__proto__"],
  ])("%j is written as %s in the rule of a problem", (name, rule) => {
    const text = `{"constraints":{${JSON.stringify(name)}:[]}}`;
    expect(problemsIn(text)).toEqual([`caveat_malformed ${rule}`]);
  });
});
