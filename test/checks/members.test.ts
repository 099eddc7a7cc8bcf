import { expect, test } from "vitest";
import { assertMembers, meant } from "../../src/checks/members.js";

test("an unknown member is named with its path and the known one nearest to it", () => {
  expect(() => assertMembers({ expires: 1 }, ["expires"], "options")).not.toThrow();
  expect(() => assertMembers({ expire: 1 }, ["expires"], "options")).toThrow(
    new TypeError('options.expire: unknown member; did you mean "expires"?'),
  );
  expect(() => assertMembers({ expire: 1 }, ["expires"], "")).toThrow(
    new TypeError('expire: unknown member; did you mean "expires"?'),
  );
});

test.each([null, undefined, 1, "text"])(
  "%j is not an object, and is named by its place",
  (value) => {
    expect(() => assertMembers(value, [], "options")).toThrow(
      new TypeError("options: not an object"),
    );
    expect(() => assertMembers(value, [], "")).toThrow(new TypeError("it: not an object"));
  },
);

test("members that an object inherits are not its own", () => {
  expect(() => assertMembers(Object.create({ expire: 1 }), ["expires"], "")).not.toThrow();
});

test("what resembles none is shown all, if there are any", () => {
  expect(meant("colour", ["expires", "operations"])).toBe("; there are expires, operations");
  expect(meant("colour", [])).toBe("");
});
