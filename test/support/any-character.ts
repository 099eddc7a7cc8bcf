import fc from "fast-check";

const SURROGATES = { first: 0xd800, count: 0x800 };
const LAST = 0x10ffff - SURROGATES.count;

/**
 * Generates any code point except lone surrogates, as the unit of `fc.string`. The unit `"binary"` of fast-check does
 * the same with a table of a million entries, which each process of a run would need a second to make.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(LAST).map(
  (at) => String.fromCodePoint(at < SURROGATES.first ? at : at + SURROGATES.count),
  (text) => indexOf(text),
);

/**
 * Returns the number that generates a character.
 *
 * @throws Error for any other value, which fast-check then rejects.
 */
function indexOf(text: unknown): number {
  const point = typeof text === "string" ? (text.codePointAt(0) ?? -1) : -1;
  if (point < 0 || String.fromCodePoint(point) !== text) throw new Error("not one character");
  if (point < SURROGATES.first) return point;
  const at = point - SURROGATES.count;
  if (at < SURROGATES.first) throw new Error("half of a pair");
  return at;
}
