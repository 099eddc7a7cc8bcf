import { describe, expect, test } from "vitest";
import { readArguments } from "../../cli/argument-expression.js";
import { readLimits } from "../../cli/limit-expression.js";
import { readHop } from "../../src/caveats/read-hop.js";
import { inspect } from "../../src/index.js";
import { readMacaroons } from "../../src/macaroon/index.js";
import { cpuTime } from "../support/cpu-time.js";
import { ASKED, issuer } from "./corpus.js";

// CPU time must be linear in the size of the input. For 8 times the input, quadratic work takes 64 times as long, and
// linear work 8 times; the limit of 24 is about half way between, on a logarithmic scale. Each round uses the
// shortest of several measurements, and a test fails only if every round is too slow.

const SIZES = [8 * 1024, 64 * 1024] as const;
const TOO_LONG = 24;
/** Maximum number of rounds. The loop ends at the first round that is fast enough. */
const ROUNDS = 12;
/** Minimum CPU time of all runs of one measurement together, in milliseconds. */
const LEAST_WHOLE = 40;

/** Runs a function and ignores its errors, which other tests check. */
function attempt(run: () => unknown): void {
  try {
    run();
  } catch {
    return;
  }
}

/** Returns the shortest CPU time of a run, in milliseconds. */
function leastTime(run: () => unknown): number {
  let least = Number.POSITIVE_INFINITY;
  let whole = 0;
  for (let runs = 0; (runs < 5 || whole < LEAST_WHOLE) && whole < 1000; runs++) {
    const spent = cpuTime();
    attempt(run);
    const took = spent();
    least = Math.min(least, took);
    whole += took;
  }
  return least;
}

function growth(make: (size: number) => string, read: (input: string) => unknown): number {
  const [small, large] = SIZES.map(make) as [string, string];
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < ROUNDS && best > TOO_LONG; round++) {
    const base = Math.max(
      leastTime(() => read(small)),
      // A shorter time would mostly show the clock's resolution and the overhead of a call.
      0.02,
    );
    best = Math.min(best, leastTime(() => read(large)) / base);
  }
  return best;
}

function base64(bytes: Buffer): string {
  return bytes.toString("base64url");
}

function filled(start: number[], rest: number[], size: number): string {
  const bytes = Buffer.alloc(size, Uint8Array.from(rest));
  bytes.set(start);
  return base64(bytes);
}

const repeated = (piece: string, size: number): string =>
  piece.repeat(Math.ceil(size / piece.length)).slice(0, size);

const names = (size: number): string[] =>
  Array.from({ length: size / 10 }, (_, at) => `m${`${at}`.padStart(6, "0")}`);

// Functions that make a hostile text of about `size` bytes.
const TEXTS: Readonly<Record<string, (size: number) => string>> = {
  "a number without an end": (size) => filled([2, 2], [0xff], size),
  "empty caveats": (size) => filled([2, 2, 1, 97, 0], [2, 0, 0], size),
  "third-party caveats cut short": (size) =>
    filled([2, 2, 1, 97, 0], [1, 1, 97, 2, 1, 97, 4], size),
  zeros: (size) => filled([2, 2, 1, 97], [0], size),
  "whole macaroons": (size) => {
    const one = Buffer.from("AgIBYQAABiDy1zQRnrm14nj2Sbcnq5xpVI7Hw9j8NPgiov7aWHLqzA", "base64url");
    return base64(Buffer.concat(Array<Buffer>(Math.ceil(size / one.length)).fill(one)));
  },
  "hops of long sets": (size) => {
    const hop = JSON.stringify({ operations: names(4000) });
    const caveats = Array.from({ length: size / 4096 }, () => ({ i: hop }));
    return JSON.stringify({ v: 2, i: "a", c: caveats, s64: "A".repeat(43) });
  },
  "a hop of a longer set": (size) => {
    const hop = JSON.stringify({ operations: names(Math.min(size / 4, 16_000)) });
    return JSON.stringify({ v: 2, i: "a", c: [{ i: hop }, { i: hop }], s64: "A".repeat(43) });
  },
  "v1 packets": (size) =>
    base64(Buffer.from(`000elocation \n0010identifier \n${repeated("0009cid \n", size)}`)),
  "v1 digits": (size) => base64(Buffer.from(repeated("f", size))),
  A: (size) => repeated("A", size),
  "=": (size) => `Ag${repeated("=", size)}`,
  "white space": (size) => repeated(" ", size),
  "white space, then JSON": (size) => `${repeated(" \n", size)}{}`,
  "open arrays": (size) => repeated("[", size),
  "open objects": (size) => repeated('{"c":', size),
  "closed arrays": (size) => repeated("[", size / 2) + repeated("]", size / 2),
  commas: (size) => `[${repeated(",", size)}]`,
  backslashes: (size) => `{"i":"${repeated("\\\\", size)}"}`,
  quotes: (size) => `{${repeated('"', size)}}`,
  escapes: (size) => `{"i":"${repeated("\\u0041", Math.floor(size / 6) * 6)}"}`,
  "one member many times": (size) => `{${repeated('"i":1,', Math.floor(size / 6) * 6)}"i":1}`,
  "different members": (size) =>
    `{${Array.from({ length: size / 12 }, (_, at) => `"m${at}":1`).join()},"v":2}`,
  "a long number": (size) => `{"v":${repeated("1", size)}}`,
  "a long exponent": (size) => `{"v":1e${repeated("9", size)}}`,
  "caveats in JSON": (size) =>
    `{"v":2,"i":"a","c":[${repeated('{"i":"{"},', Math.floor(size / 10) * 10)}{}]}`,
  "macaroons in JSON": (size) => `[${repeated("{},", Math.floor(size / 3) * 3)}{}]`,
  "lone surrogates": (size) => `{"i":"${repeated("\ud800", size)}"}`,
};

