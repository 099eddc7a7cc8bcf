import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { encodeBase64url } from "../../src/bytes/base64.js";
import { TokenError } from "../../src/bytes/token-error.js";
import { CompactMacaroon } from "../../src/macaroon/compact.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  createMacaroon,
  createRootKey,
  type Macaroon,
  macaroonToText,
  readMacaroons,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { MACAROON_LIMITS, type MacaroonLimits } from "../../src/macaroon/limits.js";
import { bytesOf, WORDS } from "../../src/macaroon/sha256.js";
import { verifySignatures } from "../../src/macaroon/signatures.js";
import { revocationIdOf, revocationIdsOfWords } from "../../src/revocation/id.js";
import { sized } from "../support/size.js";
import { rejection } from "./support.js";

// The compact reading beside the reading of all forms: what it accepts, that one accepts, and they see the same.

const key = createRootKey(new Uint8Array(32).fill(7));
const compact = new CompactMacaroon(MACAROON_LIMITS);

function made(
  caveats: readonly (string | Uint8Array)[],
  identifier: string | Uint8Array = "id",
): Macaroon {
  return caveats.reduce<Macaroon>(
    (macaroon, caveat) => addFirstPartyCaveat(macaroon, caveat),
    createMacaroon(key, { identifier }),
  );
}

/** Whether the compact reading takes it; if so, it agrees with the other in all it says. */
function read(text: string, limits: MacaroonLimits = MACAROON_LIMITS): boolean {
  if (!compact.read(text, limits)) return false;
  const { format, macaroons } = readMacaroons(text, limits);
  const [macaroon] = macaroons;
  expect([format, macaroons.length, macaroon.location]).toEqual(["v2", 1, undefined]);
  expect(compact.caveats).toBe(macaroon.caveats.length);
  const parts = [macaroon.identifier, ...macaroon.caveats.map(({ identifier }) => identifier)];
  for (const [at, part] of parts.entries()) expect(compact.part(at).slice()).toEqual(part);
  compact.begin(key);
  const verified = verifySignatures(macaroon, key, [], 0);
  expect(compact.isAuthentic).toBe(verified.ok);
  if (!verified.ok) return true;
  const tags = verified.chains[0]?.tags ?? [];
  expect(tags).toHaveLength(compact.caveats + 1);
  for (const [at, tag] of tags.entries()) expect(bytesOf(compact.tags, WORDS * at)).toEqual(tag);
  const ids = tags.map(revocationIdOf);
  for (const first of [0, compact.caveats]) {
    const some = revocationIdsOfWords(compact.tags, first, compact.caveats + 1);
    expect(some).toEqual(ids.slice(first));
  }
  return true;
}

/** The compact reading takes what the other reads as v2 with nothing but first-party caveats, none empty. */
function agrees(bytes: readonly number[]): void {
  const text = encodeBase64url(Uint8Array.from(bytes));
  expect(compact.read(text, MACAROON_LIMITS), text).toBe(isCompact(text));
}

function isCompact(text: string): boolean {
  try {
    const { format, macaroons } = readMacaroons(text);
    const [{ location, identifier, caveats }, ...others] = macaroons;
    const plain = caveats.every(({ kind }) => kind === "first-party");
    const parts = [identifier, ...caveats.map((caveat) => caveat.identifier)];
    const filled = parts.every(({ length }) => length > 0);
    return format === "v2" && others.length === 0 && location === undefined && plain && filled;
  } catch (error) {
    if (error instanceof TokenError) return false;
    throw error;
  }
}

