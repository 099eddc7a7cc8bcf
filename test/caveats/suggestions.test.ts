import { describe, expect, test } from "vitest";
import { shown, shownList } from "../../src/caveats/scalar.js";
import { nearest } from "../../src/checks/nearest.js";

describe("the suggested name", () => {
  test.each<[string, unknown, string[], string | undefined]>([
    ["corrects a transposition", "retreive", ["search", "retrieve"], "retrieve"],
    ["corrects a missing letter", "serch", ["search", "retrieve"], "search"],
    ["corrects one letter of a short name", "gat", ["get", "put"], "get"],
    ["corrects two swapped letters of a short name", "sned", ["read", "send"], "send"],
    ["is none for a name that shares too little", "delete", ["search", "retrieve"], undefined],
    ["is none for the name itself", "get", ["get"], undefined],
    ["is none without candidates", "get", [], undefined],
    ["is none for a value that is not a string", 7, ["7"], undefined],
    ["is none for a long string", "x".repeat(65), ["x".repeat(64)], undefined],
    ["is never a long string", "x".repeat(64), ["x".repeat(65)], undefined],
  ])("%s", (_, text, names, expected) => {
    expect(nearest(text, names)).toBe(expected);
  });

  test("is searched among the first 64 names only", () => {
    const names = Array.from({ length: 64 }, (_, i) => `${i}${"x".repeat(20)}`);
    expect(nearest("retreive", [...names, "retrieve"])).toBeUndefined();
    expect(nearest("retreive", [...names.slice(1), "retrieve"])).toBe("retrieve");
  });
});

describe("values in messages are shown", () => {
  test.each<[unknown, string]>([
    ["a\n", '"a\\n"'],
    [-0, "0"],
    [{ max: 1 }, '{"max":1}'],
    [undefined, "undefined"],
    ["x".repeat(100), `"${"x".repeat(76)}...`],
    [1n, "a bigint that cannot be shown"],
  ])("%o as %s", (value, text) => {
    expect(shown(value)).toBe(text);
  });

  test.each<[number, string]>([
    [0, "nothing"],
    [1, "0"],
    [8, "0, 1, 2, 3, 4, 5, 6, 7"],
    [10, "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"],
  ])("a list of %d items as %s", (length, text) => {
    expect(shownList(Array.from({ length }, (_, i) => i))).toBe(text);
  });
});
