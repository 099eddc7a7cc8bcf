import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { misuse, NOW, problemsIn } from "./support.js";

// The times of a hop are whole seconds. A timestamp with a fraction, as from toISOString, is rounded so that the hop
// does not allow more: an end is rounded down, and a start is rounded up.

describe("a time with a fraction of a second", () => {
  test.each<[string, string, string]>([
    ["2030-01-01T00:00:00.000Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"],
    ["2030-01-01T00:00:00.001Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"],
    ["2030-01-01T00:00:00.5Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"],
    ["2030-01-01T00:00:00.999Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"],
    ["2030-01-01T00:00:00.000000001Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:01Z"],
    ["2030-01-01T00:00:00.000000000Z", "2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"],
    ["2029-12-31T23:59:59.999Z", "2029-12-31T23:59:59Z", "2030-01-01T00:00:00Z"],
    ["2028-02-28T23:59:59.9Z", "2028-02-28T23:59:59Z", "2028-02-29T00:00:00Z"],
  ])("%s becomes %s as expires and %s as notBefore", (text, expires, notBefore) => {
    expect(normalizeHop({ expires: text })).toEqual({ expires });
    expect(normalizeHop({ notBefore: text })).toEqual({ notBefore });
  });

  test("is written like a Date of the same moment", () => {
    fc.assert(
      fc.property(fc.integer({ min: NOW - 1e11, max: NOW + 1e11 }), (milliseconds) => {
        const date = new Date(milliseconds);
        const [text] = [date.toISOString()];
        expect(normalizeHop({ expires: text })).toEqual(normalizeHop({ expires: date }));
        expect(normalizeHop({ notBefore: text })).toEqual(normalizeHop({ notBefore: date }));
        const { expires = "" } = normalizeHop({ expires: text });
        const { notBefore = "" } = normalizeHop({ notBefore: text });
        expect(Date.parse(expires)).toBeLessThanOrEqual(milliseconds);
        expect(Date.parse(notBefore)).toBeGreaterThanOrEqual(milliseconds);
        expect(Date.parse(notBefore) - Date.parse(expires)).toBeLessThanOrEqual(1000);
      }),
    );
  });

  test.each([
    "2030-01-01T00:00:00.Z",
    "2030-01-01T00:00:00.0000000001Z",
    "2030-01-01T00:00:00,5Z",
    "2030-01-01T00:00:00.5",
    "2030-01-01T00:00:00.5+00:00",
    "2030-01-01T00:00:00.5z",
    "2030-02-30T00:00:00.5Z",
    "2030-01-01T24:00:00.0Z",
    "2016-12-31T23:59:60.5Z",
    "2030-01-01T00:00:00.٥Z",
    "2030-01-01T00:00:00.5Z\n",
    "+002030-01-01T00:00:00.5Z",
  ])("is refused if it is malformed: %j", (text) => {
    expect(misuse(() => normalizeHop({ expires: text }))).toContain('"expires" must be a time');
    expect(misuse(() => normalizeHop({ notBefore: text }))).toContain('"notBefore" must be a time');
  });

  test("in the last second of year 9999 is refused as notBefore", () => {
    const text = "9999-12-31T23:59:59.5Z";
    expect(normalizeHop({ expires: text })).toEqual({ expires: "9999-12-31T23:59:59Z" });
    expect(misuse(() => normalizeHop({ notBefore: text }))).toContain("four digits");
  });

  test("is malformed in a caveat, which allows only whole seconds", () => {
    expect(problemsIn('{"expires":"2030-01-01T00:00:00.000Z"}')).toEqual([
      "caveat_malformed expires",
    ]);
    expect(problemsIn('{"notBefore":"2030-01-01T00:00:00.5Z"}')).toEqual([
      "caveat_malformed notBefore",
    ]);
    expect(problemsIn('{"expires":"5m"}')).toEqual(["caveat_malformed expires"]);
  });
});
