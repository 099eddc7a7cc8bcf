import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { isRevocationId, revocationIdOf } from "../../src/revocation/id.js";

test("revocationIdOf returns the truncated SHA-256 of a label and the tag", () => {
  const tag = Uint8Array.from({ length: 32 }, (_, i) => i);
  const hash = createHash("sha256").update("proviso-revocation-v1").update(tag).digest();
  const expected = `rv_${hash.subarray(0, 16).toString("base64url")}`;
  expect(revocationIdOf(tag)).toBe(expected);
  expect(isRevocationId(expected)).toBe(true);
});

test.each(["", "rv_", `rv_${"a".repeat(21)}`, `rv_${"a".repeat(23)}`, `rv_${"+".repeat(22)}`])(
  "isRevocationId is false for %j, and for that string with a line feed",
  (text) => {
    expect(isRevocationId(text)).toBe(false);
    expect(isRevocationId(`${text}\n`)).toBe(false);
  },
);
