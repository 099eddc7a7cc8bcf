import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Cursor, varintLength, writeVarint } from "../../src/bytes/cursor.js";
import { rejection } from "../macaroon/support.js";

const MAX = 2 ** 28 - 1;

function cursor(...bytes: number[]): Cursor {
  return new Cursor(Uint8Array.from(bytes));
}

describe("a varint", () => {
  test.each([
    [0, [0]],
    [1, [1]],
    [127, [0x7f]],
    [128, [0x80, 1]],
    [300, [0xac, 2]],
    [16_383, [0xff, 0x7f]],
    [16_384, [0x80, 0x80, 1]],
    [2_097_152, [0x80, 0x80, 0x80, 1]],
    [MAX, [0xff, 0xff, 0xff, 0x7f]],
  ])("of the value %i is written and read as the bytes %j", (value, bytes) => {
    const out = new Uint8Array(bytes.length);
    expect(writeVarint(out, 0, value)).toBe(bytes.length);
    expect([...out]).toEqual(bytes);
    expect(varintLength(value)).toBe(bytes.length);
    const reader = cursor(...bytes, 0xee);
    expect(reader.varint("a number")).toBe(value);
    expect(reader.offset).toBe(bytes.length);
  });

  test("of any value is read back from the offset where it was written", () => {
    fc.assert(
      fc.property(fc.nat(MAX), fc.nat(5), (value, at) => {
        const out = new Uint8Array(at + varintLength(value));
        expect(writeVarint(out, at, value)).toBe(out.length);
        expect(new Cursor(out, at).varint("a number")).toBe(value);
      }),
    );
  });

  test.each([
    { about: "0 in two bytes", bytes: [0x80, 0], code: "varint_overlong", offset: 0 },
    { about: "1 in two bytes", bytes: [0x81, 0], code: "varint_overlong", offset: 0 },
    { about: "0 in four bytes", bytes: [0x80, 0x80, 0x80, 0], code: "varint_overlong", offset: 0 },
    { about: "2^28", bytes: [0x80, 0x80, 0x80, 0x80, 1], code: "varint_range", offset: 0 },
    { about: "2^32 + 2", bytes: [0x82, 0x80, 0x80, 0x80, 0x10], code: "varint_range", offset: 0 },
    {
      about: "0 in five bytes",
      bytes: [0x80, 0x80, 0x80, 0x80, 0],
      code: "varint_range",
      offset: 0,
    },
    { about: "empty", bytes: [], code: "truncated", offset: 0 },
    { about: "cut before its last byte", bytes: [0x80, 0x80], code: "truncated", offset: 2 },
  ])("is refused if it is $about: $code", ({ bytes, code, offset }) => {
    expect(rejection(() => cursor(...bytes).varint("a number"))).toEqual({ code, offset });
  });

  test("of more bytes than needed is reported at the offset of its first byte", () => {
    const bytes = Uint8Array.of(9, 9, 0x80, 0);
    expect(rejection(() => new Cursor(bytes, 2).varint("x")).offset).toBe(2);
  });
});

describe("reading bytes with a Cursor", () => {
  test("moves forward to the end", () => {
    const reader = cursor(1, 2, 3);
    expect(reader.peek()).toBe(1);
    expect(reader.byte("a byte")).toBe(1);
    expect(reader.done).toBe(false);
    expect([...reader.take(2, "bytes")]).toEqual([2, 3]);
    expect(reader.done).toBe(true);
    expect(reader.peek()).toBeUndefined();
    expect(reader.take(0, "nothing")).toHaveLength(0);
  });

  test("past the end fails with the code truncated and the offset of the end, and does not move the cursor", () => {
    const reader = cursor(1, 2, 3);
    expect(rejection(() => reader.take(4, "bytes"))).toEqual({ code: "truncated", offset: 3 });
    expect(reader.offset).toBe(0);
    reader.take(3, "bytes");
    expect(rejection(() => reader.byte("a byte"))).toEqual({ code: "truncated", offset: 3 });
  });

  test("reads only the cursor's part of a larger buffer", () => {
    const whole = Uint8Array.of(0, 1, 2, 3, 4);
    const reader = new Cursor(whole.subarray(1, 3));
    expect([...reader.take(2, "bytes")]).toEqual([1, 2]);
    expect(rejection(() => reader.take(1, "more")).code).toBe("truncated");
  });
});
