import { Console } from "node:console";
import { Writable } from "node:stream";
import { format, inspect } from "node:util";
import { describe, expect, test } from "vitest";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  type Macaroon,
  macaroonsFromBytes,
  macaroonToBytes,
  parseMacaroon,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { contents, hex, utf8 } from "./support.js";

const key = createRootKey(utf8("root key"));

function example(): Macaroon {
  return addThirdPartyCaveat(addFirstPartyCaveat(createMacaroon(key, { identifier: "id" }), "c"), {
    key: utf8("third"),
    identifier: "ask",
    location: "there",
    nonce: new Uint8Array(24),
  });
}

describe("a macaroon does not change", () => {
  test.each(["v1", "v2"] as const)("when the %s bytes from which it was read change", (form) => {
    const bytes = macaroonToBytes(example(), form);
    const [macaroon] = macaroonsFromBytes(bytes).macaroons;
    bytes.fill(0xee);
    expect(contents(macaroon)).toEqual(contents(example()));
  });

  test("when the bytes from which it was made change", () => {
    const identifier = utf8("id");
    const caveat = utf8("c");
    const nonce = new Uint8Array(24);
    const cid = utf8("ask");
    const init = { key: utf8("third"), identifier: cid, location: "there", nonce };
    const macaroon = addThirdPartyCaveat(
      addFirstPartyCaveat(createMacaroon(key, { identifier }), caveat),
      init,
    );
    for (const bytes of [identifier, caveat, nonce, cid, init.key]) bytes.fill(0xee);
    expect(contents(macaroon)).toEqual(contents(example()));
  });

  test("when the bytes that its getters returned change", () => {
    const macaroon = example();
    macaroon.identifier.fill(0xee);
    macaroon.signature.fill(0xee);
    const { caveats } = macaroon;
    for (const caveat of caveats) {
      caveat.identifier.fill(0xee);
      if (caveat.kind === "third-party") caveat.verificationId.fill(0xee);
      Object.assign(caveat, { kind: "first-party", location: "elsewhere" });
    }
    caveats.length = 0;
    expect(contents(macaroon)).toEqual(contents(example()));
  });

  test("when it is extended, bound, written or verified", () => {
    const macaroon = example();
    addFirstPartyCaveat(macaroon, "more");
    addThirdPartyCaveat(macaroon, { key: utf8("k"), identifier: "more" });
    bindDischarge(macaroon, macaroon);
    macaroonToBytes(macaroon, "v2").fill(0xee);
    verifyMacaroon(macaroon, key, { check: () => true });
    expect(contents(macaroon)).toEqual(contents(example()));
  });

  test("when a check writes into the caveat that the check gets", () => {
    const macaroon = addFirstPartyCaveat(createMacaroon(key, { identifier: "id" }), "c");
    const check = (caveat: Uint8Array): boolean => {
      const met = caveat[0] === "c".charCodeAt(0);
      caveat.fill(0xee);
      return met;
    };
    expect(verifyMacaroon(macaroon, key, { check }).ok).toBe(true);
    expect(verifyMacaroon(macaroon, key, { check }).ok).toBe(true);
  });

  test("by an assignment to its properties, which throws", () => {
    const macaroon = example();
    for (const name of ["identifier", "signature", "caveats", "location"]) {
      expect(() => Object.assign(macaroon, { [name]: 1 })).toThrow(TypeError);
    }
  });
});

describe("a secret", () => {
  const macaroon = parseMacaroon(writeMacaroons([example()], "v2"));
  const { signature } = macaroon;

  function consoleText(value: unknown): string {
    let written = "";
    const stream = new Writable({
      write(chunk, _encoding, done) {
        written += String(chunk);
        done();
      },
    });
    new Console(stream).log(value);
    return written;
  }

  const WAYS: readonly { way: string; show: (value: object) => string }[] = [
    { way: "console.log", show: consoleText },
    { way: "util.inspect", show: (value) => inspect(value, { depth: 20, showHidden: true }) },
    { way: "util.inspect with getters", show: (value) => inspect(value, { getters: true }) },
    { way: "util.format", show: (value) => format("%o %j %s", value, value, value) },
    { way: "JSON.stringify", show: (value) => JSON.stringify({ value }) },
    { way: "a template", show: (value) => `${value}` },
    { way: "Object.entries", show: (value) => JSON.stringify(Object.entries(value)) },
  ];

  test.each(WAYS)("of a macaroon is not shown by $way", ({ show }) => {
    const shown = show(macaroon);
    for (const secret of [
      hex(signature),
      Buffer.from(signature).toString("base64"),
      Buffer.from(signature).toString("base64url"),
      signature.slice(0, 6).join(","),
      signature.slice(0, 6).join(", "),
    ]) {
      expect(shown).not.toContain(secret);
    }
  });

  test.each(WAYS)("of a root key is not shown by $way", ({ show }) => {
    const shown = show(createRootKey(utf8("root key")));
    expect(shown).not.toContain(hex(utf8("root key")));
    expect(shown).not.toMatch(/\d{4,}|Uint/);
  });

  test("of a macaroon is replaced in JSON and String by a note that the signature is withheld", () => {
    expect(JSON.stringify({ macaroon })).toBe('{"macaroon":"[macaroon, signature withheld]"}');
    expect(String(macaroon)).toBe("[macaroon, signature withheld]");
  });

  test("of a macaroon is not copied by structuredClone", () => {
    expect(Object.keys(structuredClone(macaroon))).toEqual([]);
  });
});
