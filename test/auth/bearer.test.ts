import { expect, test } from "vitest";
import { readBearer } from "../../src/auth/bearer.js";
import { requestWith } from "./support.js";

function codeOf(authorization: string | undefined): string {
  const reading = readBearer(requestWith(authorization), "ask");
  return reading.ok ? reading.token : reading.denial.code;
}

test.each([
  ["Bearer abc", "abc"],
  ["bearer abc", "abc"],
  ["BEARER abc", "abc"],
  ["Bearer   abc", "abc"],
  ["Bearer aZ09-._~+/==", "aZ09-._~+/=="],
  [`Bearer ${"a".repeat(8185)}`, "a".repeat(8185)],
])("readBearer finds a token in the Authorization header %.20s", (authorization, token) => {
  expect(codeOf(authorization)).toBe(token);
});

test.each([
  ["no value", undefined],
  ["an empty value", ""],
  ["another scheme", "Basic YWxpY2U6c2VjcmV0"],
  ["a scheme with the same beginning", "Bearertoken abc"],
  ["a token without its scheme", "eyJhbGciOiJub25lIn0.e30."],
  ["a space before the scheme", " Bearer abc"],
  ["a tab after the scheme", "Bearer\tabc"],
  ["two schemes, another first", "Basic YWxpY2U6c2VjcmV0, Bearer abc"],
])("readBearer answers token_missing to an Authorization header with %s", (_, authorization) => {
  expect(codeOf(authorization)).toBe("token_missing");
});

test.each([
  ["the scheme alone", "Bearer"],
  ["the scheme and a space", "Bearer "],
  ["two tokens", "Bearer abc def"],
  ["two headers that were joined", "Bearer abc, Bearer def"],
  ["two schemes", "Bearer abc, Basic YWxpY2U6c2VjcmV0"],
  ["a space at the end", "Bearer abc "],
  ["a line's end", "Bearer abc\n"],
  ["= in the middle", "Bearer ab=c"],
  ["= alone", "Bearer ="],
  ["quotes", 'Bearer "abc"'],
  ["a parameter", "Bearer token=abc"],
  ["other letters", "Bearer äbc"],
  ["8 KiB and a character", `Bearer ${"a".repeat(8186)}`],
  ["a token of a megabyte", `Bearer ${"a".repeat(1_000_000)}`],
])("readBearer answers token_invalid to an Authorization header with %s", (_, authorization) => {
  expect(codeOf(authorization)).toBe("token_invalid");
});

test("readBearer ends the message of a denial with the given advice, and shows no credentials of the header", () => {
  for (const authorization of ["eyJzZWNyZXQi", "Bearer eyJzZWNyZXQi x", "Basic eyJzZWNyZXQi"]) {
    const reading = readBearer(requestWith(authorization), "ask the operator");
    const message = reading.ok ? "" : reading.denial.message;
    expect(message).toMatch(/; ask the operator$/);
    expect(message).not.toContain("eyJzZWNyZXQi");
  }
});
