import { describe, expect, test } from "vitest";
import type { MintRequest } from "../../src/capability/mint.js";
import { inspect } from "../../src/index.js";
import { codes, fixture, misuse, NOW } from "./support.js";

// Minting without operations must not allow every operation by omission.

const GRANTS = [
  { id: "files", operations: ["put", "get"] },
  { id: "weather:read", operations: ["forecast"] },
];
const { issuer: blind } = fixture();
const { issuer: knowing } = fixture({ grants: GRANTS });

describe("minting without operations", () => {
  test("is refused by an issuer without a list of grants", () => {
    expect(misuse(() => blind.mint({ grant: "files" }))).toBe(
      "operations must be named, since this issuer does not know its grants; anyOperation: true allows every one",
    );
    expect(misuse(() => blind.mint({ grant: "files", anyOperation: false }))).toMatch(
      /^operations/,
    );
  });

  test("writes the grant's operations into the hop, in canonical order, if the issuer has a list of grants", () => {
    const { hop, token } = knowing.mint({ grant: "files" });
    expect(hop.operations).toEqual(["get", "put"]);
    expect(inspect(token).authority.operations).toEqual(["get", "put"]);
    expect(inspect(token, { now: NOW }).warnings).toEqual([]);
    expect(codes(knowing.authorize(token, { grant: "files", operation: "put" }))).toEqual([]);
  });

  test("allows only the operations that the grant had when the token was minted, even if the grant gets more later", () => {
    const { keys } = fixture();
    const { token } = fixture({ keys, grants: GRANTS }).issuer.mint({ grant: "weather:read" });
    const grants = [{ id: "weather:read", operations: ["forecast", "alerts"] }];
    const { issuer: later } = fixture({ keys, grants });
    expect(codes(later.authorize(token, { operation: "alerts" }))).toEqual(["operation_denied"]);
  });

  test("has the same results in issue() as in mint()", () => {
    expect(misuse(() => blind.issue(() => ({ grant: "files" })))).toMatch(/^operations must be/);
    const { capability } = knowing.issue(() => ({ grant: "files" }));
    expect(capability.hop.operations).toEqual(["get", "put"]);
  });
});

describe("minting with anyOperation", () => {
  test("writes no operations into the hop, and inspect warns that they are missing", () => {
    for (const issuer of [blind, knowing]) {
      const { hop, token } = issuer.mint({ grant: "files", anyOperation: true });
      expect(hop).not.toHaveProperty("operations");
      const { warnings } = inspect(token, { now: NOW });
      expect(warnings.map(({ code }) => code)).toEqual(["no_operations"]);
    }
  });

  test("makes a token that allows only the operations of its grant, if the issuer has a list of grants", () => {
    const { token } = knowing.mint({ grant: "files", anyOperation: true });
    expect(codes(knowing.authorize(token, { grant: "files", operation: "get" }))).toEqual([]);
    expect(codes(knowing.authorize(token, { grant: "files", operation: "delete" }))).toEqual([
      "grant_denied",
    ]);
  });

  test("is refused together with operations", () => {
    const both = { grant: "files", operations: ["get"], anyOperation: true };
    expect(misuse(() => blind.mint(both))).toBe(
      "operations and anyOperation exclude each other; give one of them",
    );
  });

  test.each([1, "true", {}, null])(
    "is refused if the value of anyOperation is %o",
    (anyOperation) => {
      const request = { grant: "files", anyOperation } as unknown as MintRequest;
      expect(misuse(() => blind.mint(request))).toBe("request.anyOperation must be a boolean");
    },
  );
});

describe("an issuer with a list of grants refuses to mint", () => {
  test.each<[string, object, string]>([
    [
      "a misspelt grant",
      { grant: "file" },
      'this issuer has no grant "file"; it has "files", "weather:read"',
    ],
    [
      "an unknown grant",
      { grant: "calendar", anyOperation: true },
      'this issuer has no grant "calendar"; it has "files", "weather:read"',
    ],
    ["no grant", {}, "request.grant must be a non-empty string, not undefined"],
    [
      "an operation of another grant",
      { grant: "files", operations: ["get", "forecast"] },
      'the grant "files" has no operation "forecast"; it has "put", "get"',
    ],
    [
      "a misspelt operation",
      { grant: "files", operations: ["gut"] },
      'the grant "files" has no operation "gut"; did you mean "',
    ],
    [
      "an empty array of operations",
      { grant: "files", operations: [] },
      '"operations" must be a non-empty',
    ],
    [
      "limits on a misspelt operation",
      { grant: "files", operationConstraints: { gett: { path: { path: "/data" } } } },
      '"operationConstraints.gett": the token does not have the operation "gett"; did you mean "get"?',
    ],
    [
      "a closed list for an operation that is not asked for",
      { grant: "files", operations: ["get"], arguments: { put: ["path"] } },
      '"arguments.put": the token does not have the operation "put"; it has "get"',
    ],
    [
      "limits on an operation of another grant, even if anyOperation is true",
      { grant: "files", anyOperation: true, arguments: { forecast: [] } },
      '"arguments.forecast": the token does not have the operation "forecast"; it has "put", "get"',
    ],
    [
      "a prefix beside a path",
      {
        grant: "files",
        operationConstraints: { get: { p: { path: "/data", prefix: "/data/a" } } },
      },
      '"operationConstraints.get.p": "prefix" beside "path"',
    ],
    [
      "a prefix of a path",
      { grant: "files", operationConstraints: { get: { p: { prefix: "/data" } } } },
      '"operationConstraints.get.p": the "prefix" "/data"; a prefix ends inside a name, so give the folder in "path"',
    ],
    [
      "a prefix of each URL",
      { grant: "files", operationConstraints: { get: { p: { each: { prefix: "https://a.b" } } } } },
      '"operationConstraints.get.p": the "prefix" "https://a.b"; a prefix ends inside a name, so give the folder in "url"',
    ],
    [
      "operations that are not an array",
      { grant: "files", operations: "get" },
      '"operations" must be',
    ],
  ])("with %s", (_, request, message) => {
    expect(misuse(() => knowing.mint(request as MintRequest))).toContain(message);
  });
});

describe("mint of an unusual request object", () => {
  test("refuses inherited operations or writes them into the hop, and never allows every operation", () => {
    class Reading {
      readonly grant = "files";
      get operations(): string[] {
        return ["get"];
      }
    }
    for (const issuer of [blind, knowing]) {
      let operations: readonly string[] | undefined = [];
      try {
        ({ operations } = issuer.mint(new Reading()).hop);
      } catch (error) {
        expect(error).toBeInstanceOf(TypeError);
      }
      // If `operations` were undefined, every operation would be allowed.
      expect(operations).toBeDefined();
    }
  });

  test("refuses an inherited anyOperation", () => {
    const request: MintRequest = Object.assign(Object.create({ anyOperation: true }), {
      grant: "files",
    });
    expect(misuse(() => blind.mint(request))).toBe(
      "request must be a plain object, not an object that inherits from another",
    );
  });

  test("writes only checked operations into the hop, even if a getter returns other operations later", () => {
    let looks = 0;
    const request = {
      grant: "files",
      get operations(): string[] {
        looks++;
        return looks === 1 ? ["delete"] : ["get"];
      },
    };
    let operations: readonly string[] = [];
    try {
      operations = knowing.mint(request).hop.operations ?? ["everything"];
    } catch (error) {
      expect(error).toBeInstanceOf(TypeError);
    }
    for (const operation of operations) expect(["get", "put"]).toContain(operation);
  });
});
