import { describe, expect, test } from "vitest";
import { encodeBase64url } from "../../src/bytes/base64.js";
import { TokenError } from "../../src/bytes/token-error.js";
import {
  addFirstPartyCaveat,
  addThirdPartyCaveat,
  bindDischarge,
  createMacaroon,
  createRootKey,
  macaroonsFromBytes,
  macaroonToBytes,
  readMacaroons,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { concat } from "./raw.js";
import { rejection, utf8 } from "./support.js";

const key = createRootKey(utf8("root key"));
const thirdKey = utf8("third party's key");

// Without locations, which are not signed, every bit of the binary forms is significant.
const root = addFirstPartyCaveat(
  addThirdPartyCaveat(addFirstPartyCaveat(createMacaroon(key, { identifier: "id" }), "a = 1"), {
    key: thirdKey,
    identifier: "ask them",
  }),
  "b = 2",
);
const discharge = bindDischarge(
  root,
  addFirstPartyCaveat(createMacaroon(createRootKey(thirdKey), { identifier: "ask them" }), "c = 3"),
);
const FORMATS = ["v1", "v2"] as const;

/** Returns the code with which reading or verifying refuses the damaged bytes. */
function refusal(bytes: Uint8Array): string {
  try {
    const [first, ...discharges] = macaroonsFromBytes(bytes).macaroons;
    const result = verifyMacaroon(first, key, { discharges, check: () => true });
    return result.ok ? "accepted" : (result.failures[0]?.code ?? "no failure");
  } catch (error) {
    if (error instanceof TokenError) return error.code;
    throw error;
  }
}

describe.each(FORMATS)("a %s token", (format) => {
  const alone = macaroonToBytes(root, format);
  const presented = concat(alone, macaroonToBytes(discharge, format));

  test("is accepted if it is not damaged", () => {
    expect(refusal(presented)).toBe("accepted");
  });

  test("is refused as truncated if it is cut at any byte", () => {
    for (let length = 1; length < alone.length; length++) {
      expect(rejection(() => macaroonsFromBytes(alone.slice(0, length)))).toEqual({
        code: "truncated",
        offset: length,
      });
    }
    expect(rejection(() => macaroonsFromBytes(new Uint8Array())).code).toBe("empty");
  });

  test("is refused as truncated if its base64 is cut at any character", () => {
    for (const padding of ["", "=".repeat((3 - (alone.length % 3)) % 3)]) {
      const text = encodeBase64url(alone) + padding;
      for (let length = 1; length < text.length - padding.length; length++) {
        expect([length, rejection(() => readMacaroons(text.slice(0, length))).code]).toEqual([
          length,
          "truncated",
        ]);
      }
    }
  });

  test("is refused as truncated, or for leftover bits of base64, if it is cut inside its discharge", () => {
    const text = encodeBase64url(presented);
    const whole = Math.ceil((alone.length * 8) / 6);
    for (let length = whole + 1; length < text.length; length++) {
      const { code } = rejection(() => readMacaroons(text.slice(0, length)));
      // If only the complete root remains, the last character still has leftover bits.
      expect(["truncated", "base64_trailing_bits"], `cut at ${length}`).toContain(code);
    }
  });

  test("is refused if any bit is flipped", () => {
    for (let at = 0; at < presented.length * 8; at++) {
      const flipped = presented.slice();
      flipped[at >> 3] = (flipped[at >> 3] ?? 0) ^ (1 << (at & 7));
      expect(refusal(flipped), `bit ${at}`).not.toBe("accepted");
    }
  });

  test("is refused if any byte is left out, doubled or zeroed", () => {
    for (let at = 0; at < presented.length; at++) {
      const [before, byte, after] = [
        presented.slice(0, at),
        presented.slice(at, at + 1),
        presented.slice(at + 1),
      ];
      expect(refusal(concat(before, after)), `without ${at}`).not.toBe("accepted");
      expect(refusal(concat(before, byte, byte, after)), `twice ${at}`).not.toBe("accepted");
      if (byte[0] !== 0) {
        expect(refusal(concat(before, 0, after)), `zero at ${at}`).not.toBe("accepted");
      }
    }
  });
});

describe.each(["v1json", "v2json"] as const)("a %s token", (format) => {
  test("is refused as truncated if it is cut at any character", () => {
    for (const text of [
      writeMacaroons([root], format),
      writeMacaroons([root, discharge], format),
    ]) {
      for (let length = 1; length < text.length; length++) {
        expect(rejection(() => readMacaroons(text.slice(0, length)))).toEqual({
          code: "truncated",
          offset: length,
        });
      }
    }
  });
});