describe("the compact reading", () => {
  test("takes what has its form, of every size, and computes the tags of its chain", () => {
    for (const size of [1, 2, 54, 55, 56, 63, 64, 65, 127, 128, 129, 1000, 16_383]) {
      const part = new Uint8Array(size).fill(size);
      expect(read(macaroonToText(made([part, "a", part]))), `${size} bytes`).toBe(true);
      expect(read(macaroonToText(made(["b"], part)))).toBe(true);
    }
    expect(read(macaroonToText(made([])))).toBe(true);
    const most = Array.from({ length: MACAROON_LIMITS.caveats }, (_, at) => `caveat ${at}`);
    expect(read(macaroonToText(made(most)))).toBe(true);
  });

  test("leaves every other form to the reading of all", () => {
    const macaroon = made(["a"]);
    const text = macaroonToText(macaroon);
    const third = addThirdPartyCaveat(macaroon, { key: new Uint8Array([1]), identifier: "x" });
    for (const other of [
      ...(["v1", "v1json", "v2json"] as const).map((form) => writeMacaroons([macaroon], form)),
      ...[writeMacaroons([macaroon, macaroon], "v2"), macaroonToText(third)],
      macaroonToText(createMacaroon(key, { identifier: "id", location: "here" })),
      ...[`${text}=`, `${text}==`, `${text} `, text.slice(0, -1), text.slice(1), ""],
      Buffer.from([...Buffer.from(text, "base64url"), 0]).toString("base64url"),
    ]) {
      expect(compact.read(other, MACAROON_LIMITS), other).toBe(false);
    }
  });

  test("is held to every limit that concerns it", () => {
    const text = macaroonToText(made(["four", "five!"], "identifier"));
    const bytes = Buffer.from(text, "base64url").length;
    const exact = { bytes, caveats: 2, caveatBytes: 5, identifierBytes: 10 };
    expect(read(text, { ...MACAROON_LIMITS, ...exact })).toBe(true);
    for (const name of ["bytes", "caveats", "caveatBytes", "identifierBytes"] as const) {
      const limits = { ...MACAROON_LIMITS, ...exact, [name]: exact[name] - 1 };
      expect(compact.read(text, limits), name).toBe(false);
      expect(() => readMacaroons(text, limits)).toThrow(TokenError);
    }
  });

  test("takes nothing that the reading of all refuses, whatever was changed in it", () => {
    const texts = [made([]), made(["a"]), made(["b".repeat(130), "c", "d"])].map(macaroonToText);
    let taken = 0;
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 }), fc.constantFrom("set", "drop", "add"))),
        (text, changes) => {
          const bytes = [...Buffer.from(text, "base64url")];
          for (const [place, value, how] of changes.slice(0, 3)) {
            const at = place % bytes.length;
            if (how === "set") bytes[at] = value;
            else bytes.splice(at, how === "drop" ? 1 : 0, ...(how === "drop" ? [] : [value]));
          }
          if (read(encodeBase64url(Uint8Array.from(bytes)))) taken++;
        },
      ),
      { numRuns: sized(20_000) },
    );
    expect(taken).toBeGreaterThan(0);
  });

  test("takes all that has its form, whatever byte of the structure is another", () => {
    for (const text of [made([]), made(["a", "bc"]), made(["b".repeat(130), "c"])].map(
      macaroonToText,
    )) {
      const bytes = [...Buffer.from(text, "base64url")];
      const end = bytes.length - 30;
      for (let at = 0; at < end; at++) {
        // One byte of what a long caveat says is as good as another.
        if (at > 12 && bytes[at] === 0x62 && bytes[at + 1] === 0x62) continue;
        for (let value = 0; value < 256; value++) agrees(bytes.with(at, value));
        for (const value of [0, 1, 2, 6, 0x20, 0x80, 0xff]) agrees(bytes.toSpliced(at, 0, value));
        agrees(bytes.toSpliced(at, 1));
        agrees(bytes.slice(0, at));
      }
    }
  });

  test("takes a length in its shortest form alone, and no part without bytes", () => {
    const signature = Array.from({ length: 32 }, () => 9);
    const written = (identifier: readonly number[], ...caveats: readonly (readonly number[])[]) => [
      ...[2, 2, ...identifier, 0, ...caveats.flatMap((caveat) => [2, ...caveat, 0])],
      ...[0, 6, 32, ...signature],
    ];
    const long = Array.from({ length: 130 }, () => 0x62);
    expect(
      isCompact(encodeBase64url(Uint8Array.from(written([1, 0x61], [0x82, 1, ...long])))),
    ).toBe(true);
    for (const part of [
      ...[[1, 0x61], [0x81, 0, 0x61], [0x81, 0x80, 0, 0x61], [0], [0x80, 0], [0x80]],
      ...[
        [0x82, 1, ...long],
        [0x82, 0x81, 0, ...long],
        [0x82, 0x80, 1, ...long],
        [0x83, 1, ...long],
      ],
    ]) {
      agrees(written(part));
      agrees(written(part, [1, 0x61]));
      agrees(written([1, 0x61], part));
      agrees(written([1, 0x61], [1, 0x61], part));
    }
  });

  test("does not remember what it read before", () => {
    const [long, short] = [made(["a".repeat(300), "b", "c"]), made(["d"])].map(macaroonToText);
    expect([read(long ?? ""), read(short ?? ""), compact.caveats]).toEqual([true, true, 1]);
    expect(read(short?.slice(0, 8) ?? "")).toBe(false);
  });

  test("goes on from a tag that is known, to the same tags", () => {
    read(macaroonToText(made(["a", "b", "c"])));
    const [before, last] = [compact.lastTags().slice(0, WORDS), compact.lastTags().slice(WORDS)];
    compact.resume([...before, ...last], 0, 2);
    expect(compact.isAuthentic).toBe(true);
    compact.resume([...before, ...last], WORDS, 3);
    expect(compact.isAuthentic).toBe(true);
    compact.resume([...before, ...last], WORDS, 2);
    expect(compact.isAuthentic).toBe(false);
    compact.resume(
      last.map((word, at) => (at === 7 ? word ^ 1 : word)),
      0,
      3,
    );
    expect(compact.isAuthentic).toBe(false);
  });
});

