import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../src/bytes/json.js";
import type { ArgumentConstraint, HopInit } from "../../src/caveats/hop.js";
import { encodeHop, normalizeHop } from "../../src/caveats/write-hop.js";
import { inspect } from "../../src/index.js";
import { append, denials, fixture, mint, mintOpen } from "./support.js";

const { issuer, revocations } = fixture();
const token = mintOpen(issuer, { expires: "10m" });

function hopText(hop: HopInit): Uint8Array {
  return encodeHop(normalizeHop(hop));
}

function judged(given: JsonObject, hops: readonly HopInit[], operation = "pay") {
  const narrowed = hops.reduce<string>((text, hop) => append(text, hopText(hop)), token);
  return denials(issuer.authorize(narrowed, { grant: "files", operation, arguments: given }));
}

/** Returns the remedy for the only argument of a call that one constraint limits. */
function remedy(constraint: ArgumentConstraint, given?: Json): unknown {
  const hop = { operationConstraints: { pay: { x: constraint } } };
  const [denial] = judged(given === undefined ? {} : { x: given }, [hop]);
  const { pointer, ...rest } = denial?.remedy ?? { pointer: "/x" };
  expect(pointer).toBe("/x");
  return rest;
}

const set = (value: Json) => ({ kind: "set_argument", value });

test("a remedy is the nearest allowed value", () => {
  expect(remedy({ max: 50 }, 80)).toEqual(set(50));
  expect(remedy({ max: 50, min: 1 }, "30")).toEqual(set(30));
  expect(remedy({ max: 50, not_in: [50] }, 80)).toEqual(set(49));
  expect(remedy("acc_1", "acc_2")).toEqual(set("acc_1"));
  expect(remedy({ in: ["EUR", "USD"] }, "USDT")).toEqual(set("USD"));
  expect(remedy({ in: ["1", "2"] }, 2)).toEqual(set("2"));
  expect(remedy({ path: "/data" }, "/data//a/./b/")).toEqual(set("/data/a/b"));
  expect(remedy({ path: "/data" }, "a/b")).toEqual(set("/data/a/b"));
  expect(remedy({ path: "/data" }, "/etc/passwd")).toEqual(set("/data"));
  expect(remedy({ prefix: "Report" }, "report of May")).toEqual(set("Report of May"));
  const url = { url: { schemes: ["https"], hosts: [".example.com", "example.com"], path: "/v1" } };
  expect(remedy(url, "HTTP://Api.Example.com:443/v1/x?q=1")).toEqual(
    set("https://api.example.com/v1/x?q=1"),
  );
  expect(remedy(url, "https://evil.org/v1/x")).toEqual(set("https://example.com/v1/x"));
  expect(remedy(url)).toEqual(set("https://example.com/v1"));
  expect(remedy({ each: { in: ["a", "b"] } }, ["a", "eve"])).toEqual(set(["a"]));
  expect(remedy({ each: { in: ["alice"] }, items: { min: 1 } }, "alise")).toEqual(set(["alice"]));
  expect(remedy({ items: { max: 2 } }, [1, 2, 3])).toEqual(set([1, 2]));
  expect(remedy({ max: 5, optional: true }, [])).toEqual(set(5));
  expect(remedy({ absent: true }, 1)).toEqual({ kind: "remove_argument" });
  // An object is never converted to a string, even if it has a property `toString`.
  expect(remedy({ in: [1, "a"] }, [{ toString: 1, valueOf: 1 }])).toEqual(set("a"));
  expect(remedy({ in: ["a"] }, { toString: null })).toEqual(set("a"));
  // A remedy never invents a string, a host or an element.
  expect(remedy({ not_in: ["eve"] }, "eve")).toEqual({});
  expect(remedy({ url: { schemes: ["https"], hosts: [".example.com"] } }, "x")).toEqual({});
  expect(remedy({ items: { min: 2 } }, [1])).toEqual({});
});

test("a remedy is a value that all hops together allow, and all denials of one argument have the same remedy", () => {
  const found = judged({ amount: 90, bcc: "eve", to: { iban: "FR1" }, "a/b": 1 }, [
    { constraints: { amount: { max: 50 } }, arguments: { "*": ["a/b", "amount", "to"] } },
    {
      operationConstraints: {
        pay: {
          amount: { max: 20 },
          "/to/iban": { in: ["DE1", "DE2"] },
          "/to/bic": { prefix: "D" },
        },
        "*": { "a/b": { absent: true } },
      },
    },
  ]);
  expect(Object.fromEntries(found.map(({ rule, remedy: one }) => [rule, one]))).toEqual(
    Object.fromEntries([
      ["constraints.amount.max", { kind: "set_argument", pointer: "/amount", value: 20 }],
      ["arguments.*", { kind: "remove_argument", pointer: "/bcc" }],
      [
        "operationConstraints.pay.amount.max",
        { kind: "set_argument", pointer: "/amount", value: 20 },
      ],
      [
        'operationConstraints.pay["/to/iban"].in',
        { kind: "set_argument", pointer: "/to/iban", value: "DE1" },
      ],
      [
        'operationConstraints.pay["/to/bic"].prefix',
        { kind: "set_argument", pointer: "/to/bic", value: "D" },
      ],
      ['operationConstraints.*["a/b"].absent', { kind: "remove_argument", pointer: "/a~1b" }],
    ]),
  );
});

test("no denial of a refusal has a remedy if one of the denials is not about arguments or cannot be remedied", () => {
  const limit: HopInit = { constraints: { amount: { max: 50 } } };
  const none = (found: ReturnType<typeof judged>): void => {
    expect(found.length).toBeGreaterThan(1);
    expect(found.filter((denial) => denial.remedy !== undefined)).toEqual([]);
  };
  none(judged({ amount: 90 }, [limit, { operations: ["get"] }]));
  none(judged({ amount: 90 }, [limit, { expires: "2029-01-01T00:00:00Z" }]));
  none(judged({ amount: 90, to: "eve" }, [limit, { constraints: { to: { not_in: ["eve"] } } }]));
  none(judged({ amount: 90 }, [limit, { constraints: { amount: { min: 60 } } }, limit]));
  // One of the denials also represents denials that were left out.
  const many = Array.from({ length: 20 }, (_, at) => [`a${String(at).padStart(2, "0")}`, 1]);
  none(judged({}, [{ constraints: Object.fromEntries(many) }]));
  const other = append(mint(issuer), hopText(limit));
  const call = { grant: "others", operation: "get", arguments: { amount: 90 } };
  none(denials(issuer.authorize(other, call)));
});

test("the refusal of a revoked or altered token has no remedy, and does not show the limits of an altered token", () => {
  const own = append(mint(issuer), hopText({ constraints: { amount: { max: 50 } } }));
  const ask = (text: string) =>
    JSON.stringify(issuer.authorize(text, { grant: "files", operation: "get", arguments: {} }));
  expect(ask(own)).toContain('"remedy"');
  expect(ask(`${own.slice(0, -2)}AA`)).not.toMatch(/remedy|amount|50/);
  revocations.add({ kind: "link", id: inspect(own).revocationId, at: "2030-01-01T00:00:00Z" });
  expect(ask(own)).not.toContain("remedy");
});
