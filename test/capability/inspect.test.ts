import { describe, expect, test } from "vitest";
import { bindDischarges, inspect } from "../../src/index.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  createMacaroon,
  createRootKey,
  macaroonToText,
  parseMacaroon,
} from "../../src/macaroon/index.js";
import { LOSSY, mistake } from "../support/lossy.js";
import { append, attenuated, fixture, mint, mintOpen, NOW, tokenError, utf8 } from "./support.js";

const { issuer } = fixture();
const token = mint(issuer);
const key = createRootKey(utf8("any key"));

/** Returns the codes of the warnings for a token's holder. */
function warnings(text: string, now: number = NOW): string[] {
  return inspect(text, { now }).warnings.map(({ code }) => code);
}

describe("inspect", () => {
  test("shows the bytes of the caveats of a macaroon that is not a capability, whatever the bytes are", () => {
    const bytes = Uint8Array.from([0xff, 0x00]);
    const generic = createMacaroon(key, { identifier: bytes, location: "https://bank.example" });
    const first = addFirstPartyCaveat(generic, "account = 7");
    const second = addThirdPartyCaveat(addFirstPartyCaveat(first, bytes), {
      key: utf8("k"),
      identifier: "who?",
      location: "https://auth.example",
    });
    expect(inspect(macaroonToText(second))).toMatchObject({
      verified: false,
      format: "v2",
      location: "https://bank.example",
      identifier: { base64url: "_wA", hex: "ff00" },
      links: [
        {
          number: 1,
          kind: "unreadable",
          raw: { base64url: "YWNjb3VudCA9IDc", text: "account = 7" },
        },
        { number: 2, kind: "unreadable", raw: { base64url: "_wA", hex: "ff00" } },
        {
          number: 3,
          kind: "third-party",
          location: "https://auth.example",
          raw: { base64url: "d2hvPw", text: "who?" },
        },
      ],
      authority: {},
      discharges: [],
      warnings: [{ code: "not_a_capability" }],
    });
  });

  test("shows the discharges of a token, and the authority that the token and the discharges leave together", () => {
    const shared = utf8("shared");
    const asking = addThirdPartyCaveat(parseMacaroon(token), { key: shared, identifier: "q" });
    const answer = createMacaroon(createRootKey(shared), { identifier: "q" });
    const text = bindDischarges(macaroonToText(asking), [
      macaroonToText(addFirstPartyCaveat(answer, '{"operations":["get"]}')),
    ]);
    expect(inspect(text, { now: NOW })).toMatchObject({
      authority: { operations: ["get"] },
      discharges: [{ identifier: { text: "q" }, links: [{ hop: { operations: ["get"] } }] }],
      warnings: [],
    });
    expect(warnings(macaroonToText(asking))).toEqual(["discharge_needed"]);
  });

  const HOSTILE: [string, string | Uint8Array][] = [
    ["nesting", `{"a":${"[".repeat(8000)}${"]".repeat(8000)}}`],
    ["open brackets", `{"a":${"[".repeat(16_000)}`],
    ["a thousand unknown keys", `{${Array.from({ length: 1000 }, (_, i) => `"k${1e5 + i}":1`)}}`],
    ["long unknown keys", `{"${"operation".repeat(1000)}":1}`],
    ["terminal escapes", "\u001b[2J\u0007"],
    ["text with a right-to-left override", '{"purpose":"\u202Egnp.exe"}'],
    ["__proto__", '{"__proto__":{"operations":["get"]}}'],
    ["bytes that are not UTF-8", Uint8Array.from([0x7b, 0xc0, 0x80])],
    ["zero bytes", new Uint8Array(16_000)],
  ];
  test.each(HOSTILE)("shows a hostile caveat as one more link: %s", (_, caveat) => {
    const inspection = inspect(append(token, caveat), { now: NOW });
    expect(inspection.links).toHaveLength(2);
    expect(inspection.authority).toMatchObject({ operations: ["get", "put"] });
  });

  test.each<[string, string, string]>([
    ["an empty string", "", "empty"],
    ["prose", "hello there", "base64_whitespace"],
    ["half a token", token.slice(0, 50), "truncated"],
  ])("throws a TokenError for %s", (_, text, code) => {
    expect(tokenError(() => inspect(text))).toBe(code);
  });
});

