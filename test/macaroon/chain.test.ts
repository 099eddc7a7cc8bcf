import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  createMacaroon,
  createRootKey,
  type Macaroon,
  macaroonToText,
  parseMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { A1_V1, C_CHAIN, K1 } from "./known-answers.js";
import { referenceSignature } from "./raw.js";
import { contents, hex, utf8 } from "./support.js";

const key = createRootKey(utf8(K1.key));

const plain = createMacaroon(key, K1);

// The signatures of longer chains and of discharges are in spec-vectors/macaroon.json.
describe("known answers of the macaroon libraries", () => {
  test("a macaroon without caveats is written and read as v1 text", () => {
    expect(writeMacaroons([plain], "v1")).toBe(A1_V1);
    expect(contents(parseMacaroon(A1_V1))).toEqual(contents(plain));
  });

  test("a macaroon with a third-party caveat is written and read as v2 text", () => {
    const { key: root, caveat, third } = C_CHAIN;
    const start = addFirstPartyCaveat(createMacaroon(createRootKey(utf8(root)), C_CHAIN), caveat);
    const init = { ...third, key: utf8(third.key), nonce: new Uint8Array(24) };
    const macaroon = addThirdPartyCaveat(start, init);
    expect(macaroonToText(macaroon)).toBe(C_CHAIN.c2V2);
    expect(contents(parseMacaroon(C_CHAIN.c2V2))).toEqual(contents(macaroon));
  });
});

describe("making a macaroon", () => {
  test("gives the signature that node:crypto computes, for any key, identifier and caveats", () => {
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(
        bytes,
        bytes,
        fc.array(bytes, { maxLength: 5 }),
        (secret, identifier, caveats) => {
          const start = createMacaroon(createRootKey(secret), { identifier });
          const macaroon = caveats.reduce<Macaroon>(addFirstPartyCaveat, start);
          const expected = referenceSignature(secret, identifier, caveats);
          expect(hex(macaroon.signature)).toBe(hex(expected));
        },
      ),
    );
  });

  test("does not sign locations", () => {
    const elsewhere = createMacaroon(key, { ...K1, location: "http://elsewhere/" });
    expect(hex(elsewhere.signature)).toBe(hex(plain.signature));
  });

  test("drops an empty location", () => {
    expect(createMacaroon(key, { identifier: "i", location: "" }).location).toBeUndefined();
  });

  test("gives a caveat without a location no property location", () => {
    for (const location of [{}, { location: "" }]) {
      const init = { key: utf8("k"), identifier: "id", ...location };
      const [caveat] = addThirdPartyCaveat(createMacaroon(key, K1), init).caveats;
      expect(Object.keys(caveat ?? {}).sort()).toEqual(["identifier", "kind", "verificationId"]);
    }
  });

  test("encodes strings as UTF-8", () => {
    const text = createMacaroon(key, { identifier: "é" });
    const bytes = createMacaroon(key, { identifier: Uint8Array.of(0xc3, 0xa9) });
    expect(contents(text)).toEqual(contents(bytes));
  });

  test("draws a new nonce for each third-party caveat", () => {
    const init = { key: utf8("k"), identifier: "id" };
    const vids = [1, 2, 3].map(() => addThirdPartyCaveat(plain, init).caveats[0]);
    expect(new Set(vids.map((caveat) => JSON.stringify(caveat))).size).toBe(3);
  });

  test("does not affect another macaroon made with the same key", () => {
    const first = createMacaroon(key, K1);
    createMacaroon(key, { identifier: "another" });
    expect(contents(createMacaroon(key, K1))).toEqual(contents(first));
  });
});
