import { describe, expect, test } from "vitest";
import { type Caveat, macaroonToBytes, writeMacaroons } from "../../src/macaroon/index.js";
import { Macaroon } from "../../src/macaroon/macaroon.js";
import { sized } from "../support/size.js";
import { join } from "./byte-mutations.js";
import { CORPUS, decide, FORMATS, hex, type Presented, SAMPLES } from "./corpus.js";
import { isGenuine } from "./no-op.js";

// These tests damage whole capabilities of every form: one kind of damage at a time, in every possible place.
// tokens.test.ts has random damage of all kinds. A quick run tries one place in 61, and a full run flips one bit in 3.
// Since 61 and 3 have no common divisor with 8, every bit position of a byte occurs.
const STEP = sized(1, 61);
const BIT_STEP = sized(3, 61, 1);

/** Returns "no-op" if the text is allowed and nothing that is signed was changed. */
function outcome(text: string): "refused" | "allowed" | "no-op" {
  if (!decide(text).allowed) return "refused";
  return isGenuine(text) ? "no-op" : "allowed";
}

function outcomes(texts: Iterable<string>): Record<ReturnType<typeof outcome>, number> {
  const counts = { refused: 0, allowed: 0, "no-op": 0 };
  for (const text of texts) counts[outcome(text)]++;
  return counts;
}

function* cuts(text: string): Generator<string> {
  for (let length = 0; length < text.length; length += STEP) yield text.slice(0, length);
}

function* flips(bytes: Uint8Array): Generator<Uint8Array> {
  for (let bit = 0; bit < bytes.length * 8; bit += BIT_STEP) {
    const flipped = bytes.slice();
    flipped[bit >> 3] = (flipped[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    yield flipped;
  }
}

describe.each(FORMATS)("a capability in form %s", (format) => {
  const texts = SAMPLES.filter((sample) => sample.format === format).map(({ text }) => text);
  const padded = texts.map((text) => text + "=".repeat((4 - (text.length % 4)) % 4));
  const isJson = format.endsWith("json");

  test("is refused if it is cut at any character", () => {
    for (const text of texts) {
      const refused = Math.ceil(text.length / STEP);
      expect(outcomes(cuts(text))).toEqual({ refused, allowed: 0, "no-op": 0 });
    }
    if (isJson) return;
    // Incomplete padding is refused; no padding is a valid spelling.
    for (const text of padded) expect(outcomes(cuts(text)).allowed).toBe(0);
  });

  test("is refused, or decodes to the same token, if any bit of its text is flipped", () => {
    for (const text of texts) {
      const bytes = new TextEncoder().encode(text);
      const changed = [...flips(bytes)].map((one) => Buffer.from(one).toString("latin1"));
      const counts = outcomes(changed);
      expect(counts.allowed).toBe(0);
      // Changes are allowed only in the letters of a location and, in v1json, in the case of hexadecimal digits.
      expect(counts["no-op"]).toBeLessThan(changed.length / 40);
    }
  });

  test("is refused, or decodes to the same token, if any byte is removed or doubled", () => {
    for (const text of texts) {
      const places = Array.from({ length: Math.ceil(text.length / STEP) }, (_, at) => at * STEP);
      const without = places.map((at) => text.slice(0, at) + text.slice(at + 1));
      const twice = places.map((at) => text.slice(0, at + 1) + text.slice(at));
      expect(outcomes([...without, ...twice]).allowed).toBe(0);
    }
  });
});

test.each(["v1", "v2"] as const)(
  "a token with a flipped bit in its %s bytes is refused, unless the bit is in a location",
  (form) => {
    for (const presented of CORPUS) {
      const bytes = join(...presented.map((one) => macaroonToBytes(one, form)));
      const texts = [...flips(bytes)].map((one) => Buffer.from(one).toString("base64url"));
      const hints = presented.flatMap(({ location = "", caveats }) => [
        location,
        ...caveats.map((one) => (one.kind === "third-party" ? (one.location ?? "") : "")),
      ]);
      const counts = outcomes(texts);
      expect(counts.allowed).toBe(0);
      // Changes are allowed only in seven bits of each ASCII character of a location.
      expect(counts["no-op"]).toBeLessThanOrEqual(hints.join("").length * 7);
    }
  },
);

/** Returns the presented macaroons with other caveats in one of them, and unchanged signatures. */
function withCaveats(from: Presented, which: number, caveats: readonly Caveat[]): Presented {
  const [first, ...others] = from.map((one, at) => {
    const { identifier, signature, location } = one;
    return at === which ? new Macaroon({ identifier, signature, location, caveats }) : one;
  });
  return [first ?? from[0], ...others];
}

/** Yields every list made by removing an item, doubling an item, or swapping two different items. */
function* rearranged<T>(items: readonly T[], same: (a: T, b: T) => boolean): Generator<T[]> {
  for (const [at, item] of items.entries()) {
    yield items.filter((_, other) => other !== at);
    yield [...items.slice(0, at), item, ...items.slice(at)];
    for (const [other, earlier] of items.slice(0, at).entries()) {
      if (same(item, earlier)) continue;
      const swapped = [...items];
      swapped[at] = earlier;
      swapped[other] = item;
      yield swapped;
    }
  }
}

function everyForm(changed: Presented): Set<string> {
  return new Set(FORMATS.map((format) => outcome(writeMacaroons(changed, format))));
}

test("a token with any link removed, doubled or swapped is refused", () => {
  let tried = 0;
  const same = (a: Caveat, b: Caveat): boolean => hex(a.identifier) === hex(b.identifier);
  for (const presented of CORPUS) {
    for (const [which, { caveats }] of presented.entries()) {
      for (const links of rearranged(caveats, same)) {
        tried++;
        expect(everyForm(withCaveats(presented, which, links))).toEqual(new Set(["refused"]));
      }
    }
  }
  expect(tried).toBeGreaterThan(50);
});

test("a token with a discharge removed or doubled is refused, and the order of discharges does not matter", () => {
  for (const presented of CORPUS) {
    const [root, ...discharges] = presented;
    for (const others of rearranged(discharges, () => false)) {
      const expected = others.length === discharges.length ? "no-op" : "refused";
      expect(everyForm([root, ...others])).toEqual(new Set([expected]));
    }
    const [first, ...others] = discharges;
    if (first !== undefined)
      expect(everyForm([first, root, ...others])).toEqual(new Set(["refused"]));
  }
});
