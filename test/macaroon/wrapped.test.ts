import { describe, expect, test } from "vitest";
import { attenuate, inspect } from "../../src/index.js";
import {
  addFirstPartyCaveat,
  createMacaroon,
  createRootKey,
  type Macaroon,
  macaroonToBytes,
  macaroonToText,
  parseMacaroon,
} from "../../src/macaroon/index.js";
import { rejection } from "./support.js";

// Macaroons in the wrappings of other programs, as documented by lnd, PyPI and L402.

const KEY = createRootKey(new Uint8Array(32).fill(1));
// lnd: version 3 and a protobuf message, which is not UTF-8.
const LND_IDENTIFIER = Uint8Array.of(3, 10, 4, 0x58, 0xd8, 0xff, 0xfe, 0x12, 1, 0x30);
const LND = addFirstPartyCaveat(
  createMacaroon(KEY, { location: "lnd", identifier: LND_IDENTIFIER }),
  "ipaddr 127.0.0.1",
);
const PYPI = addFirstPartyCaveat(
  createMacaroon(KEY, { location: "pypi.org", identifier: "c0c3ee3f-8a6a-4a6e-8a55-3a6f0f6c2f0c" }),
  '[2,["project"]]',
);
const V1 = createMacaroon(KEY, {
  location: "http://mybank/",
  identifier: Uint8Array.of(0xff, 0, 10),
});

const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");
const lnd = macaroonToBytes(LND, "v2");
const hex = Buffer.from(lnd).toString("hex");

describe.each<[string, string, Macaroon]>([
  ["lnd in hex", hex, LND],
  ["lnd in upper-case hex", hex.toUpperCase(), LND],
  ["lnd in base64", base64(lnd), LND],
  ["L402", `L402 ${base64(lnd)}:${"ab".repeat(32)}`, LND],
  ["LSAT", `LSAT ${macaroonToText(LND)}:`, LND],
  ["PyPI", `pypi-${macaroonToText(PYPI)}`, PYPI],
  ["v1 of libmacaroons, with a binary identifier", base64(macaroonToBytes(V1, "v1")), V1],
  ["v1 in hex", Buffer.from(macaroonToBytes(V1, "v1")).toString("hex"), V1],
])("a macaroon made by another project: %s", (_, text, macaroon) => {
  test("is read as the macaroon inside the encoding or prefix", () => {
    expect(macaroonToText(parseMacaroon(text))).toBe(macaroonToText(macaroon));
  });

  test("is not a capability, and inspect says so", () => {
    const { identifier, location, links, capability, warnings } = inspect(text);
    expect([capability, location]).toEqual([undefined, macaroon.location]);
    expect(links).toHaveLength(macaroon.caveats.length);
    expect(identifier.base64url).toBe(Buffer.from(macaroon.identifier).toString("base64url"));
    if (identifier.text === undefined) {
      expect(identifier.hex).toBe(Buffer.from(macaroon.identifier).toString("hex"));
    }
    expect(warnings).toEqual([
      {
        code: "not_a_capability",
        message: "this is a macaroon, but not a capability of proviso: every check here refuses it",
      },
    ]);
  });

  test("is refused by attenuate with the code format_not_v2 or identifier_malformed", () => {
    const { code } = rejection(() => attenuate(text, { operations: ["get"] }));
    expect(["format_not_v2", "identifier_malformed"]).toContain(code);
  });
});

test("parseMacaroon, inspect and attenuate say in the error that a JSON Web Token is not a macaroon", () => {
  const jwt = "eyJhbGciOiJIUzI1NiJ9.eyJhIjoxfQ.c2lnbmF0dXJl";
  for (const read of [parseMacaroon, inspect, (text: string) => attenuate(text, {})]) {
    expect(() => read(jwt)).toThrow("this is a JSON Web Token, not a macaroon (at 20)");
  }
});