describe("readMacaroons, authorize and inspect take time in proportion to the size of", () => {
  test.each(Object.entries(TEXTS))("%s", (_, make) => {
    expect(growth(make, (text) => readMacaroons(text))).toBeLessThan(TOO_LONG);
    expect(growth(make, (text) => issuer.authorize(text, ASKED))).toBeLessThan(TOO_LONG);
    expect(growth(make, (text) => inspect(text))).toBeLessThan(TOO_LONG);
  });
});

const HOPS: Readonly<Record<string, (size: number) => string>> = {
  "a long set": (size) => `{"operations":${JSON.stringify(names(size))}}`,
  "a long set out of order": (size) => `{"operations":${JSON.stringify(names(size).reverse())}}`,
  "a long list": (size) => `{"constraints":{"a":{"in":${JSON.stringify(names(size))}}}}`,
  "many arguments": (size) =>
    `{"constraints":{${names(size / 2)
      .map((name) => `"${name}":{"max":1}`)
      .join()}}}`,
  "unknown keys": (size) =>
    `{${names(size / 2)
      .map((name) => `"${name}":1`)
      .join()}}`,
  "wrong operators": (size) =>
    `{"constraints":{"a":{${names(size / 2)
      .map((name) => `"${name}":1`)
      .join()}}}}`,
  "a long key": (size) => `{"${repeated("operations", size)}":1}`,
  "a long text": (size) => `{"purpose":"${repeated("a", size)}"}`,
  "deep arrays": (size) => `{"purpose":${repeated("[", size / 2)}${repeated("]", size / 2)}}`,
  "a long number": (size) => `{"maxFurtherHops":${repeated("1", size)}}`,
  digits: (size) => `{"expires":"${repeated("2030-01-01T00:00:00", size)}"}`,
};

describe("readHop takes time in proportion to the size of", () => {
  test.each(Object.entries(HOPS))("%s", (_, make) => {
    const encoder = new TextEncoder();
    expect(growth(make, (text) => readHop(encoder.encode(text)))).toBeLessThan(TOO_LONG);
  });
});

const EXPRESSIONS: Readonly<Record<string, (size: number) => string>> = {
  "white space": (size) => `a${repeated(" ", size)}b`,
  "white space around in": (size) => `a${repeated(" ", size)}in${repeated(" ", size)}b`,
  not: (size) => `a${repeated(" not", size)}`,
  quotes: (size) => repeated('"', size),
  backslashes: (size) => `"${repeated("\\\\", size)}`,
  commas: (size) => `a in ${repeated(",", size)}`,
  values: (size) => `a in ${repeated("b,", size)}c`,
  "a long number": (size) => `a=${repeated("1", size)}`,
  zeros: (size) => `a=1${repeated("0", size)}.${repeated("0", size)}1`,
  numbers: (size) => `a in [${repeated("1,", size)}1]`,
  operators: (size) => repeated("=", size),
  "open arrays": (size) => `a=${repeated("[", size)}`,
};

describe("readLimits and readArguments take time in proportion to the size of", () => {
  test.each(Object.entries(EXPRESSIONS))("%s", (_, make) => {
    expect(growth(make, (text) => readLimits([text]))).toBeLessThan(TOO_LONG);
    expect(growth(make, (text) => readArguments([text]))).toBeLessThan(TOO_LONG);
  });
});
