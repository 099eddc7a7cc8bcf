import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readLimits } from "../../cli/limit-expression.js";
import { momentFrom, seenFromNow, spanInWords } from "../../cli/moment.js";
import { escapedJson, printable, withoutTokens } from "../../cli/output.js";
import { hopRows } from "../../cli/token-words.js";
import { readDuration } from "../../src/caveats/time.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { anyCharacter } from "../support/any-character.js";

const NOW = Date.parse("2030-01-31T12:00:00.250Z");

describe("times and durations", () => {
  test.each<[string, string]>([
    ["90s", "2030-01-31T12:01:30.250Z"],
    ["15m", "2030-01-31T12:15:00.250Z"],
    ["2h", "2030-01-31T14:00:00.250Z"],
    ["1d", "2030-02-01T12:00:00.250Z"],
    ["0s", "2030-01-31T12:00:00.250Z"],
    ["2030-01-31T23:59:59Z", "2030-01-31T23:59:59.000Z"],
    ["2030-01-31t23:59:59z", "2030-01-31T23:59:59.000Z"],
    ["2030-01-31T23:59:59+02:00", "2030-01-31T21:59:59.000Z"],
    ["2030-01-31T23:59:59-05:30", "2030-02-01T05:29:59.000Z"],
    ["2030-01-31T23:59:59.000Z", "2030-01-31T23:59:59.000Z"],
    ["2030-01-31T23:59:59.5Z", "2030-01-31T23:59:59.001Z"],
  ])("a time given on the command line is read: %s", (text, expected) => {
    expect(momentFrom("--expires", text, NOW).toISOString()).toBe(expected);
  });

  test("a fraction of a second is rounded down in expires and up in notBefore", () => {
    const moment = momentFrom("--expires", "2030-01-31T23:59:59.5Z", NOW);
    const hop = normalizeHop({ expires: moment, notBefore: moment });
    expect(hop).toEqual({ expires: "2030-01-31T23:59:59Z", notBefore: "2030-02-01T00:00:00Z" });
  });

  test.each<[string, RegExp]>([
    ["", /neither a duration nor a time/],
    ["15", /neither a duration nor a time/],
    ["15 m", /neither a duration nor a time/],
    ["1h30m", /neither a duration nor a time/],
    ["-5m", /neither a duration nor a time/],
    ["2w", /neither a duration nor a time/],
    ["tomorrow", /neither a duration nor a time/],
    ["2030-01-31", /the time of day is missing/],
    ["2030-01-31 23:59:59Z", /neither a duration nor a time/],
    ["2030-01-31T23:59:59", /the time zone is missing/],
    ["2030-02-30T00:00:00Z", /there is no such time/],
    ["2030-01-31T23:59:60Z", /there is no such time/],
    ["2030-01-31T24:00:00Z", /there is no such time/],
    ["2030-01-31T23:59:59+24:00", /there is no such time/],
    ["999999999d", /beyond the years/],
    ["9999-12-31T23:59:59-01:00", /beyond the years/],
  ])("a wrong time is refused: %s", (text, message) => {
    expect(() => momentFrom("--at", text, NOW)).toThrow(message);
  });

  test("a duration is rounded, and shown in a single unit", () => {
    const spans = [0, 1.4, 109, 119, 299.9, 7141, 7200, 172_799, 172_800, 7_776_000];
    expect(spans.map((seconds) => spanInWords(seconds * 1000))).toEqual(
      ["0 s", "1 s", "109 s", "2 min", "5 min", "2 h", "2 h", "2 days", "2 days", "90 days"], // each is rounded
    );
    expect(seenFromNow("2030-01-31T12:15:00Z", NOW)).toBe("in 15 min");
    expect(seenFromNow("2030-01-31T11:00:00Z", NOW)).toBe("60 min ago");
    expect([readDuration("8h"), readDuration("8x"), readDuration("")]).toEqual([
      28_800,
      undefined,
      undefined,
    ]);
  });
});

describe("untrusted text", () => {
  test("is printed with escapes for control and other unsafe characters", () => {
    expect(printable("a\u001b[31m\u009b\n\u202eb\u200b\ud800é漢😀")).toBe(
      "a\\u{1b}[31m\\u{9b}\\n\\u{202e}b\\u{200b}\\u{d800}é漢😀",
    );
  });

  test("is written as JSON that has no unsafe characters and parses to the same value", () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: anyCharacter }), (json, text) => {
        const value = [JSON.parse(json), text];
        const written = escapedJson(value);
        expect(written).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
        expect(JSON.parse(written)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  test("is shortened in a message if the text could be a token", () => {
    const token = "AgIBYQAABiDy1zQRnrm14nj2Sbcnq5xpVI7Hw9j8NPgiov7aWHLqzA";
    expect(withoutTokens(`unknown command '${token}' here`)).toBe(
      "unknown command 'AgIBYQAA...' here",
    );
    expect(withoutTokens("key_NegAkBVevzXM cap_GWr1hed4gOYvJokW")).toBe(
      "key_NegAkBVevzXM cap_GWr1hed4gOYvJokW",
    );
  });
});

test("hopRows writes a limit as an expression that --arg reads as the same limit", () => {
  const scalar = fc.oneof(
    fc.string(),
    fc.constantFrom("5", "true", "null", "a,b", "USD", "-"),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
  );
  const list = fc.uniqueArray(scalar, { minLength: 1, maxLength: 4, selector: JSON.stringify });
  const limit = fc.oneof(
    scalar,
    list.map((items) => ({ in: items })),
    list.map((items) => ({ not_in: items })),
    fc.integer().map((max) => ({ max })),
    fc.integer().map((min) => ({ min })),
  );
  const name = fc.oneof(
    fc.constantFrom("amount", "a b", "x=y", "in", ":@", "a:b", "?a", "/a"),
    fc.string({ minLength: 1 }),
  );
  fc.assert(
    fc.property(name, limit, (argument, wanted) => {
      const hop = normalizeHop({ constraints: Object.fromEntries([[argument, wanted]]) });
      const [row] = hopRows(hop, NOW);
      expect(readLimits([row?.[1] ?? ""])).toEqual(hop);
    }),
  );
});
