import { describe, expect, test } from "vitest";
import { assertTimes, withoutDurations } from "../../src/caveats/durations.js";
import type { HopInit } from "../../src/caveats/hop.js";
import { readDuration } from "../../src/caveats/time.js";
import { misuse } from "./support.js";

const NOW = Date.UTC(2026, 0, 1);
const at = (seconds: number): Date => new Date(NOW + seconds * 1000);
const text = (seconds: number): string => at(seconds).toISOString().replace(".000", "");

describe("readDuration", () => {
  test.each<[string, number | undefined]>([
    ["90s", 90],
    ["15m", 900],
    ["2h", 7200],
    ["1d", 86_400],
    ["", undefined],
    ["15", undefined],
    ["m", undefined],
    ["15w", undefined],
    ["-1m", undefined],
    ["1.5h", undefined],
    ["123456789s", 123_456_789],
    ["1234567890s", undefined],
    ["in 15m", undefined],
    ["15m more", undefined],
  ])("reads %j as a number of seconds: %s", (duration, seconds) => {
    expect(readDuration(duration)).toBe(seconds);
  });
});

describe("withoutDurations", () => {
  test("turns durations into times, and leaves everything else unchanged", () => {
    expect(withoutDurations({ expires: "15m", notBefore: "30s", purpose: "1h" }, NOW)).toEqual({
      expires: at(900),
      notBefore: at(30),
      purpose: "1h",
    });
    const timed: HopInit = { expires: text(60), notBefore: at(5), operations: ["retrieve"] };
    expect(withoutDurations(timed, NOW)).toEqual(timed);
    expect(Object.keys(withoutDurations({ purpose: "a" }, NOW))).toEqual(["purpose"]);
    expect(withoutDurations({ expires: "soon" }, NOW)).toEqual({ expires: "soon" });
  });

  test("lowers expires to the token's expiry, unless the token has expired", () => {
    const end = (bound: number): unknown =>
      withoutDurations({ expires: "10m" }, NOW, { expires: text(bound) }).expires;
    expect(end(60)).toEqual(at(60));
    expect(end(3600)).toEqual(at(600));
    expect(end(1)).toEqual(at(1));
    expect(end(0)).toEqual(at(600));
    expect(end(-60)).toEqual(at(600));
  });

  test("raises notBefore to the token's notBefore, if that is later", () => {
    const start = (bound: number): unknown =>
      withoutDurations({ notBefore: "10m" }, NOW, { notBefore: text(bound) }).notBefore;
    expect(start(60)).toEqual(at(600));
    expect(start(3600)).toEqual(at(3600));
  });
});

describe("a time of a hop", () => {
  const FORMS =
    "a time such as 2026-01-31T23:59:59Z, a Date, or a duration such as 90s, 15m, 2h or 1d";

  test.each<[string, HopInit]>([
    ["may be absent", { purpose: "p" }],
    ["may be a timestamp", { expires: "2026-01-31T23:59:59Z" }],
    ["may be a timestamp with a fraction of a second", { expires: "2026-01-31T23:59:59.5Z" }],
    ["may be a Date", { expires: at(60), notBefore: at(0) }],
    ["may be a duration", { expires: "1d", notBefore: "90s" }],
  ])("%s", (_, hop) => {
    expect(misuse(() => assertTimes(hop))).toBe("accepted");
  });

  test.each<[string, object, string]>([
    ["may not be a word", { expires: "soon" }, `"expires" must be ${FORMS}, not "soon"`],
    ["may not be a number", { expires: 90 }, `"expires" must be ${FORMS}, not 90`],
    [
      "may not be a date without a time",
      { expires: "1h", notBefore: "2026-01-31" },
      `"notBefore" must be ${FORMS}, not "2026-01-31"`,
    ],
    [
      "may not be a duration in an array",
      { notBefore: ["90s"] },
      `"notBefore" must be ${FORMS}, not ["90s"]`,
    ],
  ])("%s", (_, hop, message) => {
    expect(misuse(() => assertTimes(hop))).toBe(message);
  });
});
