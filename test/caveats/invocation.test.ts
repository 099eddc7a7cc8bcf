import { describe, expect, test } from "vitest";
import { checkInvocation, type Invocation } from "../../src/caveats/invocation.js";
import { misuse, NOW } from "./support.js";

function check(invocation: unknown): unknown {
  return checkInvocation(invocation as Invocation, () => NOW);
}

test("checkInvocation adds the default handles, arguments and time to an invocation that has only an operation", () => {
  expect(check({ operation: "get" })).toEqual({
    operation: "get",
    resourceHandles: [],
    arguments: {},
    time: "2030-01-01T00:00:00Z",
    moment: Date.parse("2030-01-01T00:00:00Z"),
  });
});

test("checkInvocation keeps an invocation's own time, cut to whole seconds", () => {
  const time = new Date("2031-02-03T04:05:06.789Z");
  expect(check({ operation: "get", time })).toMatchObject({ time: "2031-02-03T04:05:06Z" });
});

describe("a wrong invocation is a TypeError that names the property", () => {
  test.each<[string, unknown, string]>([
    ["not an object", null, "invocation must be a plain object with grant, operation, "],
    ["a string", "get", "invocation must be a plain object with grant, operation, "],
    ["no operation", {}, "invocation.operation must be a string"],
    [
      "a misspelt property",
      { operation: "get", args: {} },
      "invocation.args: unknown property; there are ",
    ],
    [
      "one handle that is not in an array",
      { operation: "get", resourceHandles: "rh" },
      "invocation.resourceHandles must",
    ],
    [
      "handles that are numbers",
      { operation: "get", resourceHandles: [1] },
      "invocation.resourceHandles[0] must be a string, not a number",
    ],
    [
      "a handle and a number",
      { operation: "get", resourceHandles: ["rh", 1] },
      "invocation.resourceHandles[1] must",
    ],
    [
      "null as handles",
      { operation: "get", resourceHandles: null },
      "invocation.resourceHandles must",
    ],
    ["arguments as an array", { operation: "get", arguments: [] }, "invocation.arguments must"],
    ["arguments as a string", { operation: "get", arguments: "a=1" }, "invocation.arguments must"],
    ["several invokers", { operation: "get", invoker: ["a"] }, "invocation.invoker must"],
    ["several audiences", { operation: "get", audience: ["a"] }, "invocation.audience must"],
    ["a number as grant", { operation: "get", grant: 5 }, "invocation.grant must be a grant"],
    [
      "an empty array of grants",
      { operation: "get", grant: [] },
      "invocation.grant must be a grant",
    ],
    ["a number among grants", { operation: "get", grant: ["a", 5] }, "invocation.grant must be"],
    [
      "an inherited grant",
      Object.assign(Object.create({ grant: "a" }), { operation: "get" }),
      "invocation must be a plain object, not an object that inherits from another",
    ],
    ["a string as time", { operation: "get", time: "2030-01-01" }, "invocation.time must"],
    ["an invalid Date", { operation: "get", time: new Date("never") }, "invocation.time must"],
    ["the year 10000", { operation: "get", time: new Date(253402300800000) }, "the year of"],
  ])("%s", (_, invocation, message) => {
    expect(misuse(() => check(invocation))).toContain(message);
  });
});

test("checkInvocation lists a single grant as a list of one, and a repeated grant once", () => {
  expect(check({ operation: "get", grant: "a" })).toMatchObject({ grants: ["a"] });
  expect(check({ operation: "get", grant: ["a", "b", "a"] })).toMatchObject({ grants: ["a", "b"] });
});
