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
