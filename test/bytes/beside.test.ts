import { describe, expect, test } from "vitest";
import { beside } from "../../src/bytes/beside.js";

describe("a value beside an object", () => {
  test("is seen by its own table alone, and not by copies", () => {
    const [ages, names] = [beside<object, number>(), beside<object, string>()];
    const owner = { known: true };
    ages.set(owner, 7);
    expect([ages.get(owner), names.get(owner), ages.get({ ...owner })]).toEqual([
      7,
      undefined,
      undefined,
    ]);
    expect(Object.getOwnPropertyNames(owner)).toEqual(["known"]);
  });

  test("is the last one set, also after the object is frozen", () => {
    const table = beside<object, number | undefined>();
    const owner = {};
    table.set(owner, 1);
    Object.freeze(owner);
    table.set(owner, 2);
    expect(table.get(owner)).toBe(2);
    table.set(owner, undefined);
    expect(table.get(owner)).toBeUndefined();
  });

  test("is beside no value that is no object", () => {
    const table = beside<object, number>();
    for (const none of [null, undefined, 1, "a", true]) {
      expect(table.get(none as unknown as object)).toBeUndefined();
    }
    const call = (): void => {};
    table.set(call, 3);
    expect(table.get(call)).toBe(3);
  });
});