describe("appending", () => {
  test("gives the text of the same macaroon with one more caveat, again and again", () => {
    for (const identifier of ["i", "id", "identifier"]) {
      let macaroon = made([], identifier);
      for (const size of [1, 2, 3, 127, 128, 1000, 5]) {
        const text = macaroonToText(macaroon);
        const caveat = new Uint8Array(size).fill(0x61);
        macaroon = addFirstPartyCaveat(macaroon, caveat);
        expect(compact.read(text, MACAROON_LIMITS)).toBe(true);
        const once = compact.append(text, caveat);
        expect(once).toBe(macaroonToText(macaroon));
        expect([compact.caveats, compact.isAuthentic]).toEqual([macaroon.caveats.length, true]);
        expect(compact.part(compact.caveats)).toEqual(caveat);
        const twice = macaroonToText(addFirstPartyCaveat(macaroon, "more"));
        expect(compact.append(once, Buffer.from("more"))).toBe(twice);
      }
    }
  });

  test("is held to each limit where it is reached", () => {
    const text = macaroonToText(made(["a", "b"]));
    compact.read(text, MACAROON_LIMITS);
    const refusal = (size: number, limits: Partial<MacaroonLimits>): string =>
      rejection(() => compact.assertRoom(size, { ...MACAROON_LIMITS, ...limits })).code;
    expect([3, 2].map((caveats) => refusal(1, { caveats }))).toEqual([
      "accepted",
      "too_many_caveats",
    ]);
    expect([5, 6].map((size) => refusal(size, { caveatBytes: 5 }))).toEqual([
      "accepted",
      "caveat_too_large",
    ]);
    for (const size of [1, 127, 128]) {
      const longer = addFirstPartyCaveat(made(["a", "b"]), "c".repeat(size));
      const bytes = Buffer.from(macaroonToText(longer), "base64url").length;
      expect([bytes, bytes - 1].map((most) => refusal(size, { bytes: most }))).toEqual([
        "accepted",
        "too_large",
      ]);
    }
  });

  test("goes on after the caveats were read as one text", () => {
    const caveats = ['{"a":1}', `"${"b".repeat(200)}"`, "[2,3]", "4"];
    const macaroon = made(caveats);
    const text = macaroonToText(macaroon);
    for (const first of [1, 2, 4]) {
      compact.read(text, MACAROON_LIMITS);
      const values = caveats.slice(first - 1).map((caveat): unknown => JSON.parse(caveat));
      expect(JSON.parse(compact.jsonFrom(first))).toEqual(values);
      const child = macaroonToText(addFirstPartyCaveat(macaroon, "5"));
      expect(compact.append(text, Buffer.from("5"))).toBe(child);
    }
  });
});

test("what is behind a prefix is the start that descendants have in common", () => {
  const prefix = new Uint8Array(32).fill(9);
  const texts = [made(["a", "b"]), made(["a", "b", "c"])].map(macaroonToText);
  const [own, childs] = texts.map((text) => {
    compact.read(text, MACAROON_LIMITS);
    return Buffer.from(compact.behind(prefix, 2)).toString("hex");
  });
  expect(own).toBe(childs);
  const bytes = Buffer.from(texts[0] ?? "", "base64url");
  // All but the end of caveats, and the signature with its two bytes.
  expect(own).toBe(Buffer.concat([prefix, bytes.subarray(0, -35)]).toString("hex"));
});
