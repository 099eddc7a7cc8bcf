import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBase64 } from "../../src/bytes/base64.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  type Macaroon,
  macaroonToText,
  parseMacaroon,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { A_CHAIN, A1_V1, C_CHAIN, K1 } from "./known-answers.js";
import { referenceSignature } from "./raw.js";
import { contents, hex, utf8 } from "./support.js";

const key = createRootKey(utf8(K1.key));

function chain(caveats: readonly string[]): Macaroon {
  return caveats.reduce<Macaroon>(addFirstPartyCaveat, createMacaroon(key, K1));
}

function c1(): Macaroon {
  return addFirstPartyCaveat(
    createMacaroon(createRootKey(utf8(C_CHAIN.key)), C_CHAIN),
    C_CHAIN.caveat,
  );
}

function c2(): Macaroon {
  const { third } = C_CHAIN;
  return addThirdPartyCaveat(c1(), {
    ...third,
    key: utf8(third.key),
    nonce: new Uint8Array(24),
  });
}

function c3(): Macaroon {
  const { third, dischargeCaveat } = C_CHAIN;
  const init = { identifier: third.identifier, location: third.location };
  return addFirstPartyCaveat(createMacaroon(createRootKey(utf8(third.key)), init), dischargeCaveat);
}

describe("known answers of the macaroon libraries", () => {
  test.each(A_CHAIN)("$name has the known signature", ({ caveats, signature }) => {
    const macaroon = chain(caveats);
    expect(hex(macaroon.signature)).toBe(signature);
    expect(verifyMacaroon(macaroon, key, { check: () => true })).toEqual({ ok: true });
  });

  test("A1 is written and read as v1 text", () => {
    expect(writeMacaroons([chain([])], "v1")).toBe(A1_V1);
    expect(contents(parseMacaroon(A1_V1))).toEqual(contents(chain([])));
  });

  test("C1 has the known signature", () => {
    expect(hex(c1().signature)).toBe(C_CHAIN.c1Signature);
  });

  test("C2 has the third-party caveat's known verification id and signature", () => {
    const macaroon = c2();
    expect(macaroon.caveats[1]).toEqual({
      kind: "third-party",
      identifier: utf8(C_CHAIN.third.identifier),
      location: C_CHAIN.third.location,
      verificationId: decodeBase64(C_CHAIN.vid),
    });
    expect(hex(macaroon.signature)).toBe(C_CHAIN.c2Signature);
  });

  test("C2 is written and read as v2 text", () => {
    expect(macaroonToText(c2())).toBe(C_CHAIN.c2V2);
    expect(contents(parseMacaroon(C_CHAIN.c2V2))).toEqual(contents(c2()));
  });

  test("C3 has the known signature, unbound and bound to C2", () => {
    expect(hex(c3().signature)).toBe(C_CHAIN.c3Signature);
    const bound = bindDischarge(c2(), c3());
    expect(hex(bound.signature)).toBe(C_CHAIN.c3BoundSignature);
    const rootKey = createRootKey(utf8(C_CHAIN.key));
    const result = verifyMacaroon(c2(), rootKey, { discharges: [bound], check: () => true });
    expect(result).toEqual({ ok: true });
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
    expect(hex(elsewhere.signature)).toBe(hex(chain([]).signature));
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
    const vids = [1, 2, 3].map(() => addThirdPartyCaveat(chain([]), init).caveats[0]);
    expect(new Set(vids.map((caveat) => JSON.stringify(caveat))).size).toBe(3);
  });

  test("does not affect another macaroon made with the same key", () => {
    const first = createMacaroon(key, K1);
    createMacaroon(key, { identifier: "another" });
    expect(contents(createMacaroon(key, K1))).toEqual(contents(first));
  });
});
