import { describe, expect, test } from "vitest";
import {
  addFirstPartyCaveat,
  createMacaroon,
  createRootKey,
  MACAROON_LIMITS,
  type Macaroon,
  type MacaroonFormat,
  type MacaroonLimits,
  macaroonsFromBytes,
  macaroonToBytes,
  readMacaroons,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { concat, field, packet, V1_HEAD, v1, v2 } from "./raw.js";
import { rejection, utf8 } from "./support.js";

const FORMATS: readonly MacaroonFormat[] = ["v1", "v2", "v1json", "v2json"];
const key = createRootKey(utf8("k"));
const start = createMacaroon(key, { identifier: "i" });

function withCaveats(count: number, caveat = "c"): Macaroon {
  let macaroon = start;
  for (let i = 0; i < count; i++) macaroon = addFirstPartyCaveat(macaroon, caveat);
  return macaroon;
}

interface Case {
  readonly about: string;
  readonly macaroons: readonly [Macaroon, ...Macaroon[]];
  /** Limits that these macaroons just meet. */
  readonly limits: Partial<MacaroonLimits>;
  readonly code: string;
}

// `start` has 40 bytes in the v2 form, and each caveat of one byte adds 4.
const CASES: readonly Case[] = [
  {
    about: "caveats",
    macaroons: [withCaveats(3)],
    limits: { caveats: 3 },
    code: "too_many_caveats",
  },
  {
    about: "caveats of a discharge",
    macaroons: [start, withCaveats(3)],
    limits: { caveats: 3 },
    code: "too_many_caveats",
  },
  {
    about: "bytes of a caveat",
    macaroons: [withCaveats(1, "five!")],
    limits: { caveatBytes: 5 },
    code: "caveat_too_large",
  },
  {
    about: "bytes of the identifier",
    macaroons: [createMacaroon(key, { identifier: "five!" })],
    limits: { identifierBytes: 5 },
    code: "caveat_too_large",
  },
  {
    about: "bytes of a discharge's identifier",
    macaroons: [start, createMacaroon(key, { identifier: "five!" })],
    limits: { identifierBytes: 5 },
    code: "caveat_too_large",
  },
  {
    about: "discharges",
    macaroons: [start, start, start],
    limits: { discharges: 2 },
    code: "too_many_discharges",
  },
  {
    about: "bytes of all together",
    macaroons: [start, withCaveats(2)],
    limits: { bytes: 88 },
    code: "too_large",
  },
];

describe("the limits on macaroons", () => {
  test("have the documented defaults", () => {
    expect(MACAROON_LIMITS).toEqual({
      bytes: 65536,
      caveats: 256,
      identifierBytes: 16384,
      caveatBytes: 16384,
      discharges: 64,
      nesting: 16,
    });
  });

  describe.each(CASES)("$about", ({ macaroons, limits, code }) => {
    const less = Object.fromEntries(Object.entries(limits).map(([name, n]) => [name, n - 1]));

    test.each(FORMATS)(
      "a token in the form %s is read at the limit and refused past the limit",
      (format) => {
        const text = writeMacaroons(macaroons, format);
        expect(readMacaroons(text, limits).macaroons).toHaveLength(macaroons.length);
        expect(rejection(() => readMacaroons(text, less)).code).toBe(code);
      },
    );

    test("verifyMacaroon refuses a token past the limit before it checks any signature", () => {
      const [root, ...discharges] = macaroons;
      const wrong = createRootKey(utf8("wrong"));
      const verdict = (given: Partial<MacaroonLimits>): unknown =>
        verifyMacaroon(root, wrong, { discharges, check: () => true, limits: given });
      expect(verdict(less)).toMatchObject({ ok: false, failures: [{ code, macaroon: 0 }] });
      expect(verdict(limits)).toMatchObject({ failures: [{ code: "signature_mismatch" }] });
    });
  });

  test("refuse a string of more than four times the byte limit before decoding it", () => {
    const limits = { bytes: 10 };
    expect(rejection(() => readMacaroons("!".repeat(41), limits)).code).toBe("too_large");
    expect(rejection(() => readMacaroons("!".repeat(40), limits)).code).toBe("base64_character");
    const bytes = new Uint8Array(41);
    expect(rejection(() => macaroonsFromBytes(bytes, limits)).code).toBe("too_large");
    expect(rejection(() => macaroonsFromBytes(bytes.slice(1), limits)).code).toBe("format_unknown");
  });

  const caveats = 1000;
  const EARLY: readonly { about: string; from: string | Uint8Array; code: string }[] = [
    {
      about: "caveats in v2",
      from: v2([field(2, "i")], Array(caveats).fill([field(2, "c")]), concat("rubbish")),
      code: "too_many_caveats",
    },
    {
      about: "caveats in v1",
      from: concat(V1_HEAD, ...Array(caveats).fill(packet("cid", "c")), "rubbish"),
      code: "too_many_caveats",
    },
    {
      about: "caveats in v2 JSON",
      from: JSON.stringify({ v: 2, i: "i", s64: "", c: Array(caveats).fill("rubbish") }),
      code: "too_many_caveats",
    },
    {
      about: "caveats in v1 JSON",
      from: JSON.stringify({ identifier: "i", caveats: Array(caveats).fill("rubbish") }),
      code: "too_many_caveats",
    },
    {
      about: "discharges in v2",
      from: concat(...Array(66).fill(v2([field(2, "i")])), 2, "rubbish"),
      code: "too_many_discharges",
    },
    {
      about: "discharges in v1",
      from: concat(...Array(66).fill(v1()), "0rubbish"),
      code: "too_many_discharges",
    },
    {
      about: "discharges in JSON",
      from: JSON.stringify(Array(66).fill("rubbish")),
      code: "too_many_discharges",
    },
  ];

  test.each(EARLY)("end the reading of a token after too many $about", (given) => {
    const { from, code } = given;
    const read = (): unknown =>
      typeof from === "string" ? readMacaroons(from) : macaroonsFromBytes(from);
    expect(rejection(read).code).toBe(code);
  });

  const AT_ONCE: readonly {
    about: string;
    from: string | Uint8Array;
    limits: Partial<MacaroonLimits>;
    code: string;
  }[] = [
    {
      about: "the caveat past the limit, in v2",
      from: concat(2, field(2, "i"), 0, field(2, "c"), 0, "rubbish"),
      limits: { caveats: 1 },
      code: "too_many_caveats",
    },
    {
      about: "the caveat past the limit, in v1",
      from: concat(V1_HEAD, packet("cid", "c"), packet("cid", "d"), "rubbish"),
      limits: { caveats: 1 },
      code: "too_many_caveats",
    },
    {
      about: "a caveat that is too long, in v2",
      from: concat(2, field(2, "i"), 0, field(2, "cc"), 0, "rubbish"),
      limits: { caveatBytes: 1 },
      code: "caveat_too_large",
    },
    {
      about: "a caveat that is too long, in v1",
      from: concat(V1_HEAD, packet("cid", "cc"), "rubbish"),
      limits: { caveatBytes: 1 },
      code: "caveat_too_large",
    },
    {
      about: "a caveat that is too long, in v2 JSON",
      from: JSON.stringify({ i: "i", s64: "A".repeat(43), c: [{ i: "cc" }, "rubbish"] }),
      limits: { caveatBytes: 1 },
      code: "caveat_too_large",
    },
    {
      about: "a caveat that is too long, in v1 JSON",
      from: JSON.stringify({ identifier: "i", caveats: [{ cid: "cc" }, "rubbish"] }),
      limits: { caveatBytes: 1 },
      code: "caveat_too_large",
    },
    {
      about: "an identifier that is too long, in v2",
      from: concat(2, field(2, "ii"), 0, "rubbish"),
      limits: { identifierBytes: 1 },
      code: "caveat_too_large",
    },
    {
      about: "an identifier that is too long, in v1",
      from: concat(packet("location", ""), packet("identifier", "ii"), "rubbish"),
      limits: { identifierBytes: 1 },
      code: "caveat_too_large",
    },
    {
      about: "an identifier that is too long, in v2 JSON",
      from: JSON.stringify({ i: "ii", s64: "A".repeat(43), c: ["rubbish"] }),
      limits: { identifierBytes: 1 },
      code: "caveat_too_large",
    },
    {
      about: "an identifier that is too long, in v1 JSON",
      from: JSON.stringify({ identifier: "ii", caveats: ["rubbish"], signature: "rubbish" }),
      limits: { identifierBytes: 1 },
      code: "caveat_too_large",
    },
  ];

  test.each(AT_ONCE)("end the reading of a token at $about", ({ from, limits, code }) => {
    const read = (): unknown =>
      typeof from === "string" ? readMacaroons(from, limits) : macaroonsFromBytes(from, limits);
    expect(rejection(read).code).toBe(code);
  });

  test.each([
    { about: "a fraction", limits: { caveats: 1.5 } },
    { about: "a negative number", limits: { bytes: -1 } },
    { about: "NaN", limits: { nesting: Number.NaN } },
    { about: "infinity", limits: { discharges: Number.POSITIVE_INFINITY } },
    // @ts-expect-error Tests what JavaScript callers can do.
    { about: "a string", limits: { caveatBytes: "5" } as Partial<MacaroonLimits> },
  ])("are a TypeError if a limit is $about", ({ limits }) => {
    expect(() => readMacaroons("x", limits)).toThrow(TypeError);
    expect(() => macaroonsFromBytes(new Uint8Array(1), limits)).toThrow(TypeError);
    expect(() => verifyMacaroon(start, key, { check: () => true, limits })).toThrow(TypeError);
  });
});

test("a macaroon cut right after its last allowed caveat is refused as truncated, not as over the limit", () => {
  const whole = macaroonToBytes(withCaveats(3), "v2");
  // Cuts off the end of the caveats, and the signature: its type, its length and 32 bytes.
  const cut = whole.slice(0, -35);
  const limits = { caveats: 3 };
  expect(() => macaroonsFromBytes(whole, limits)).not.toThrow();
  for (const bytes of [cut, cut.slice(0, -1)]) {
    expect(rejection(() => macaroonsFromBytes(bytes, limits)).code).toBe("truncated");
  }
  const more = macaroonToBytes(withCaveats(4), "v2");
  expect(rejection(() => macaroonsFromBytes(more.slice(0, cut.length + 1), limits)).code).toBe(
    "too_many_caveats",
  );
});
