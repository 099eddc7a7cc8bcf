import { expect, test } from "vitest";
import { randomBytes } from "../../src/bytes/random.js";

test("as many bytes as asked for, and others each time", () => {
  expect(randomBytes(16)).toHaveLength(16);
  expect(randomBytes(16)).not.toEqual(randomBytes(16));
});