test("an inspection never contains the signature of the token", () => {
  const { signature } = parseMacaroon(token);
  const text = JSON.stringify(inspect(token));
  for (const encoding of ["base64url", "base64", "hex", "latin1"] as const) {
    expect(text).not.toContain(Buffer.from(signature).toString(encoding));
  }
});

describe("inspect warns a holder", () => {
  const unlimited = mintOpen(issuer);
  const longer = fixture({ maxLifetime: 10 * 86_400 }).issuer;
  const heavy = Array.from({ length: 5 }).reduce<string>(
    (text) => append(text, JSON.stringify({ purpose: "x".repeat(2000) })),
    token,
  );
  const large = JSON.stringify({ purpose: "x".repeat(8192) });
  const wide = `{"operations":[${Array(257).fill(0).join()}]}`;
  const many = Array.from({ length: 32 }).reduce<string>(
    (text) => append(text, '{"purpose":"x"}'),
    token,
  );

  test.each<[string, string, string[]]>([
    ["not about a sound token", token, []],
    ["about a token without operations", unlimited, ["no_operations"]],
    ["about a long lifetime", mint(longer, { expires: "2030-01-09T00:00:00Z" }), ["long_expiry"]],
    ["not about a lifetime of one day", mint(issuer, { expires: "2030-01-02T00:00:00Z" }), []],
    ["about a caveat that refuses everything", append(token, "?"), ["unreadable_caveat"]],
    [
      "about an expiry in the past",
      append(token, '{"expires":"2029-01-01T00:00:00Z"}'),
      ["expired"],
    ],
    [
      "about a start in the future",
      attenuated(token, { notBefore: "2030-01-01T00:05:00Z" }),
      ["not_yet_valid"],
    ],
    [
      "about hops that contradict each other",
      append(token, '{"operations":["x"]}'),
      ["nothing_left"],
    ],
    [
      "about a prefix of paths or URLs",
      append(
        token,
        '{"operationConstraints":{"*":{"file":{"prefix":"/data"},"to":{"prefix":"DE"}}}}',
      ),
      ["prefix_of_path"],
    ],
    ["about too many bytes", heavy, ["over_limit"]],
    ["about too many links", many, ["over_limit"]],
    ["about a hop that is too large", append(token, large), ["over_limit"]],
    ["about a set that is too large", append(token, wide), ["unreadable_caveat", "over_limit"]],
  ])("%s", (_, text, expected) => {
    expect(warnings(text)).toEqual(expected);
  });

  test("about a missing expiry", () => {
    const { keys } = fixture();
    const { identifier } = parseMacaroon(token);
    const bare = macaroonToText(createMacaroon(keys.minting.root, { identifier }));
    expect(warnings(append(bare, '{"operations":["get"]}'))).toEqual(["no_expiry"]);
  });

  test("about an expiry, once the token has expired", () => {
    expect(warnings(token, NOW + 15 * 60_000 - 1)).toEqual([]);
    expect(warnings(token, NOW + 15 * 60_000)).toEqual(["expired"]);
  });

  test("in words that name the link and its problem", () => {
    const [warning] = inspect(append(token, '{"operation":["get"]}'), { now: NOW }).warnings;
    expect(warning?.message).toBe(
      'link 2 would be refused: unknown key "operation" in a hop; did you mean "operations"?',
    );
  });
});

test.each(LOSSY)(
  "inspect refuses %s as the token, as the options and as the option now",
  async (_, make) => {
    const value = make();
    expect(await mistake(() => inspect(value))).toMatch(/^token must be a string, not /);
    expect(await mistake(() => inspect(token, value))).toMatch(/^options(?: must be|\.max)/);
    expect(await mistake(() => inspect(token, { now: value }))).toMatch(/^options\.now must be/);
  },
);
