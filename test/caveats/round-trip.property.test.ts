import fc from "fast-check";
import { expect, test } from "vitest";
import type { HopInit } from "../../src/caveats/hop.js";
import { readHop } from "../../src/caveats/read-hop.js";
import { encodeHop, normalizeHop } from "../../src/caveats/write-hop.js";
import { anyCharacter } from "../support/any-character.js";
import { sized } from "../support/size.js";

const RUNS = sized(800, 200, 2000);

// Well-formed strings of every kind: ASCII, escapes, characters beyond the basic plane.
const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 6 }),
  fc.constantFrom(
    "",
    "\u0000",
    '"\\/',
    "\u2028",
    "\uFEFF",
    "\uFFFF",
    "\u{10FFFF}",
    "__proto__",
    "0",
  ),
);
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const scalar = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const set = fc.array(text, { minLength: 1, maxLength: 5 });
const values = fc.array(scalar, { minLength: 1, maxLength: 5 });
const time = fc.date({
  min: new Date("0000-01-01T00:00:00Z"),
  max: new Date("9999-12-31T23:59:59Z"),
  noInvalidDate: true,
});
const operators = fc
  .record({ min: number, max: number, in: values, not_in: values }, { requiredKeys: [] })
  .filter((limit) => Object.keys(limit).length > 0);

const init: fc.Arbitrary<HopInit> = fc
  .record(
    {
      operations: set,
      resourceHandles: set,
      audience: set,
      invokers: set,
      constraints: fc
        .array(fc.tuple(text, fc.oneof(scalar, operators)), { minLength: 1, maxLength: 4 })
        .map((limits) => Object.fromEntries(limits)),
      expires: time,
      notBefore: time,
      maxFurtherHops: fc.maxSafeNat(),
      purpose: text,
      nonce: fc.stringMatching(/^[A-Za-z0-9_-]{16}$/),
    },
    { requiredKeys: [] },
  )
  .filter((hop) => Object.keys(hop).length > 0);

test("readHop returns the normalized hop of the bytes that encodeHop wrote", () => {
  fc.assert(
    fc.property(init, (hop) => {
      const normal = normalizeHop(hop);
      expect(readHop(encodeHop(hop))).toEqual({ ok: true, hop: normal });
      expect(encodeHop(normal)).toEqual(encodeHop(hop));
      expect(normalizeHop(normal)).toEqual(normal);
    }),
    { numRuns: RUNS },
  );
});

test("readHop refuses a non-canonical spelling of a hop", () => {
  const spelling = fc.constantFrom<(json: string) => string>(
    (json) => JSON.stringify(JSON.parse(json), null, 1),
    (json) => `${json} `,
    (json) => `${json}\u0000`,
    (json) => json.replace('":', '" :'),
    (json) => json.replace("{", "{\n"),
    // This key sorts before every other, so it is either out of order or a duplicate.
    (json) => json.replace(/}$/, ',"audience":["a"]}'),
    (json) => json.replace('"', '"\\u0061'),
    (json) => json.slice(0, -1),
  );
  fc.assert(
    fc.property(init, spelling, (hop, respell) => {
      const json = new TextDecoder("utf-8", { ignoreBOM: true }).decode(encodeHop(hop));
      const other = respell(json);
      expect(readHop(new TextEncoder().encode(other)).ok).toBe(false);
    }),
    { numRuns: RUNS },
  );
});

test("readHop returns a hop or a list of problems for any bytes", () => {
  const json = fc
    .json({ maxDepth: 4 })
    .map((one) => new TextEncoder().encode(`{"operations":${one}}`));
  fc.assert(
    fc.property(fc.oneof(fc.uint8Array(), json), (bytes) => {
      const reading = readHop(bytes);
      if (!reading.ok) expect(reading.problems).not.toEqual([]);
    }),
    { numRuns: RUNS },
  );
});
