import { describe, expect, test, vi } from "vitest";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  macaroonsFromBytes,
  macaroonToBytes,
  macaroonToText,
  parseMacaroon,
  readMacaroons,
  type VerifyOptions,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { Macaroon } from "../../src/macaroon/macaroon.js";
import { RootKey } from "../../src/macaroon/root-key.js";
import { utf8 } from "./support.js";

const key = createRootKey(utf8("root key"));
const start = createMacaroon(key, { identifier: "id" });
const two = addFirstPartyCaveat(addFirstPartyCaveat(start, "a"), "b");

/** Returns a value as any type, since calling code without types can pass any value. */
function untyped<T>(value: unknown): T {
  return value as T;
}

describe("the caller's check of caveats", () => {
  test.each([undefined, null, 0, 1, "true", {}, [], Promise.resolve(true)])(
    "a check that returns %o refuses the caveat",
    (answer) => {
      const check = untyped<VerifyOptions["check"]>(() => answer);
      expect(verifyMacaroon(two, key, { check })).toMatchObject({ ok: false });
    },
  );

  test("verifyMacaroon lists every unmet caveat, with the number of the caveat", () => {
    const third = { key: utf8("third"), identifier: "ask" };
    const root = addFirstPartyCaveat(addThirdPartyCaveat(two, third), "c");
    const discharge = bindDischarge(
      root,
      addFirstPartyCaveat(createMacaroon(createRootKey(third.key), third), "d"),
    );
    const check = (caveat: Uint8Array): boolean => Buffer.from(caveat).toString() === "b";
    const result = verifyMacaroon(root, key, { discharges: [discharge], check });
    const failure = (macaroon: number, caveat: number): object => ({
      code: "caveat_unmet",
      macaroon,
      caveat,
      message: `caveat ${caveat} is not met`,
    });
    expect(result).toEqual({
      ok: false,
      failures: [failure(0, 1), failure(0, 4), failure(1, 1)],
    });
  });

  test("the check gets the bytes of each caveat and the number of its macaroon", () => {
    const third = { key: utf8("third"), identifier: "ask" };
    const root = addThirdPartyCaveat(two, third);
    const discharge = addFirstPartyCaveat(createMacaroon(createRootKey(third.key), third), "d");
    const calls: unknown[] = [];
    const check = (caveat: Uint8Array, macaroon: number): boolean =>
      calls.push([Buffer.from(caveat).toString(), macaroon]) > 0;
    const discharges = [bindDischarge(root, discharge)];
    expect(verifyMacaroon(root, key, { discharges, check })).toEqual({ ok: true });
    expect(calls).toEqual([
      ["a", 0],
      ["b", 0],
      ["d", 1],
    ]);
  });

  test("verifyMacaroon throws the error that the check throws", () => {
    const check = (): boolean => {
      throw new RangeError("from check");
    };
    expect(() => verifyMacaroon(two, key, { check })).toThrow(RangeError);
  });
});

describe("verifyMacaroon does not call the check if", () => {
  const third = { key: utf8("third"), identifier: "ask" };
  const root = addThirdPartyCaveat(two, third);
  const discharge = addFirstPartyCaveat(createMacaroon(createRootKey(third.key), third), "d");
  const bound = bindDischarge(root, discharge);

  test.each([
    { about: "the root's key is wrong", key: createRootKey(utf8("x")), macaroon: two },
    { about: "the root is another macaroon", key, macaroon: bound },
    { about: "a discharge is missing", key, macaroon: root },
    { about: "a discharge is unbound", key, macaroon: root, discharges: [discharge] },
    { about: "a discharge is unused", key, macaroon: two, discharges: [bound] },
    { about: "a discharge is doubled", key, macaroon: root, discharges: [bound, bound] },
    { about: "a limit is exceeded", key, macaroon: two, limits: { caveats: 1 } },
  ])("$about", ({ about: _about, key: used, macaroon, ...options }) => {
    const check = vi.fn(() => true);
    const result = verifyMacaroon(macaroon, used, { ...options, check });
    expect(result).toMatchObject({ ok: false, failures: { length: 1 } });
    expect(check).not.toHaveBeenCalled();
  });
});

