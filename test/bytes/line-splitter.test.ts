import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter, type SplitLine } from "../../src/bytes/line-splitter.js";

const LIMIT = 16;

function shown(line: SplitLine): string {
  return line.kind === "line" ? Buffer.from(line.bytes).toString("latin1") : "too large";
}

function split(pieces: readonly Uint8Array[]): { lines: string[]; rest: string | undefined } {
  const splitter = new LineSplitter(LIMIT);
  const lines: string[] = [];
  for (const piece of pieces) for (const line of splitter.split(piece)) lines.push(shown(line));
  const last = splitter.rest();
  return { lines, rest: last === undefined ? undefined : shown(last) };
}

const byte = fc.constantFrom(0x0a, 0x61, 0x62, 0xff);

test("LineSplitter gives the same lines however the bytes are cut into pieces", () => {
  fc.assert(
    fc.property(fc.array(fc.array(byte, { maxLength: 24 })), (all) => {
      const pieces = all.map((piece) => Uint8Array.from(piece));
      const expected = Buffer.concat(pieces).toString("latin1").split("\n");
      const told = expected.map((line) => (line.length > LIMIT ? "too large" : line));
      const rest = told.pop();
      expect(split(pieces)).toEqual({ lines: told, rest: rest === "" ? undefined : rest });
    }),
  );
});

test("LineSplitter sets isTooLarge before a line over the limit ends, and returns the line's first and last 256 bytes", () => {
  const splitter = new LineSplitter(1000);
  const line = Buffer.from([...Array(5000).keys()].map((at) => 0x61 + (at % 26)));
  for (let at = 0; at < 1000; at += 10) [...splitter.split(line.subarray(at, at + 10))];
  expect(splitter.isTooLarge).toBe(false);
  [...splitter.split(line.subarray(1000, 1001))];
  expect(splitter.isTooLarge).toBe(true);
  const [found, next] = splitter.split(Buffer.concat([line.subarray(1001), Buffer.from("\nb\n")]));
  expect(found).toEqual({
    kind: "too_large",
    head: new Uint8Array(line.subarray(0, 256)),
    tail: new Uint8Array(line.subarray(-256)),
  });
  expect(next).toEqual({ kind: "line", bytes: Buffer.from("b") });
  expect(splitter.isTooLarge).toBe(false);
});
