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
  readMacaroons,
  type VerifyOptions,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { cpuTime } from "../support/cpu-time.js";
import { concat, FIELD, field, packet, SIGNATURE, V1_HEAD, VID, v1, v2 } from "./raw.js";
import { hex, rejection, utf8 } from "./support.js";

// Faults found in other implementations.

const key = createRootKey(utf8("root key"));
const start = createMacaroon(key, { identifier: "id" });
const yes = (): boolean => true;

function milliseconds(run: () => unknown): number {
  const spent = cpuTime();
  run();
  return spent();
}

describe("unlike npm macaroon, proviso", () => {
  const id = field(FIELD.identifier, "i");
  const signature = hex(SIGNATURE);

  test.each([
    {
      about: "a signature that is not hex, which npm macaroon takes as zero bytes",
      text: JSON.stringify({ identifier: "i", signature: "z".repeat(64) }),
      code: "json_hex",
    },
    {
      about: "a signature of one byte",
      text: JSON.stringify({ identifier: "i", signature: signature.slice(0, 2) }),
      code: "signature_length",
    },
    {
      about: "both i and i64",
      text: JSON.stringify({ v: 2, i: "i", i64: "aQ", s64: "A".repeat(43) }),
      code: "json_both_encodings",
    },
  ])("refuses $about", ({ text, code }) => {
    expect(rejection(() => readMacaroons(text)).code).toBe(code);
  });

  test.each([
    {
      about: "a length that is not minimal",
      bytes: concat(2, 2, 0x81, 0, "i", 0, 0, field(FIELD.signature, SIGNATURE)),
      code: "varint_overlong",
    },
    {
      about: "a length of 2^32 + 1, which npm macaroon takes as 1",
      bytes: concat(2, 2, 0x81, 0x80, 0x80, 0x80, 0x10, "i", 0, 0, field(6, SIGNATURE)),
      code: "varint_range",
    },
    {
      about: "a signature of one byte in v2",
      bytes: v2([id], [], field(FIELD.signature, "x")),
      code: "signature_length",
    },
  ])("refuses $about", ({ bytes, code }) => {
    expect(rejection(() => macaroonsFromBytes(bytes)).code).toBe(code);
  });

  test("refuses a caveat if the check returns nothing", () => {
    const forgetful = (() => {}) as unknown as VerifyOptions["check"];
    const macaroon = addFirstPartyCaveat(start, "never true");
    expect(verifyMacaroon(macaroon, key, { check: forgetful }).ok).toBe(false);
  });

  test("writes a macaroon without doubling the memory with each field", () => {
    let macaroon: Macaroon = start;
    for (let i = 0; i < 256; i++) macaroon = addFirstPartyCaveat(macaroon, `caveat ${i}`);
    const bytes = macaroonToBytes(macaroon, "v2");
    expect(bytes.length).toBeLessThan(4096);
    expect(bytes.buffer.byteLength).toBe(bytes.length);
  });
});

describe("unlike pymacaroons, macaroons.js or jmacaroons, proviso", () => {
  test("refuses an injected caveat that is not part of the signature", () => {
    const genuine = addFirstPartyCaveat(start, "met");
    const injected = v2(
      [field(FIELD.identifier, "id")],
      [[field(FIELD.identifier, "met")], [field(FIELD.identifier, "not met")]],
      field(FIELD.signature, genuine.signature),
    );
    const [macaroon] = macaroonsFromBytes(injected).macaroons;
    const check = (caveat: Uint8Array): boolean => Buffer.from(caveat).toString() === "met";
    expect(verifyMacaroon(macaroon, key, { check })).toMatchObject({
      ok: false,
      failures: [{ code: "signature_mismatch" }],
    });
    expect(verifyMacaroon(genuine, key, { check }).ok).toBe(true);
  });

  test("makes each of 50 third-party caveats work, without a race that spoils keys", () => {
    for (let i = 0; i < 50; i++) {
      const third = { key: utf8(`key ${i}`), identifier: `ask ${i}` };
      const root = addThirdPartyCaveat(start, third);
      const discharge = bindDischarge(root, createMacaroon(createRootKey(third.key), third));
      expect(verifyMacaroon(root, key, { discharges: [discharge], check: yes }).ok).toBe(true);
    }
  });

  test("counts bytes, not characters, in the lengths of v1", () => {
    const macaroon = createMacaroon(key, { identifier: "ключ", location: "место" });
    const read = parseMacaroon(writeMacaroons([macaroon], "v1"));
    expect(Buffer.from(read.identifier).toString()).toBe("ключ");
    expect(read.location).toBe("место");
  });
});

