import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readArguments } from "../../cli/argument-expression.js";
import { CliError, EXIT } from "../../cli/exit.js";
import { readLimits } from "../../cli/limit-expression.js";

describe("--arg as a limit", () => {
  test.each<[string, unknown]>([
    ["amount<=1000", { amount: { max: 1000 } }],
    [" amount >= -1.5e2 ", { amount: { min: -150 } }],
    ["amount<=1.0", { amount: { max: 1 } }],
    ["amount<=-0", { amount: { max: 0 } }],
    ["currency in USD,EUR", { currency: { in: ["USD", "EUR"] } }],
    [
      'currency in "USD", EUR ,5,"5",true,null',
      { currency: { in: ["USD", "EUR", 5, "5", true, null] } },
    ],
    ['names in "a,b","c\\"d"', { names: { in: ["a,b", 'c"d'] } }],
    ['names in ["a",1]', { names: { in: ["a", 1] } }],
    ["to not in acc_1,acc_2", { to: { not_in: ["acc_1", "acc_2"] } }],
    ["to  not   in acc_1", { to: { not_in: ["acc_1"] } }],
    ["to=acc_456", { to: "acc_456" }],
    ["to = acc 456", { to: "acc 456" }],
    ["code=007", { code: "007" }],
    ["n=7", { n: 7 }],
    ['n="7"', { n: "7" }],
    ['n=""', { n: "" }],
    ["n=null", { n: null }],
    ["url=https://a.example/?b=c<=d in e", { url: "https://a.example/?b=c<=d in e" }],
    ["note in a=b,c<d", { note: { in: ["a=b", "c<d"] } }],
    ['amount={"min":1,"max":5}', { amount: { min: 1, max: 5 } }],
    ['"a <= b"<=5', { "a <= b": { max: 5 } }],
    ["inside=x", { inside: "x" }],
    ["a.b[0]=x", { "a.b[0]": "x" }],
    ["__proto__=x", JSON.parse('{"__proto__":"x"}')],
  ])("is read as the expected constraint: %s", (text, expected) => {
    expect(readLimits([text])).toStrictEqual({ constraints: expected });
  });

  test("several limits on one argument combine", () => {
    expect(readLimits(["a>=1", "b=x", "a<=5", 'a={"not_in":[3]}'])).toEqual({
      constraints: { a: { min: 1, max: 5, not_in: [3] }, b: "x" },
    });
  });

  test.each<[readonly string[], RegExp]>([
    [["amount"], /there is no operator/],
    [[""], /there is no operator/],
    [["pay amount<=5"], /"pay amount" is not the name of an argument/],
    [["pay:to is absent"], /"to is" is not the name of an argument/],
    [["pay:to length<=2"], /"to length" is not the name of an argument/],
    [["<=5"], /the argument's name is missing/],
    [['""=5'], /the argument's name is missing/],
    [["a<5"], /there is no </],
    [["a>5"], /there is no >/],
    [["a!=5"], /there is no !=/],
    [["a==5"], /there is no ==/],
    [["a<=five"], /"five" is not a number/],
    [["a<="], /the value is missing/],
    [["a="], /the value is missing/],
    [["a in "], /the value is missing/],
    [["a in b,,c"], /the value is missing/],
    [["a in [1,[2]]"], /this is not a list of values/],
    [["a in []"], /this is not a list of values/],
    [["a=[1]"], /limited to one value/],
    [['a={"max":5'], /starts like JSON but is not/],
    [['a="x'], /starts like JSON but is not/],
    [['a={"max":5,"max":6}'], /"max" is given twice/],
    [["a=12345678901234567890"], /12345678901234567890 cannot be held exactly/],
    [["a=9007199254740993"], /cannot be held exactly/],
    [["a=1e999"], /cannot be held exactly/],
    [["a=1e-999"], /cannot be held exactly/],
    [["a=0.1000000000000000055"], /cannot be held exactly/],
    [['a={"max":1e999}'], /cannot be held exactly/],
    [["a<=1", "a<=1"], /this argument is given "max" twice/],
    [["a=1", "a<=1"], /an exact value and another limit/],
    [["a=1", "a=1"], /an exact value and another limit/],
  ])("a wrong limit is refused: %j", (texts, message) => {
    expect(() => readLimits(texts)).toThrow(message);
    try {
      readLimits(texts);
    } catch (error) {
      expect(error).toBeInstanceOf(CliError);
      expect(error).toMatchObject({ code: "usage", exitCode: EXIT.usage });
    }
  });

  test.each(["mail:subject starts with Report", "pay:to is absent"])(
    "an unknown operator is refused with a hint that lists all operators: %s",
    (text) => {
      const hint = expect.stringContaining("under, at, begins with, each, items and absent");
      try {
        readLimits([text]);
        expect.unreachable();
      } catch (error) {
        expect(error).toMatchObject({ hint });
      }
    },
  );

  test("any number in JavaScript's notation is read exactly", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (number) => {
        const text = JSON.stringify(number);
        expect(readLimits([`a<=${text}`])).toEqual({ constraints: { a: { max: number + 0 } } });
      }),
    );
  });

  test("any string is read exactly if it is written as JSON", () => {
    const name = fc.string().filter((text) => text !== "");
    fc.assert(
      fc.property(name, fc.array(fc.string(), { minLength: 1 }), (argument, values) => {
        const items = values.map((value) => JSON.stringify(value)).join(",");
        const { constraints = {} } = readLimits([`${JSON.stringify(argument)} in ${items}`]);
        expect(Object.entries(constraints)).toEqual([[argument, { in: values }]]);
      }),
    );
  });

  test("a string of operators and punctuation is read, or refused with a CliError", () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'ab<>=! "{}[],:in not5e.-\\') }), (text) => {
        try {
          readLimits([text]);
        } catch (error) {
          expect(error).toBeInstanceOf(CliError);
        }
      }),
    );
  });
});

describe("--arg as an argument of a call", () => {
  test("is read as JSON if it is JSON, else as a string", () => {
    expect(readArguments(["a=5", 'b="5"', "c=x y", 'd={"e":[1]}', "f=[]", "g=x=y"])).toEqual({
      a: 5,
      b: "5",
      c: "x y",
      d: { e: [1] },
      f: [],
      g: "x=y",
    });
  });

  test.each<[readonly string[], RegExp]>([
    [["a<=5"], /an argument has one value/],
    [["a in b"], /an argument has one value/],
    [["a=1", "a=2"], /this argument is given twice/],
    [["a"], /there is no operator/],
    [["a=12345678901234567890"], /cannot be held exactly/],
  ])("a wrong argument is refused: %j", (texts, message) => {
    expect(() => readArguments(texts)).toThrow(message);
  });
});
