import { expect, test } from "vitest";
import { randomBytes } from "../../src/bytes/random.js";

test("randomBytes returns as many bytes as requested, different each time", () => {
  expect(randomBytes(16)).toHaveLength(16);
  expect(randomBytes(16)).not.toEqual(randomBytes(16));
});
