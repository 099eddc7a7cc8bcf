import { describe, expect, test } from "vitest";
import { encodeBase64url } from "../../src/bytes/base64.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  createMacaroon,
  createRootKey,
  macaroonsFromBytes,
  macaroonToBytes,
  parseMacaroon,
  readMacaroons,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { concat, FIELD, field, packet, SIGNATURE, signedV2, V1_HEAD, VID, v1, v2 } from "./raw.js";
import { utf8 } from "./support.js";

// The complete message of each fault of a token, since people read these messages.

function message(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    return String(error);
  }
  return "nothing was thrown";
}

const ID = field(FIELD.identifier, "i");
const SHORT = field(FIELD.signature, "short");
const VID_FIELD = field(FIELD.vid, VID);
const VID_PACKET = packet("vid", VID);

describe("the message for a binary token", () => {
  test.each<[string, Uint8Array]>([
    ["the token is empty", new Uint8Array()],
    ["this is neither a v1 nor a v2 macaroon (at 0); a v2 token starts with Ag", utf8("z")],
    ["field 3 has no place here (at 1)", v2([field(3, "x"), ID])],
    ["the identifier is given twice (at 4)", v2([ID, ID])],
    ["the verification id is given twice (at 82)", v2([ID], [[ID, VID_FIELD, VID_FIELD]])],
    ["the location is out of order (at 4)", v2([ID, field(FIELD.location, "l")])],
    ["the identifier is missing (at 2)", v2([])],
    ["the signature was expected, not field 2 (at 6)", v2([ID], [], ID)],
    ["the signature has 5 bytes instead of 32 (at 6)", v2([ID], [], SHORT)],
    ["the location is not UTF-8 (at 0)", v2([field(FIELD.location, Uint8Array.of(255)), ID])],
    [
      "a first-party caveat cannot have a location",
      v2([ID], [[field(FIELD.location, "l"), field(FIELD.identifier, "c")]]),
    ],
    [
      "a verification id has 1 bytes instead of 72",
      v2([ID], [[field(FIELD.identifier, "c"), field(FIELD.vid, "v")]]),
    ],
    ["bytes follow the end of the macaroon (at 40)", concat(v2([ID]), 9)],
    ["the token ends inside a field type (at 4)", v2([ID]).slice(0, 4)],
    ["the token ends inside the identifier (at 2)", v2([ID]).slice(0, 2)],
    ["the token ends inside the signature's field type (at 6)", v2([ID]).slice(0, 6)],
    ["the token ends inside the signature (at 39)", v2([ID]).slice(0, 39)],
    ["a packet's length is not four lowercase hex digits (at 0)", utf8("00AAlocation l\n")],
    ["a packet cannot be 6 bytes long (at 0)", utf8("0006a\n")],
    ["the token ends inside a packet's length (at 3)", utf8("000")],
    ["the token ends inside a packet (at 9)", utf8("000floca\n")],
    ["a packet does not end in a newline (at 14)", utf8("000flocation l!")],
    ["a packet has an unknown key (at 4)", packet("place", "l")],
    ['"signature" was expected, not "location" (at 32)', concat(V1_HEAD, packet("location", "l"))],
    [
      '"signature" was expected, not "vid" (at 123)',
      v1(packet("cid", "c"), VID_PACKET, VID_PACKET),
    ],
    ["the signature has 5 bytes instead of 32", concat(V1_HEAD, packet("signature", "short"))],
    ["a first-party caveat cannot have a location", v1(packet("cid", "c"), packet("cl", "l"))],
    ["a verification id has 1 bytes instead of 72", v1(packet("cid", "c"), packet("vid", "v"))],
  ])("is: %s", (expected, bytes) => {
    expect(message(() => macaroonsFromBytes(bytes))).toBe(`TokenError: ${expected}`);
  });

  test.each<[string, object]>([
    ["the text has 54 characters, more than a token of 3 bytes can have", { bytes: 3 }],
    ["the token has 40 bytes; at most 39 are allowed", { bytes: 39 }],
  ])("is: %s", (expected, limits) => {
    const text = encodeBase64url(v2([ID]));
    expect(message(() => readMacaroons(text, limits))).toBe(`TokenError: ${expected}`);
  });

  test.each<[string, object]>([
    ["more than 1 caveats in one macaroon", { caveats: 1 }],
    ["a caveat has 3 bytes; at most 2 are allowed", { caveatBytes: 2 }],
    ["more than 0 discharges with one macaroon", { discharges: 0 }],
  ])("is: %s", (expected, limits) => {
    const one = signedV2("k", "i", ["abc", "d"]);
    const two = concat(one, one);
    expect(message(() => macaroonsFromBytes(two, limits))).toBe(`TokenError: ${expected}`);
  });
});

