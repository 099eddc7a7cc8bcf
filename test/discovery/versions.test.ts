import { expect, test } from "vitest";
import {
  compareVersions,
  isInRange,
  parseVersion,
  rangeText,
  versionText,
} from "../../src/discovery/versions.js";

test.each([
  ["1", "1.0"],
  ["1.0", "1.0"],
  ["1.0.3", "1.0"],
  ["0.3.0", "0.3"],
  ["12.345.6", "12.345"],
  ["", undefined],
  ["v1.0", undefined],
  ["1.", undefined],
  ["1.x", undefined],
  ["01.0", undefined],
  ["1.00", undefined],
  ["1.0.0.0", undefined],
  ["1.0-rc1", undefined],
  [" 1.0", undefined],
  ["1.0\n", undefined],
  ["-1.0", undefined],
  ["1e3", undefined],
  ["٣.٠", undefined],
  ["9".repeat(400), undefined],
])("parseVersion reads %j as %s", (text, expected) => {
  const version = parseVersion(text);
  expect(version && versionText(version)).toBe(expected);
});

test("compareVersions compares major and minor parts as numbers", () => {
  const texts = ["1.10", "0.3", "2", "1.9", "1.2.99", "1.0"];
  const sorted = texts.flatMap((text) => parseVersion(text) ?? []).sort(compareVersions);
  expect(sorted.map(versionText)).toEqual(["0.3", "1.0", "1.2", "1.9", "1.10", "2.0"]);
});

test("a version range without a bound is open on that side", () => {
  const [one, two] = [
    { major: 1, minor: 0 },
    { major: 2, minor: 0 },
  ];
  const within = (range: Parameters<typeof isInRange>[1]) =>
    [one, two].map((v) => isInRange(v, range));
  expect(within({})).toEqual([true, true]);
  expect(within({ min: two })).toEqual([false, true]);
  expect(within({ max: one })).toEqual([true, false]);
  expect(
    [{}, { min: two }, { max: one }, { min: one, max: two }, { min: one, max: one }].map(rangeText),
  ).toEqual(["any", "2.0 or later", "1.0 or earlier", "1.0 to 2.0", "1.0"]);
});
