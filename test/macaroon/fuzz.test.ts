import fc from "fast-check";
import { describe, test } from "vitest";
import { encodeBase64url } from "../../src/bytes/base64.js";
import { TokenError } from "../../src/bytes/token-error.js";
import {
  createRootKey,
  macaroonsFromBytes,
  macaroonToBytes,
  parseMacaroon,
  readMacaroons,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { anyCharacter } from "../support/any-character.js";
import { sized } from "../support/size.js";
import { A1_V1, C_CHAIN } from "./known-answers.js";
import { utf8 } from "./support.js";

const RUNS = { numRuns: sized(2000) };
const key = createRootKey(utf8(C_CHAIN.key));
const samples = [parseMacaroon(A1_V1), parseMacaroon(C_CHAIN.c2V2)];

/** Reads a token and verifies it. Any error other than a TokenError or a verdict fails the test. */
function read(from: string | Uint8Array): void {
  try {
    const { macaroons, format } =
      typeof from === "string" ? readMacaroons(from) : macaroonsFromBytes(from);
    const [root, ...discharges] = macaroons;
    verifyMacaroon(root, key, { discharges, check: () => true });
    readMacaroons(writeMacaroons(macaroons, format));
  } catch (error) {
    if (!(error instanceof TokenError)) throw error;
  }
}

// Edge cases of lengths, types and packets.
const byte = fc.oneof(
  fc.constantFrom(0, 1, 2, 4, 6, 0x0a, 0x20, 0x30, 0x61, 0x7f, 0x80, 0xff),
  fc.nat(255),
);
const edit = fc.record({
  at: fc.nat(400),
  remove: fc.nat(6),
  insert: fc.array(byte, { maxLength: 6 }),
});

function edited<T extends string | Uint8Array>(
  from: T,
  edits: readonly { at: number; remove: number; insert: T }[],
  join: (parts: T[]) => T,
): T {
  return edits.reduce<T>((value, { at, remove, insert }) => {
    const start = at % (value.length + 1);
    return join([value.slice(0, start) as T, insert, value.slice(start + remove) as T]);
  }, from);
}

function joinBytes(parts: Uint8Array[]): Uint8Array {
  return new Uint8Array(Buffer.concat(parts));
}

describe("reading a macaroon throws only TokenError", () => {
  test("for any bytes", () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), read), RUNS);
  });

  test("for any bytes after a valid start", () => {
    const start = fc.constantFrom(Uint8Array.of(2, 2), utf8("000flocation l\n0011identifier i\n"));
    const rest = fc.array(byte, { maxLength: 60 });
    fc.assert(
      fc.property(start, rest, (head, tail) => read(joinBytes([head, Uint8Array.from(tail)]))),
      RUNS,
    );
  });

  test.each(["v1", "v2"] as const)(
    "for randomly edited %s tokens, as bytes and as base64",
    (format) => {
      const tokens = samples.map((sample) => macaroonToBytes(sample, format));
      const token = fc.constantFrom(...tokens);
      fc.assert(
        fc.property(token, fc.array(edit, { minLength: 1, maxLength: 4 }), (bytes, edits) => {
          const spoilt = edited(
            bytes,
            edits.map((one) => ({ ...one, insert: Uint8Array.from(one.insert) })),
            joinBytes,
          );
          read(spoilt);
          read(encodeBase64url(spoilt));
        }),
        RUNS,
      );
    },
  );

  test.each(["v1", "v2", "v1json", "v2json"] as const)(
    "for randomly edited strings in the form %s",
    (format) => {
      const tokens = samples.map((sample) => writeMacaroons([sample], format));
      const insert = fc.oneof(
        fc.constantFrom('"', "{", "[", "}", "]", ",", ":", "\\", "=", "null", '"v":2,', "\ud800"),
        fc.string({ maxLength: 4 }),
      );
      const textEdit = fc.record({ at: fc.nat(800), remove: fc.nat(6), insert });
      fc.assert(
        fc.property(
          fc.constantFrom(...tokens),
          fc.array(textEdit, { minLength: 1, maxLength: 4 }),
          (text, edits) => read(edited(text, edits, (parts) => parts.join(""))),
        ),
        RUNS,
      );
    },
  );

  test("for any string", () => {
    fc.assert(fc.property(fc.string({ unit: anyCharacter, maxLength: 100 }), read), RUNS);
  });

  test("for any JSON with property names of macaroons", () => {
    const name = fc.constantFrom("v", "l", "i", "i64", "c", "s", "s64", "v64", "cid", "vid", "cl");
    const name1 = fc.constantFrom("location", "identifier", "caveats", "signature", "__proto__");
    const names = fc.oneof(name, name1);
    const { json } = fc.letrec((tie) => ({
      json: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom<unknown>(2, null, true, "aQ", "f".repeat(64), "A".repeat(43)),
        fc.string({ maxLength: 5 }),
        fc.array(tie("json"), { maxLength: 3 }),
        fc.dictionary(names, tie("json"), { maxKeys: 6, noNullPrototype: true }),
      ),
    }));
    fc.assert(
      fc.property(json, (value) => read(JSON.stringify(value))),
      RUNS,
    );
  });
});
