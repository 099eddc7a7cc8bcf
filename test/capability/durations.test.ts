import { describe, expect, test } from "vitest";
import type { HopInit } from "../../src/caveats/hop.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { attenuate } from "../../src/index.js";
import { append, codes, fixture, GET, mint, misuse, NOW } from "./support.js";

// NOW is 2030-01-01T00:00:00Z; tokens minted in these tests expire at 00:15:00.

const { issuer } = fixture();
const token = mint(issuer);

function appended(hop: HopInit, parent = token, now = NOW): HopInit | string {
  const child = attenuate(parent, hop, { now, nonce: false });
  return child.ok ? child.hop : child.overreaches.map(({ rule }) => rule).join();
}

describe("a duration in attenuate", () => {
  test.each<[string, HopInit, HopInit]>([
    ["of seconds", { expires: "90s" }, { expires: "2030-01-01T00:01:30Z" }],
    ["of minutes", { expires: "5m" }, { expires: "2030-01-01T00:05:00Z" }],
    ["of exactly the remaining lifetime", { expires: "15m" }, { expires: "2030-01-01T00:15:00Z" }],
    [
      "of more than the remaining lifetime",
      { expires: "16m" },
      { expires: "2030-01-01T00:15:00Z" },
    ],
    ["of hours", { expires: "2h" }, { expires: "2030-01-01T00:15:00Z" }],
    ["of days", { expires: "999999999d" }, { expires: "2030-01-01T00:15:00Z" }],
    ["as notBefore", { notBefore: "1m" }, { notBefore: "2030-01-01T00:01:00Z" }],
    [
      "as both notBefore and expires",
      { notBefore: "1m", expires: "1h" },
      { expires: "2030-01-01T00:15:00Z", notBefore: "2030-01-01T00:01:00Z" },
    ],
  ])("%s is written as a time, at most the token's own expiry", (_, hop, expected) => {
    expect(appended(hop)).toEqual(expected);
  });

  test("counts from the current time, and fractions of a second shorten the child's life", () => {
    const now = NOW + 1999;
    expect(appended({ expires: "10s" }, token, now)).toEqual({ expires: "2030-01-01T00:00:11Z" });
    expect(appended({ notBefore: "10s" }, token, now)).toEqual({
      notBefore: "2030-01-01T00:00:12Z",
    });
  });

  test("as notBefore is raised to the token's own notBefore", () => {
    const later = append(token, '{"notBefore":"2030-01-01T00:10:00Z"}');
    expect(appended({ notBefore: "1m" }, later)).toEqual({ notBefore: "2030-01-01T00:10:00Z" });
    expect(appended({ notBefore: "11m" }, later)).toEqual({ notBefore: "2030-01-01T00:11:00Z" });
  });

  test("is refused if it leaves the child no time", () => {
    expect(appended({ notBefore: "15m" })).toBe("notBefore");
    expect(appended({ notBefore: "5m", expires: "5m" })).toBe("notBefore");
  });

  test("is capped by the earliest expiry of the token's hops", () => {
    const shorter = append(
      append(token, '{"expires":"2030-01-01T00:02:00Z"}'),
      '{"expires":"2030-01-01T00:09:00Z"}',
    );
    expect(appended({ expires: "5m" }, shorter)).toEqual({ expires: "2030-01-01T00:02:00Z" });
  });

  test("ends at the moment when authorize begins to refuse the child", () => {
    const child = attenuate(token, { expires: "1m" }, { now: NOW });
    const at = (milliseconds: number): string[] =>
      codes(
        issuer.authorize(child.ok ? child.token : "", {
          ...GET,
          time: new Date(NOW + milliseconds),
        }),
      );
    expect(at(59_999)).toEqual([]);
    expect(at(60_000)).toEqual(["expired"]);
  });
});

describe("attenuate refuses a value of expires later than the token's expiry, and lowers it only with the option intersect", () => {
  test.each<[string, string | Date]>([
    ["as a string", "2030-01-01T00:15:01Z"],
    ["as a Date", new Date(NOW + 901_000)],
    ["as a string with a fraction of a second", "2030-01-01T00:15:01.250Z"],
  ])("%s", (_, expires) => {
    expect(appended({ expires })).toBe("expires");
    expect(attenuate(token, { expires }, { intersect: true })).toMatchObject({
      ok: true,
      hop: { expires: "2030-01-01T00:15:00Z" },
    });
  });
});

describe("a duration in mint", () => {
  const minted = (request: HopInit): unknown =>
    issuer.mint({ grant: "files", operations: ["get"], ...request }).hop;

  test("counts from the issuer's clock", () => {
    expect(minted({ expires: "2h" })).toMatchObject({ expires: "2030-01-01T02:00:00Z" });
    expect(minted({ notBefore: "90s" })).toMatchObject({
      expires: "2030-01-01T00:15:00Z",
      notBefore: "2030-01-01T00:01:30Z",
    });
  });

  test("is refused past the issuer's maximum, not lowered", () => {
    expect(minted({ expires: "24h" })).toMatchObject({ expires: "2030-01-02T00:00:00Z" });
    expect(misuse(() => minted({ expires: "86401s" }))).toMatch(/^expires .* is later than this/);
    expect(misuse(() => minted({ expires: "0s" }))).toMatch(/is not after now/);
    expect(misuse(() => minted({ notBefore: "15m" }))).toMatch(/is not before expires/);
  });
});

describe("attenuate, mint and normalizeHop refuse a string that is neither a duration nor a time", () => {
  test.each(
    [
      ["", "5", "m", "5 m", " 5m", "5m ", "-5m", "+5m", "1.5h", "5M", "5w", "5min", "PT5M", "5m\n"],
      ["0x5m", "٥m", "1000000000s", "1h30m", "now"],
    ].flat(),
  )("%j", (expires) => {
    for (const run of [
      () => attenuate(token, { expires }, { now: NOW }),
      () => attenuate(token, { notBefore: expires }, { now: NOW }),
      () => issuer.mint({ grant: "files", operations: ["get"], expires }),
      () => normalizeHop({ expires }),
    ]) {
      expect(misuse(run)).toMatch(/must be a time such as/);
    }
  });
});

test("normalizeHop refuses a duration, since it has no current time", () => {
  expect(misuse(() => normalizeHop({ expires: "5m" }))).toContain('"expires" must be a time');
});

test.each([Number.NaN, Number.POSITIVE_INFINITY, 1e300])(
  "attenuate refuses %d as the option now",
  (now) => {
    expect(misuse(() => attenuate(token, { notBefore: "5m" }, { now }))).not.toBe("accepted");
  },
);
