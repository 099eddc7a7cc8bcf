import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DigestTable } from "../../src/capability/digest-table.js";

/** A digest whose first bytes, which choose the bucket, are the same for many numbers. */
function digest(number: number): string {
  return "\0\0\0".padEnd(31, "\xff") + String.fromCharCode(number);
}

/** Values from the least recently used on. */
function inOrder<Value>(table: DigestTable<Value>): (Value | undefined)[] {
  const values: (Value | undefined)[] = [];
  for (let entry = table.oldest; entry !== 0; entry = table.after(entry)) {
    values.push(table.value(entry));
  }
  return values;
}

describe("a table by digest", () => {
  test("does as a map in the order of use, whatever is added, used and removed", () => {
    const step = fc.tuple(fc.constantFrom("add", "use", "remove"), fc.nat(150));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400, size: "max" }), (steps) => {
        const table = new DigestTable<number>();
        const model = new Map<string, number>();
        for (const [at, [what, number]] of steps.entries()) {
          const key = digest(number);
          const entry = table.find(key);
          expect(table.value(entry)).toBe(model.get(key));
          if (entry === 0) {
            if (what !== "add") continue;
            table.add(key, at);
            model.set(key, at);
            continue;
          }
          const value = model.get(key);
          if (what === "remove") table.remove(entry);
          else table.use(entry);
          model.delete(key);
          if (what !== "remove" && value !== undefined) model.set(key, value);
        }
        expect(inOrder(table)).toEqual([...model.values()]);
        expect(table.size).toBe(model.size);
      }),
    );
  });

  test("keeps every entry when it grows", () => {
    const table = new DigestTable<number>();
    const numbers = Array.from({ length: 1000 }, (_, number) => number);
    const key = (number: number) =>
      String.fromCharCode(number & 255, number >> 8, number % 7).padEnd(32, "\x80");
    for (const number of numbers) table.add(key(number), number);
    expect(inOrder(table)).toEqual(numbers);
    expect(numbers.map((number) => table.value(table.find(key(number))))).toEqual(numbers);
  });

  test.each([0, 1, 3, 15, 31])("compares byte %i", (at) => {
    const table = new DigestTable<string>();
    const known = "\x41".repeat(32);
    table.add(known, "kept");
    const other = `${known.slice(0, at)}\x40${known.slice(at + 1)}`;
    expect(table.value(table.find(known))).toBe("kept");
    expect(table.find(other)).toBe(0);
    expect(table.find(known.slice(0, 31))).toBe(0);
    expect(table.find(`${known}\0`)).toBe(0);
  });

  test("holds nothing that was removed", () => {
    const table = new DigestTable<string>();
    table.add(digest(1), "kept");
    const entry = table.find(digest(1));
    table.remove(entry);
    expect([table.find(digest(1)), table.value(entry), table.size, table.oldest]).toEqual([
      ...[0, undefined, 0, 0],
    ]);
  });
});
