import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inexactPart } from "../../src/bytes/exact-json.js";
import { sized } from "../support/size.js";

describe("inexactPart", () => {
  test.each([
    "0",
    "-0",
    "0.0",
    "1",
    "-1",
    "1.0",
    "1.50",
    "0.1",
    "0.10",
    "1e2",
    "100e-2",
    "1E+2",
    "1e21",
    "9007199254740991",
    "9007199254740992",
    "1.7976931348623157e308",
    "5e-324",
    "1e23",
    "123456789012345680000",
    "0e999",
    "0.000000100",
    "2.5E-7",
  ])("does not report the number %s", (number) => {
    expect(inexactPart(`{"a":[${number}],"b":${number}}`)).toBeUndefined();
  });

  test.each([
    "9007199254740993",
    "0.1000000000000000055511151231257827",
    "1e999",
    "-1e400",
    "1e-400",
    "123456789012345678901",
    "1.7976931348623158e308",
    "3e-324",
    "1.00000000000000001",
    "2.50000000000000000001",
  ])("reports the number %s", (number) => {
    expect(inexactPart(`{"a":1,"b":[${number}]}`)).toContain("cannot be kept as it is written");
  });

  test("reports a property that occurs twice in one object, at any depth, even if one of the two names is escaped", () => {
    expect(inexactPart('{"a":1,"b":{"c":1,"\\u0063":2}}')).toBe(
      'an object has the property "c" twice',
    );
    expect(inexactPart('{"a":{"b":1},"c":{"b":1}}')).toBeUndefined();
  });

  test("does not take digits inside a string for a number", () => {
    expect(inexactPart('{"9007199254740993":"1e999 \\" 9007199254740993"}')).toBeUndefined();
  });

  test("reports nothing in any output of JSON.stringify", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(inexactPart(JSON.stringify(value))).toBeUndefined();
      }),
      { numRuns: sized(5000) },
    );
  });
});
