import { describe, expect, test } from "vitest";
import { encodeBase64url } from "../../../src/bytes/base64.js";
import {
  createRevocationFilter,
  readRevocationFilter,
} from "../../../src/revocation/filter/fuse-filter.js";

/** Consecutive numbers: the filter's own hash must spread them. */
function idOf(at: number): string {
  const bytes = new Uint8Array(at % 2 === 0 ? 16 : 12);
  new DataView(bytes.buffer).setUint32(0, at);
  return (at % 2 === 0 ? "rv_" : "cap_") + encodeBase64url(bytes);
}

function filterOf(count: number) {
  return createRevocationFilter({
    size: count,
    ids: () => Array.from({ length: count }, (_, at) => idOf(at)),
  });
}

test.each([0, 1, 2, 3, 10, 100, 1000, 30_000])(
  "a filter of %d has each of its ids, also read back",
  (count) => {
    const made = filterOf(count);
    const read = readRevocationFilter(made.toBytes());
    expect([made.size, read.size]).toEqual([count, count]);
    for (let at = 0; at < count; at++) {
      if (!made.mayHave(idOf(at)) || !read.mayHave(idOf(at))) throw new Error(`${at} is missing`);
    }
    expect(read.toBytes()).toEqual(made.toBytes());
  },
);

test("of other ids, one in 65,536 is a false hit", () => {
  const filter = filterOf(20_000);
  let hits = 0;
  for (let at = 20_000; at < 420_000; at++) if (filter.mayHave(idOf(at))) hits++;
  // 6.1 are expected; 30 come with a probability below 1e-10.
  expect(hits).toBeLessThan(30);
});

test("a large one has at most 2.5 bytes an id", () => {
  expect(filterOf(200_000).toBytes().length / 200_000).toBeLessThan(2.5);
});

test("an id that no filter can hold may be revoked", () => {
  for (const id of ["", "key_1", `${idOf(0).slice(0, -1)}B`, `${idOf(1)}A`]) {
    expect(filterOf(10).mayHave(id)).toBe(true);
  }
});

describe("refused", () => {
  const bytes = filterOf(50).toBytes();
  test("bytes that are cut short, or longer", () => {
    for (let length = 0; length < bytes.length; length++) {
      expect(() => readRevocationFilter(bytes.subarray(0, length))).toThrow(
        /not a revocation filter/,
      );
    }
    expect(() => readRevocationFilter(Uint8Array.of(...bytes, 0))).toThrow(TypeError);
  });

  test.each([0, 3, 7, 8, 15])("a header whose byte %d is another", (at) => {
    const wrong = bytes.slice();
    wrong[at] = (wrong[at] ?? 0) ^ 0xff;
    expect(() => readRevocationFilter(wrong)).toThrow(/not a revocation filter/);
  });

  test("an id twice, one of another form, and a wrong count", () => {
    const build =
      (size: number, ...ids: readonly string[]) =>
      () =>
        createRevocationFilter({ size, ids: () => ids });
    expect(build(2, idOf(0), idOf(0))).toThrow(/comes twice/);
    expect(build(1, "key_1")).toThrow(/cannot be in a filter/);
    expect(build(1, idOf(0), idOf(1))).toThrow(/cannot be in a filter/);
    expect(build(2, idOf(0))).toThrow(/there are 1 ids/);
  });
});
