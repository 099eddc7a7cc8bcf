import { describe, expect, test } from "vitest";
import { inexactPart } from "../../src/bytes/exact-json.js";
import { cpuTime } from "../support/cpu-time.js";
import { FULL } from "../support/size.js";

describe("inexactPart with a large text", () => {
  if (FULL) {
    test("reads a string of 32 MiB, of plain characters or of escapes", () => {
      const half = 2 ** 24;
      for (const string of ["x".repeat(2 * half), '\\"'.repeat(half)]) {
        expect(inexactPart(`{"a":"${string}","b":1}`)).toBeUndefined();
        expect(inexactPart(`{"a":"${string}","b":1e999}`)).toContain("1e999");
      }
    });
  }

  test("takes less than 2 seconds for numbers of 250,000 digits and a string of 120,000 escapes", () => {
    const spent = cpuTime();
    expect(inexactPart(`[${"1".repeat(250_000)}]`)).toBeDefined();
    expect(inexactPart(`[0.${"0".repeat(250_000)}]`)).toBeUndefined();
    expect(inexactPart(`["${"\\\\".repeat(120_000)}"]`)).toBeUndefined();
    expect(spent()).toBeLessThan(2000);
  });
});
