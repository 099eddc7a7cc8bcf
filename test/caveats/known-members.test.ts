import { expect, test } from "vitest";
import { assertMembers, meant } from "../../src/caveats/known-members.js";

test("an unknown member is named with its path and the known one nearest to it", () => {
  expect(() => assertMembers({ expires: 1 }, ["expires"], "options")).not.toThrow();
  expect(() => assertMembers({ expire: 1 }, ["expires"], "options")).toThrow(
    new TypeError('options.expire: unknown member; did you mean "expires"?'),
  );
  expect(() => assertMembers({ expire: 1 }, ["expires"], "")).toThrow(
    new TypeError('expire: unknown member; did you mean "expires"?'),
  );
});

test("what resembles none is shown all, if there are any", () => {
  expect(meant("colour", ["expires", "operations"])).toBe("; there are expires, operations");
  expect(meant("colour", [])).toBe("");
});
