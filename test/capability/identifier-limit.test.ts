import { describe, expect, test } from "vitest";
import { inspect } from "../../src/index.js";
import {
  bindDischarge,
  createMacaroon,
  createRootKey,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { canonical, issuer, needing, PARTS, TOKEN, withIdentifier } from "./made.js";
import { append, codes, denials, fixture, GET, mint, NOW, utf8 } from "./support.js";

// An identifier that is too long is reported before any fault that follows it in the token.

const TOO_LONG = "x".repeat(2049);

describe("the limit of 2,048 bytes for the identifier of a token", () => {
  const reason = (text: string): unknown => {
    const [first, ...others] = denials(issuer.authorize(text, GET));
    expect(others).toEqual([]);
    return [first?.code, first?.rule, first?.message];
  };
  const IDENTIFIER = [
    "token_too_large",
    "caveat_too_large",
    "the identifier has 2049 bytes; at most 2048 are allowed",
  ];
  const long = withIdentifier(TOO_LONG);

  test("refuses 2,049 bytes as too large", () => {
    expect(reason(long)).toEqual(IDENTIFIER);
  });

  test("is checked before the length and the number of the caveats", () => {
    expect(reason(append(long, "x".repeat(8193)))).toEqual(IDENTIFIER);
    const many = Array<string>(33).fill('{"purpose":"a"}').reduce(append, long);
    expect(reason(many)).toEqual(IDENTIFIER);
  });

  test("is checked before a fault later in the token is found", () => {
    const bytes = Buffer.from(long, "base64url");
    const cut = bytes.subarray(0, bytes.length - 8).toString("base64url");
    expect(reason(cut)).toEqual(IDENTIFIER);
  });

  test("allows exactly 2,048 bytes", () => {
    const [, rule] = reason(withIdentifier("x".repeat(2048))) as string[];
    expect(rule).toBe("identifier_malformed");
  });

  test("holds for a discharge too", () => {
    const root = parseMacaroon(needing(TOKEN, "a"));
    const discharge = createMacaroon(createRootKey(utf8("third")), { identifier: TOO_LONG });
    const text = writeMacaroons([root, bindDischarge(root, discharge)], "v2");
    expect(reason(text)).toEqual(IDENTIFIER);
  });
});

test("mint refuses an identifier of more than 2,048 bytes", () => {
  expect(() => mint(issuer, { grant: "g".repeat(2048) })).toThrow(
    /^the identifier has \d+ bytes; at most 2048 are allowed$/,
  );
});

test("authorize refuses a token whose identifier exceeds a limit that the issuer has lowered", () => {
  const low = fixture({ limits: { identifierBytes: 64 } });
  expect(codes(low.issuer.authorize(mint(low.issuer), GET))).toEqual(["token_too_large"]);
});

test("inspect warns of an identifier of more than 2,048 bytes", () => {
  const over = withIdentifier(canonical({ ...PARTS, grant: "g".repeat(2048) }));
  const [warning] = inspect(over, { now: NOW }).warnings.filter(
    ({ code }) => code === "over_limit",
  );
  expect(warning?.message).toMatch(/the identifier has \d+ bytes; at most 2048 are allowed$/);
});
