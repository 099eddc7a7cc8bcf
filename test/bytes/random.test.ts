import { expect, test } from "vitest";
import { randomBytes } from "../../src/bytes/random.js";

test("randomBytes returns the number of bytes asked for, different each time", () => {
  expect(randomBytes(16)).toHaveLength(16);
  expect(randomBytes(16)).not.toEqual(randomBytes(16));
});
