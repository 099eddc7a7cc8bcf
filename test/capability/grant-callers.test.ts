import { describe, expect, test } from "vitest";
import type { Invocation } from "../../src/caveats/invocation.js";
import { createKeyring } from "../../src/issuer/index.js";
import { codes, denials, fixture, mintOpen, misuse } from "./support.js";

// Objects of a service that try to change the grant of an invocation: by getters, prototypes or inconsistent lists.

const keys = createKeyring();
const { issuer: blind } = fixture({ keys });
const { issuer: knowing } = fixture({
  keys,
  grants: [
    { id: "files", operations: ["get", "put"] },
    { id: "mail:send", operations: ["send"] },
  ],
});
const files = mintOpen(blind);
const weather = mintOpen(blind, { grant: "weather:read" });

describe("the grant of a call", () => {
  const list = (value: unknown): string =>
    misuse(() => blind.authorize(files, { operation: "get", grant: value as string }));
  const WRONG = "invocation.grant must be a grant, or an array of at least one";

  test.each<[string, unknown]>([
    ["an empty array", []],
    ["a number", 7],
    ["null", null],
    ["true", true],
    ["a set", new Set(["files"])],
    ["a String object", Object("files")],
    ["an array-like object", { 0: "files", length: 1 }],
    ["an object with toString", { toString: () => "files" }],
    ["an array with a number", ["files", 7]],
    ["an array in an array", [["files"]]],
  ])("is a TypeError if it is %s", (_, value) => {
    expect(list(value)).toBe(WRONG);
  });

  test.each<[string, unknown]>([
    ["has a hole", Object.assign(Array(2), { 1: "files" })],
    [
      "has an iterator that yields nothing",
      Object.assign(["files"], { [Symbol.iterator]: () => [].values() }),
    ],
  ])("is a TypeError if it is an array that %s", (_, value) => {
    expect(list(value)).toBe(
      "invocation.grant must be an array without holes and without other properties",
    );
  });

  test("is a TypeError if it is undefined, as if the call had no grant", () => {
    expect(list(undefined)).toMatch(/^invocation\.grant must say under which grant/);
  });

  test("is a TypeError if the call inherits it", () => {
    const inherited: Invocation = Object.assign(Object.create({ grant: "files" }), {
      operation: "get",
    });
    expect(misuse(() => blind.authorize(files, inherited))).toBe(
      "invocation must be a plain object, not an object that inherits from another",
    );
  });

  test("is a TypeError if the call inherits it, even if the issuer could pick a grant itself", () => {
    class Sending {
      readonly operation = "put";
      get grant(): string {
        return "mail:send";
      }
    }
    // Exactly one grant has the operation, and it is not the grant that the service names.
    expect(misuse(() => knowing.authorize(files, new Sending()))).toBe(
      "invocation must be a plain object, not a Sending",
    );
  });

  test("is read once, so the first value of a getter is judged", () => {
    let looks = 0;
    const asked = {
      operation: "get",
      get grant(): string {
        looks++;
        return looks === 1 ? "mail:send" : "files";
      },
    };
    expect(codes(blind.authorize(files, asked))).toEqual(["grant_denied"]);
    expect(looks).toBe(1);
  });

  test("is judged as first read, even if its array grows while the call is read", () => {
    const grants = ["mail:send"];
    const asked = {
      grant: grants,
      get operation(): string {
        return "get";
      },
      get arguments(): object {
        grants.push("files");
        return {};
      },
    } as Invocation;
    const decision = blind.authorize(weather, asked);
    expect(codes(decision)).toEqual(["grant_denied"]);
    grants.push("weather:read");
    expect(denials(decision)[0]?.expected).not.toContain("weather:read");
  });
});