describe("the message for a JSON token", () => {
  const S64 = encodeBase64url(SIGNATURE);
  const whole = { v: 2, i: "i", s64: S64 };

  test.each<[string, unknown]>([
    ["the macaroon is not a JSON object", [1]],
    ['the macaroon has an unknown property "x"', { ...whole, x: 1 }],
    ['a caveat has an unknown property "x"', { ...whole, c: [{ i: "c", x: 1 }] }],
    ["a caveat is not a JSON object", { ...whole, c: [1] }],
    ['"v" is not the number 2', { ...whole, v: 3 }],
    ['"i" is not a string', { ...whole, i: 1 }],
    ['"c" is not an array', { ...whole, c: {} }],
    ['"i" has a lone surrogate, so no UTF-8 form', { ...whole, i: "\ud800" }],
    ['both "i" and "i64" are given', { ...whole, i64: "aQ" }],
    ['"i" is missing', { v: 2, s64: S64 }],
    ['"s64" is missing', { v: 2, i: "i" }],
    ['"i" is missing', { ...whole, c: [{}] }],
    ["the signature has 1 bytes instead of 32", { ...whole, s64: "AA" }],
    ["the array holds no macaroon", []],
    ['"cid" is missing', { identifier: "i", caveats: [{}], signature: "" }],
    ['"identifier" is missing', { signature: "" }],
    ['"signature" is missing', { identifier: "i" }],
    ["the signature has a character that is not hex (at 1)", { identifier: "i", signature: "0g" }],
    ["the signature has 1 bytes instead of 32", { identifier: "i", signature: "00" }],
    ["the JSON is nested more than 4 deep", { v: 2, i: [[[[1]]]] }],
  ])("is: %s", (expected, value) => {
    expect(message(() => readMacaroons(JSON.stringify(value)))).toBe(`TokenError: ${expected}`);
  });

  test.each<[string, string]>([
    ["the token is empty", ""],
    ["the JSON text ends too early (at 5)", '{"v":'],
    ["the text starts like JSON but is not", "{v:2}"],
    ['"v" is given twice (at 7)', '{"v":2,"v":2}'],
  ])("is: %s", (expected, text) => {
    expect(message(() => readMacaroons(text))).toBe(`TokenError: ${expected}`);
  });

  test("says that there is more than one macaroon, and names readMacaroons", () => {
    const text = JSON.stringify([whole, whole]);
    expect(message(() => parseMacaroon(text))).toBe(
      "TokenError: more than one macaroon; use readMacaroons",
    );
  });
});

describe("the message for a wrong argument", () => {
  const key = createRootKey(utf8("k"));
  const bare = createMacaroon(key, { identifier: "i" });
  const check = (): boolean => true;
  const third = { key: utf8("k"), identifier: "c" };

  test.each<[string, () => unknown]>([
    ["init.identifier must not be empty", () => createMacaroon(key, { identifier: "" })],
    [
      "init.identifier must be a string or a Uint8Array, not a number",
      () => createMacaroon(key, { identifier: 1 as never }),
    ],
    [
      "init.location has a lone surrogate, so no UTF-8 form",
      () => createMacaroon(key, { identifier: "i", location: "\ud800" }),
    ],
    ["caveat must not be empty", () => addFirstPartyCaveat(bare, "")],
    [
      "caveat must be a string or a Uint8Array, not a number",
      () => addFirstPartyCaveat(bare, 1 as never),
    ],
    [
      "init.identifier must not be empty",
      () => addThirdPartyCaveat(bare, { ...third, identifier: "" }),
    ],
    [
      "init.identifier must be a string or a Uint8Array, not a number",
      () => addThirdPartyCaveat(bare, { ...third, identifier: 1 as never }),
    ],
    [
      "init.key must be a non-empty Uint8Array",
      () => addThirdPartyCaveat(bare, { ...third, key: new Uint8Array() }),
    ],
    [
      "a caveat nonce must have 24 bytes",
      () => addThirdPartyCaveat(bare, { ...third, nonce: new Uint8Array(23) }),
    ],
    ["secret must be a Uint8Array, not a string", () => createRootKey("k" as never)],
    ["secret must not be empty", () => createRootKey(new Uint8Array())],
    ["text must be a string, not a number", () => readMacaroons(1 as never)],
    ["bytes must be a Uint8Array, not a string", () => macaroonsFromBytes("a" as never)],
    [
      "limits.bytes must be a whole number of at least 0, not -1",
      () => readMacaroons("a", { bytes: -1 }),
    ],
    ["macaroons must have at least one macaroon", () => writeMacaroons([] as never, "v2")],
    [
      "format must be v1, v2, v1json or v2json, not v3",
      () => writeMacaroons([bare], "v3" as never),
    ],
    ["format must be v1 or v2, not v3", () => macaroonToBytes(bare, "v3" as never)],
    [
      "macaroon must be a Macaroon, as createMacaroon() or parseMacaroon() gives it, not a plain object",
      () => macaroonToBytes({} as never, "v2"),
    ],
    [
      "macaroon must be a Macaroon, as createMacaroon() or parseMacaroon() gives it, not a plain object",
      () => verifyMacaroon({} as never, key, { check }),
    ],
    [
      "key must be a RootKey, as createRootKey() gives it, not a plain object",
      () => verifyMacaroon(bare, {} as never, { check }),
    ],
    [
      "options.check must be a function, not undefined",
      () => verifyMacaroon(bare, key, {} as never),
    ],
    [
      '"identifier" is too long for the v1 format: 70000 bytes',
      () => macaroonToBytes(createMacaroon(key, { identifier: "x".repeat(70_000) }), "v1"),
    ],
    [
      "the identifier is not UTF-8 text, so the v1 JSON form cannot carry it; use v2json",
      () => writeMacaroons([createMacaroon(key, { identifier: Uint8Array.of(255) })], "v1json"),
    ],
    [
      "a caveat is not UTF-8 text, so the v1 JSON form cannot carry it; use v2json",
      () => writeMacaroons([addFirstPartyCaveat(bare, Uint8Array.of(255))], "v1json"),
    ],
  ])("is: %s", (expected, run) => {
    expect(message(run)).toBe(`TypeError: ${expected}`);
  });
});