describe("an argument of a macaroon function", () => {
  const check = (): boolean => true;
  const MISUSE: readonly { about: string; run: () => unknown }[] = [
    { about: "a root key that is a string", run: () => createRootKey(untyped("secret")) },
    { about: "a root key of numbers", run: () => createRootKey(untyped([1, 2])) },
    { about: "no root key", run: () => createRootKey(untyped(undefined)) },
    { about: "an empty root key", run: () => createRootKey(new Uint8Array()) },
    {
      about: "creating with a bare key",
      run: () => createMacaroon(untyped(utf8("k")), { identifier: "i" }),
    },
    { about: "an empty identifier", run: () => createMacaroon(key, { identifier: "" }) },
    {
      about: "an identifier that is a number",
      run: () => createMacaroon(key, { identifier: untyped(1) }),
    },
    {
      about: "an identifier's lone surrogate",
      run: () => createMacaroon(key, { identifier: "\ud800" }),
    },
    {
      about: "a location that is a URL",
      run: () => createMacaroon(key, { identifier: "i", location: untyped(new URL("http://l/")) }),
    },
    {
      about: "a location's lone surrogate",
      run: () => createMacaroon(key, { identifier: "i", location: "\udc00" }),
    },
    { about: "an empty caveat", run: () => addFirstPartyCaveat(start, "") },
    { about: "a caveat that is an object", run: () => addFirstPartyCaveat(start, untyped({})) },
    {
      about: "extending text",
      run: () => addFirstPartyCaveat(untyped(macaroonToText(start)), "c"),
    },
    { about: "extending a look-alike", run: () => addFirstPartyCaveat(untyped({ ...start }), "c") },
    {
      about: "an empty caveat key",
      run: () => addThirdPartyCaveat(start, { key: new Uint8Array(), identifier: "i" }),
    },
    {
      about: "a caveat key of text",
      run: () => addThirdPartyCaveat(start, { key: untyped("k"), identifier: "i" }),
    },
    {
      about: "an empty third-party identifier",
      run: () => addThirdPartyCaveat(start, { key: utf8("k"), identifier: "" }),
    },
    {
      about: "a short nonce",
      run: () =>
        addThirdPartyCaveat(start, { key: utf8("k"), identifier: "i", nonce: new Uint8Array(23) }),
    },
    { about: "binding text", run: () => bindDischarge(start, untyped("text")) },
    { about: "binding to text", run: () => bindDischarge(untyped("text"), start) },
    { about: "reading bytes as text", run: () => readMacaroons(untyped(utf8("x"))) },
    { about: "parsing nothing", run: () => parseMacaroon(untyped(undefined)) },
    { about: "reading text as bytes", run: () => macaroonsFromBytes(untyped("x")) },
    { about: "reading an ArrayBuffer", run: () => macaroonsFromBytes(untyped(new ArrayBuffer(8))) },
    { about: "an unknown form", run: () => writeMacaroons([start], untyped("v3")) },
    { about: "writing JSON as bytes", run: () => macaroonToBytes(start, untyped("v2json")) },
    { about: "writing no macaroon", run: () => writeMacaroons(untyped([]), "v2") },
    { about: "writing text", run: () => macaroonToBytes(untyped("x"), "v2") },
    {
      about: "a v1 field over 65,535 bytes",
      run: () => macaroonToBytes(addFirstPartyCaveat(start, new Uint8Array(65_527)), "v1"),
    },
    {
      about: "v1 JSON of bytes that are not text",
      run: () => writeMacaroons([addFirstPartyCaveat(start, Uint8Array.of(0xff))], "v1json"),
    },
    {
      about: "v1 JSON of an identifier that is not text",
      run: () =>
        writeMacaroons([createMacaroon(key, { identifier: Uint8Array.of(0xff) })], "v1json"),
    },
    { about: "verifying text", run: () => verifyMacaroon(untyped("x"), key, { check }) },
    {
      about: "verifying with a bare key",
      run: () => verifyMacaroon(start, untyped(utf8("k")), { check }),
    },
    { about: "no check", run: () => verifyMacaroon(start, key, untyped({})) },
    { about: "no options", run: () => verifyMacaroon(start, key, untyped(undefined)) },
    {
      about: "a discharge of text",
      run: () => verifyMacaroon(start, key, { check, discharges: untyped(["x"]) }),
    },
  ];

  test.each(MISUSE)("is a TypeError: $about", ({ run }) => {
    expect(run).toThrow(TypeError);
  });

  test("may be the longest caveat that fits into a v1 packet", () => {
    const longest = addFirstPartyCaveat(start, new Uint8Array(65_526));
    expect(macaroonToBytes(longest, "v1").length).toBeGreaterThan(65_535);
  });

  test("may be a Buffer in place of a Uint8Array", () => {
    expect(createRootKey(Buffer.from("k"))).toBeInstanceOf(RootKey);
    const bytes = Buffer.from(macaroonToBytes(start, "v2"));
    expect(macaroonsFromBytes(bytes).macaroons[0]).toBeInstanceOf(Macaroon);
  });
});
