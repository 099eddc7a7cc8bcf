import { describe, expect, test } from "vitest";
import { Cursor } from "../../src/bytes/cursor.js";
import { readBinaryV1 } from "../../src/macaroon/binary-v1.js";
import { readBinaryV2 } from "../../src/macaroon/binary-v2.js";
import { MACAROON_LIMITS } from "../../src/macaroon/index.js";
import { concat, FIELD, field, packet, VID, v1, v2 } from "./raw.js";
import { contents, rejection } from "./support.js";

// These tests call the readers of a single binary macaroon with a cursor on bytes that continue after the macaroon.

const THIRD = [field(FIELD.location, "l"), field(FIELD.identifier, "d"), field(FIELD.vid, VID)];
const FORMS = [
  {
    form: "v1",
    read: readBinaryV1,
    bytes: v1(packet("cid", "c"), packet("cid", "d"), packet("vid", VID), packet("cl", "l")),
  },
  {
    form: "v2",
    read: readBinaryV2,
    bytes: v2(
      [field(FIELD.location, "l"), field(FIELD.identifier, "i")],
      [[field(FIELD.identifier, "c")], THIRD],
    ),
  },
] as const;

describe.each(FORMS)("the reader of one $form macaroon", ({ read, bytes }) => {
  test("starts at the cursor, and moves the cursor behind the macaroon", () => {
    const cursor = new Cursor(concat("before", bytes, "behind"), 6);
    expect(contents(read(cursor, MACAROON_LIMITS))).toEqual(
      contents(read(new Cursor(bytes), MACAROON_LIMITS)),
    );
    expect(cursor.offset).toBe(6 + bytes.length);
  });

  test("copies the bytes that it reads", () => {
    const given = bytes.slice();
    const macaroon = read(new Cursor(given), MACAROON_LIMITS);
    const before = contents(macaroon);
    given.fill(0xee);
    expect(contents(macaroon)).toEqual(before);
  });
});

describe("the reader of one v2 macaroon refuses", () => {
  test("another version, and reports its offset", () => {
    const cursor = new Cursor(Uint8Array.of(2, 3), 1);
    const read = (): unknown => readBinaryV2(cursor, MACAROON_LIMITS);
    expect(rejection(read)).toEqual({ code: "format_unknown", offset: 1 });
    cursor.offset = 1;
    expect(read).toThrow("a macaroon cannot start with byte 3");
  });

  test("an empty input", () => {
    const read = (): unknown => readBinaryV2(new Cursor(new Uint8Array()), MACAROON_LIMITS);
    expect(rejection(read)).toEqual({ code: "truncated", offset: 0 });
    expect(read).toThrow("the token ends inside the version (at 0)");
  });
});
