import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  createMacaroon,
  createRootKey,
  type Macaroon,
  macaroonsFromBytes,
  macaroonToBytes,
  macaroonToText,
  parseMacaroon,
  readMacaroons,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { anyCharacter } from "../support/any-character.js";
import { contents } from "./support.js";

const key = createRootKey(Uint8Array.of(1));
const text = fc.string({ unit: anyCharacter, minLength: 1, maxLength: 60 });
const bytes = fc.oneof(text, fc.uint8Array({ minLength: 1, maxLength: 300 }));
const location = fc.option(text, { nil: "" });

/** Generates macaroons whose identifiers are drawn from `name`. */
function macaroons(name: fc.Arbitrary<string | Uint8Array>): fc.Arbitrary<Macaroon> {
  const third = fc.record({
    key: fc.uint8Array({ minLength: 1, maxLength: 64 }),
    identifier: name,
    location,
    nonce: fc.uint8Array({ minLength: 24, maxLength: 24 }),
  });
  const start = fc.record({ identifier: name, location }).map((init) => createMacaroon(key, init));
  return fc
    .tuple(start, fc.array(fc.oneof(name, third), { maxLength: 6 }))
    .map(([macaroon, caveats]) =>
      caveats.reduce<Macaroon>(
        (sofar, caveat) =>
          typeof caveat === "string" || caveat instanceof Uint8Array
            ? addFirstPartyCaveat(sofar, caveat)
            : addThirdPartyCaveat(sofar, caveat),
        macaroon,
      ),
    );
}

describe("writing and reading a macaroon", () => {
  test.each(["v1", "v2", "v2json"] as const)(
    "in the form %s keeps every field, for any bytes",
    (format) => {
      fc.assert(
        fc.property(macaroons(bytes), (macaroon) => {
          const written = writeMacaroons([macaroon], format);
          const read = readMacaroons(written);
          expect(read.format).toBe(format);
          expect(contents(read.macaroons[0])).toEqual(contents(macaroon));
          expect(writeMacaroons(read.macaroons, format)).toBe(written);
        }),
      );
    },
  );

  test("in any two of the four forms keeps every field of a macaroon whose fields are UTF-8", () => {
    const all = ["v1", "v2", "v1json", "v2json"] as const;
    fc.assert(
      fc.property(macaroons(text), (macaroon) => {
        for (const first of all) {
          for (const second of all) {
            const there = parseMacaroon(writeMacaroons([macaroon], first));
            const back = parseMacaroon(writeMacaroons([there], second));
            expect(contents(back)).toEqual(contents(macaroon));
          }
        }
      }),
      { numRuns: 50 },
    );
  });

  test("keeps the order of a macaroon and its discharges, in any form", () => {
    const several = fc.tuple(macaroons(text), macaroons(text), macaroons(text));
    fc.assert(
      fc.property(several, fc.constantFrom("v1", "v2", "v1json", "v2json"), (given, format) => {
        const read = readMacaroons(writeMacaroons(given, format)).macaroons;
        expect(read.map(contents)).toEqual(given.map(contents));
      }),
      { numRuns: 50 },
    );
  });

  test.each(["v1", "v2"] as const)(
    "in %s bytes and in their base64 gives the same macaroon",
    (format) => {
      fc.assert(
        fc.property(macaroons(bytes), (macaroon) => {
          const written = macaroonToBytes(macaroon, format);
          expect(contents(macaroonsFromBytes(written).macaroons[0])).toEqual(contents(macaroon));
          expect(Buffer.from(written).toString("base64url")).toBe(
            writeMacaroons([macaroon], format),
          );
        }),
      );
    },
  );

  test("as v2 text keeps a macaroon without third-party caveats valid, and its caveats in order", () => {
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (caveats) => {
        const start = createMacaroon(key, { identifier: "i" });
        const macaroon = parseMacaroon(
          macaroonToText(caveats.reduce<Macaroon>(addFirstPartyCaveat, start)),
        );
        const seen: string[] = [];
        const check = (caveat: Uint8Array): boolean =>
          seen.push(Buffer.from(caveat).toString()) > 0;
        expect(verifyMacaroon(macaroon, key, { check })).toEqual({ ok: true });
        expect(seen).toEqual(caveats);
      }),
    );
  });

  test("uses the v2 form in macaroonToText", () => {
    const macaroon = createMacaroon(key, { identifier: "i" });
    expect(macaroonToText(macaroon)).toBe(writeMacaroons([macaroon], "v2"));
  });

  test("keeps the byte order mark at the start of an identifier, in every form", () => {
    const macaroon = createMacaroon(key, { identifier: "\uFEFFid", location: "\uFEFFl" });
    for (const format of ["v1", "v2", "v1json", "v2json"] as const) {
      const read = parseMacaroon(writeMacaroons([macaroon], format));
      expect(contents(read)).toEqual(contents(macaroon));
    }
  });
});
