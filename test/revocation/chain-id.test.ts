import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { chainIdOf } from "../../src/revocation/id.js";
import { misuse } from "../caveats/support.js";

test("chainIdOf writes the bytes of a revocation id as a UUID of version 8", () => {
  const zeros = `rv_${"A".repeat(22)}`;
  const ones = `rv_${"_".repeat(21)}w`;
  expect(chainIdOf(zeros)).toBe("00000000-0000-8000-8000-000000000000");
  expect(chainIdOf(ones)).toBe("ffffffff-ffff-8fff-bfff-ffffffffffff");
});

test("chainIdOf gives the chain id of the example in docs/spec.md", () => {
  const text = readFileSync(new URL("../../docs/spec.md", import.meta.url), "utf8");
  const [, id = "", chain] = /`(rv_\S{22})` gives the chain id `(\S{36})`/.exec(text) ?? [];
  expect(chainIdOf(id)).toBe(chain);
});

test("chainIdOf refuses a string that is not a revocation id, and does not show the string", () => {
  for (const text of ["", "rv_", "cap_AAAAAAAAAAAAAAAAAAAAAA", `rv_${"A".repeat(21)}=`]) {
    expect(misuse(() => chainIdOf(text))).toBe(
      "a chain id is made from a revocation id: rv_ and 22 base64url characters",
    );
  }
});
