import { describe, expect, test } from "vitest";
import type { Grant } from "../../src/issuer/index.js";
import { codes, fixture, misuse } from "./support.js";

const FILES: Grant = { id: "files", operations: ["get", "put"] };

describe("an issuer's option grants", () => {
  test.each<[string, unknown, string]>([
    [
      "an object in place of an array",
      { files: ["get"] },
      "grants: must be an array of at least one",
    ],
    ["null", null, "grants: must be an array of at least one"],
    ["an empty list", [], "grants: must be an array of at least one"],
    ["a grant that is null", [null], "grants[0] must be a plain object, not null"],
    ["an id with a space", [{ id: "a b", operations: ["get"] }], "grants[0].id: must be 1 to 128"],
    ["a long id", [{ id: "a".repeat(129), operations: ["get"] }], "grants[0].id: must be 1 to 128"],
    [
      "an id that is not a string",
      [{ id: 7, operations: ["get"] }],
      "grants[0].id: must be 1 to 128",
    ],
    ["an id twice", [FILES, FILES], 'grants[1].id: "files" is taken'],
    [
      "operations that are not an array",
      [{ id: "a", operations: "get" }],
      "grants[0].operations: must be",
    ],
    [
      "an empty operation",
      [{ id: "a", operations: [""] }],
      "grants[0].operations[0]: must be a non-empty string",
    ],
    [
      "an operation that is a number",
      [{ id: "a", operations: ["get", 1] }],
      "grants[0].operations[1]: must be a non-empty string",
    ],
    ["the operation *", [{ id: "a", operations: ["*"] }], '"*" is no operation; write out those'],
  ])("is refused by a TypeError that names the faulty property: %s", (_, grants, message) => {
    expect(misuse(() => fixture({ grants: grants as Grant[] }))).toContain(message);
  });

  test("accepts a grant id of 128 characters", () => {
    const id = "a".repeat(128);
    const { issuer } = fixture({ grants: [{ id, operations: ["get"] }] });
    const { token } = issuer.mint({ grant: id });
    expect(codes(issuer.authorize(token, { operation: "get" }))).toEqual([]);
  });

  test("accepts a grant named like an inherited property", () => {
    const grants = [{ id: "__proto__", operations: ["constructor"] }];
    const { issuer } = fixture({ grants });
    const { token } = issuer.mint({ grant: "__proto__" });
    expect(codes(issuer.authorize(token, { operation: "constructor" }))).toEqual([]);
    expect(codes(issuer.authorize(token, { grant: "__proto__", operation: "toString" }))).toEqual([
      "grant_denied",
      "operation_denied",
    ]);
  });
});