describe("unlike other libraries, proviso refuses", () => {
  test("a length that is written as 1 MiB of 0xff, which hangs pymacaroons", () => {
    const bytes = concat(2, 2, new Uint8Array(1 << 20).fill(0xff));
    const limits = { bytes: bytes.length };
    const run = (): unknown => rejection(() => macaroonsFromBytes(bytes, limits));
    expect(run()).toEqual({ code: "varint_range", offset: 2 });
    expect(milliseconds(run)).toBeLessThan(1000);
  });

  test.each([
    {
      about: "a vid of 71 bytes",
      bytes: v1(packet("cid", "c"), packet("vid", VID.slice(1))),
      code: "vid_length",
    },
    { about: "an empty vid", bytes: v1(packet("cid", "c"), packet("vid", "")), code: "vid_length" },
    { about: "no signature", bytes: V1_HEAD, code: "truncated" },
    { about: "a packet length of 0000", bytes: concat(V1_HEAD, "0000"), code: "packet_header" },
  ])("$about, which crashes libmacaroons", ({ bytes, code }) => {
    expect(rejection(() => macaroonsFromBytes(bytes)).code).toBe(code);
  });

  test("a ladder of repeated discharges, which takes libmacaroons exponential time", () => {
    const rungs = 40;
    const needTwice = (macaroon: Macaroon, next: number): Macaroon => {
      const third = { key: utf8(`key ${next}`), identifier: `rung ${next}` };
      return addThirdPartyCaveat(addThirdPartyCaveat(macaroon, third), third);
    };
    const root = needTwice(start, 0);
    const discharges = Array.from({ length: rungs }, (_, at) => {
      const init = { identifier: `rung ${at}` };
      const rung = createMacaroon(createRootKey(utf8(`key ${at}`)), init);
      return bindDischarge(root, at + 1 < rungs ? needTwice(rung, at + 1) : rung);
    });
    const run = (): unknown => verifyMacaroon(root, key, { discharges, check: yes });
    expect(run()).toMatchObject({ failures: [{ code: "discharge_reused", macaroon: 0 }] });
    expect(milliseconds(run)).toBeLessThan(1000);
  });
});

describe("unlike other libraries, proviso", () => {
  test("keeps a caveat that is not UTF-8 in a v1 token, which Go drops", () => {
    const read = parseMacaroon(writeMacaroons([start], "v1"));
    const narrowed = addFirstPartyCaveat(read, Uint8Array.of(0xff, 0xfe));
    const again = parseMacaroon(writeMacaroons([narrowed], "v1"));
    expect(again.caveats).toHaveLength(1);
    expect(verifyMacaroon(again, key, { check: yes }).ok).toBe(true);
    expect(hex(again.signature)).not.toBe(hex(start.signature));
  });

  test("hashes caveats as received, and never parses them and encodes them again", () => {
    for (const caveat of ['{ "b":1,"a":1.0 }', '{"a":1,"a":2}', "\u0065\u0301", " padded "]) {
      const read = parseMacaroon(writeMacaroons([addFirstPartyCaveat(start, caveat)], "v2json"));
      const check = (given: Uint8Array): boolean => Buffer.from(given).toString() === caveat;
      expect(verifyMacaroon(read, key, { check })).toEqual({ ok: true });
    }
  });

  test("refuses an unknown caveat that no check accepts, which aperture skips", () => {
    const macaroon = addFirstPartyCaveat(addFirstPartyCaveat(start, "known"), "unknown=1");
    const check = (caveat: Uint8Array): boolean => Buffer.from(caveat).toString() === "known";
    expect(verifyMacaroon(macaroon, key, { check })).toMatchObject({
      failures: [{ code: "caveat_unmet", caveat: 2 }],
    });
  });
});
