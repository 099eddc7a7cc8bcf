import { describe, expect, test } from "vitest";
import { createKeyring, type IssuerOptions } from "../../src/issuer/index.js";
import {
  createMacaroon,
  createRootKey,
  macaroonToText,
  parseMacaroon,
} from "../../src/macaroon/index.js";
import { append, attenuated, denials, fixture, GET, mint, misuse, utf8 } from "./support.js";

const { issuer, keys } = fixture();
const token = mint(issuer);

/** Returns a macaroon with the given identifier, made with the issuer's key. */
function forged(identifier: string): string {
  return macaroonToText(createMacaroon(keys.minting.root, { identifier }));
}

function flipped(text: string, at: number): string {
  const { length } = text;
  const index = at < 0 ? length + at : at;
  return text.slice(0, index) + (text[index] === "A" ? "B" : "A") + text.slice(index + 1);
}

describe("a token that cannot be read is refused", () => {
  test.each<[string, string, string, string]>([
    ["an empty string", "", "token_malformed", "empty"],
    ["prose", "not a token", "token_malformed", "base64_whitespace"],
    ["other bytes", "AAAA", "token_malformed", "format_unknown"],
    ["half a token", token.slice(0, 60), "token_truncated", "truncated"],
    ["a token followed by garbage", `${token}AAAA`, "token_malformed", "trailing_bytes"],
    [
      "a macaroon that is not a capability",
      forged("user 7"),
      "token_malformed",
      "identifier_malformed",
    ],
    [
      "an identifier of another version",
      forged('{"v":2}'),
      "token_malformed",
      "identifier_malformed",
    ],
    ["a string longer than any token", "A".repeat(100_000), "token_too_large", "too_large"],
    [
      "a caveat nested too deep",
      append(token, '{"a":[[[[[[[1]]]]]]]}'),
      "token_too_large",
      "too_deep",
    ],
    ["a caveat too long", append(token, "x".repeat(8193)), "token_too_large", "caveat_too_large"],
    [
      "a set too long",
      append(token, `{"operations":[${Array(257).fill(0).join()}]}`),
      "token_too_large",
      "too_many_members",
    ],
  ])("%s", (_, text, code, rule) => {
    const decision = issuer.authorize(text, GET);
    expect(denials(decision)).toEqual([{ code, rule, message: expect.any(String) }]);
    expect(decision).not.toHaveProperty("capability");
  });

  test("with the advice to copy the whole token, if the token is truncated", () => {
    const [denial] = denials(issuer.authorize(token.slice(0, 60), GET));
    expect(denial?.message).toMatch(/cut short, copy the whole token$/);
  });
});

test.each<[string, IssuerOptions["limits"], string]>([
  ["bytes", { bytes: 100 }, "too_large"],
  ["caveats", { caveats: 1 }, "too_many_caveats"],
  ["caveatBytes", { caveatBytes: 60 }, "caveat_too_large"],
  ["identifierBytes", { identifierBytes: 100 }, "caveat_too_large"],
  ["setMembers", { setMembers: 1 }, "too_many_members"],
])(
  "authorize refuses a token that exceeds a limit that the issuer has lowered: %s",
  (_, limits, rule) => {
    const strict = fixture({ keys, limits });
    const child = attenuated(token, { purpose: "x" });
    expect(denials(strict.issuer.authorize(child, GET))).toMatchObject([
      { code: "token_too_large", rule },
    ]);
    expect(denials(issuer.authorize(child, GET))).toEqual([]);
  },
);

test("createIssuer refuses a limit that is higher than the default", () => {
  expect(misuse(() => fixture({ limits: { bytes: 10_241 } }))).toMatch(/limits.bytes can only be/);
});

describe("a refusal of a token that this issuer did not make", () => {
  test("names the issuer that made the token", () => {
    const foreign = mint(fixture({ name: "someone", keys }).issuer);
    expect(denials(issuer.authorize(foreign, GET))).toEqual([
      {
        code: "foreign_issuer",
        rule: "iss",
        expected: "agent",
        actual: "someone",
        message: "the token was issued by someone else",
      },
    ]);
  });

  test("names the key of the token, if an issuer of the same name made the token", () => {
    const other = createKeyring();
    const text = mint(fixture({ keys: other }).issuer);
    expect(denials(issuer.authorize(text, GET))).toEqual([
      {
        code: "unknown_key",
        rule: "kid",
        actual: other.minting.kid,
        message: "the token was made under a key that this issuer does not have, or has retired",
      },
    ]);
  });

  test.each<[string, string]>([
    ["with another signature", flipped(token, -5)],
    [
      "under another root key",
      macaroonToText(
        createMacaroon(createRootKey(utf8("another")), {
          identifier: parseMacaroon(token).identifier,
        }),
      ),
    ],
  ])("says that the signature does not match, for a token %s", (_, text) => {
    const decision = issuer.authorize(text, GET);
    expect(decision).toEqual({
      allowed: false,
      denials: [
        {
          code: "signature_mismatch",
          message: "the signature does not match: the token was altered, or is not this issuer's",
        },
      ],
    });
  });
});

describe("authorize throws a TypeError for", () => {
  test.each<[string, unknown, unknown]>([
    ["no call", token, undefined],
    ["a call without operation", token, { grant: "files" }],
    ["a call with an unknown property", token, { ...GET, resource: "x" }],
  ])("%s", (_, text, call) => {
    expect(misuse(() => issuer.authorize(text as string, call as typeof GET))).not.toBe("accepted");
  });
});
