import { describe, expect, test } from "vitest";
import {
  attenuate,
  bindDischarges,
  chainId,
  diff,
  inspect,
  revocationId,
  TokenError,
} from "../../src/index.js";
import {
  type MacaroonFormat,
  parseMacaroon,
  readMacaroons,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { denials, fixture, GET, mint } from "./support.js";

// A capability has one wire form: base64url of v2 binary. The reader also accepts padding and the standard alphabet.

const { issuer } = fixture();
const token = mint(issuer);
const OTHERS = ["v1", "v1json", "v2json"] as const;

function inForm(format: MacaroonFormat): string {
  return writeMacaroons([parseMacaroon(token)], format);
}

function errorOf(action: () => unknown): TokenError {
  try {
    action();
  } catch (error) {
    if (error instanceof TokenError) return error;
  }
  throw new Error("no TokenError");
}

describe.each(OTHERS)("a capability in the format %s", (format) => {
  const text = inForm(format);

  test("is refused by authorize, with advice on how to convert it", () => {
    const [denial, ...others] = denials(issuer.authorize(text, GET));
    expect(others).toEqual([]);
    expect(denial).toMatchObject({ code: "token_malformed", rule: "format_not_v2" });
    expect(denial?.message).toContain("proviso convert");
    expect(denial?.message).toContain("writeMacaroons");
    expect(issuer.authenticate(text)).toMatchObject({
      ok: false,
      denial: { code: "token_malformed" },
    });
    expect(issuer.isAuthentic(text)).toBe(false);
  });

  test.each<[string, () => unknown]>([
    ["attenuate", () => attenuate(text, { operations: ["get"] })],
    ["revocationId", () => revocationId(text)],
    ["chainId", () => chainId(text)],
    ["diff", () => diff(text, token)],
    ["bindDischarges", () => bindDischarges(text, [])],
    ["bindDischarges as a discharge", () => bindDischarges(token, [text])],
  ])("is refused by %s", (_, action) => {
    expect(errorOf(action).code).toBe("format_not_v2");
  });

  test("is read by inspect, and authorized once converted", () => {
    expect(inspect(text)).toMatchObject({ format, grant: "files" });
    const converted = writeMacaroons(readMacaroons(text).macaroons, "v2");
    expect(issuer.authorize(converted, GET)).toEqual(issuer.authorize(token, GET));
  });
});

test("base64 padding and the standard alphabet change neither decision nor revocation id", () => {
  const bytes = Buffer.from(token, "base64url");
  const padded = bytes.toString("base64");
  for (const text of [padded, padded.replaceAll("+", "-").replaceAll("/", "_")]) {
    expect(issuer.authorize(text, GET)).toEqual(issuer.authorize(token, GET));
    expect(revocationId(text)).toBe(revocationId(token));
  }
});
