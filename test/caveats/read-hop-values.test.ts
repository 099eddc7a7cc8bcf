import { describe, expect, test } from "vitest";
import { problemsIn } from "./support.js";

describe.each(["operations", "resourceHandles", "audience", "invokers"])("%s", (key) => {
  test.each(['["a"]', '["a","b"]', '["a","aa"]'])("may be %s", (value) => {
    expect(problemsIn(`{"${key}":${value}}`)).toEqual([]);
  });

  test.each([
    ["empty", "[]"],
    ["unsorted", '["b","a"]'],
    ["with a member twice", '["a","a"]'],
    ["ordered by code point, not by code unit", '["\uFFFF","\u{10000}"]'],
    ["of numbers", "[1,2]"],
    ["with null", '["a",null]'],
    ["of arrays", '[["a"]]'],
    ["a string", '"a"'],
    ["an object", '{"0":"a"}'],
    ["null", "null"],
    ["true", "true"],
  ])("is malformed: %s", (_, value) => {
    expect(problemsIn(`{"${key}":${value}}`)).toEqual([`caveat_malformed ${key}`]);
  });
});

describe.each(["expires", "notBefore"])("%s", (key) => {
  test.each([
    "2024-02-29T00:00:00Z",
    "2000-02-29T12:00:00Z",
    "0000-01-01T00:00:00Z",
    "9999-12-31T23:59:59Z",
    "1969-12-31T23:59:59Z",
  ])("may be %s", (time) => {
    expect(problemsIn(`{"${key}":"${time}"}`)).toEqual([]);
  });

  test.each([
    ["29 February of a common year", '"2023-02-29T00:00:00Z"'],
    ["29 February of 1900", '"1900-02-29T00:00:00Z"'],
    ["31 April", '"2023-04-31T00:00:00Z"'],
    ["31 June", '"2023-06-31T00:00:00Z"'],
    ["31 September", '"2023-09-31T00:00:00Z"'],
    ["31 November", '"2023-11-31T00:00:00Z"'],
    ["with a character before 0", '"2023-04-/1T00:00:00Z"'],
    ["with a character after 9", '"2023-04-0:T00:00:00Z"'],
    ["month 0", '"2023-00-01T00:00:00Z"'],
    ["month 13", '"2023-13-01T00:00:00Z"'],
    ["day 0", '"2023-01-00T00:00:00Z"'],
    ["a leap second", '"2016-12-31T23:59:60Z"'],
    ["24:00", '"2023-01-01T24:00:00Z"'],
    ["minute 60", '"2023-01-01T00:60:00Z"'],
    ["a lower-case z", '"2023-01-01T00:00:00z"'],
    ["a lower-case t", '"2023-01-01t00:00:00Z"'],
    ["a space for the T", '"2023-01-01 00:00:00Z"'],
    ["a fraction", '"2023-01-01T00:00:00.000Z"'],
    ["an offset", '"2023-01-01T00:00:00+00:00"'],
    ["no zone", '"2023-01-01T00:00:00"'],
    ["a date alone", '"2023-01-01"'],
    ["a five-digit year", '"+10000-01-01T00:00:00Z"'],
    ["a negative year", '"-0001-01-01T00:00:00Z"'],
    ["a line feed behind", '"2023-01-01T00:00:00Z\\n"'],
    ["digits of another script", '"٢٠٢٣-01-01T00:00:00Z"'],
    ["an empty text", '""'],
    ["seconds since 1970", "1700000000"],
    ["null", "null"],
    ["an array", '["2023-01-01T00:00:00Z"]'],
    ["an object that has no text", '{"toString":1}'],
  ])("is malformed: %s", (_, value) => {
    expect(problemsIn(`{"${key}":${value}}`)).toEqual([`caveat_malformed ${key}`]);
  });
});

describe("maxFurtherHops", () => {
  test.each(["0", "1", "9007199254740991"])("may be %s", (value) => {
    expect(problemsIn(`{"maxFurtherHops":${value}}`)).toEqual([]);
  });

  test.each(["-1", "0.5", "9007199254740992", "1e+308", '"1"', "null", "true", "[0]"])(
    "may not be %s",
    (value) => {
      expect(problemsIn(`{"maxFurtherHops":${value}}`)).toEqual([
        "caveat_malformed maxFurtherHops",
      ]);
    },
  );
});

describe("nonce", () => {
  test.each(["AAAAAAAAAAAAAAAA", "azAZ09-_azAZ09-_"])("may be %s", (value) => {
    expect(problemsIn(`{"nonce":"${value}"}`)).toEqual([]);
  });

  test.each([
    ["shorter", '"AAAAAAAAAAAAAAA"'],
    ["longer", '"AAAAAAAAAAAAAAAAA"'],
    ["padded", '"AAAAAAAAAAAAAA=="'],
    ["in the standard alphabet", '"AAAAAAAAAAAAAA+/"'],
    ["a number", "1234567890123456"],
    ["empty", '""'],
    ["null", "null"],
  ])("is malformed: %s", (_, value) => {
    expect(problemsIn(`{"nonce":${value}}`)).toEqual(["caveat_malformed nonce"]);
  });
});

describe("purpose", () => {
  test.each(['""', '"read the minutes"', `"${"x".repeat(1000)}"`])("may be a string", (value) => {
    expect(problemsIn(`{"purpose":${value}}`)).toEqual([]);
  });

  test.each(["1", "null", "true", '["a"]', '{"text":"a"}'])("may not be %s", (value) => {
    expect(problemsIn(`{"purpose":${value}}`)).toEqual(["caveat_malformed purpose"]);
  });
});
