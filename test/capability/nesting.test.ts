import { expect, test } from "vitest";
import { encodeUtf8 } from "../../src/bytes/utf8.js";
import { assertHopFits, CAPABILITY_LIMITS } from "../../src/capability/limits.js";

const nested = (depth: number) => encodeUtf8(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);

test("assertHopFits accepts a hop that is nested 7 deep, and refuses 8 as too_deep", () => {
  expect(() => assertHopFits(nested(7), CAPABILITY_LIMITS)).not.toThrow();
  expect(() => assertHopFits(nested(8), CAPABILITY_LIMITS)).toThrow("nested more than 7 deep");
});
