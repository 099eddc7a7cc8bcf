import { describe, expect, test } from "vitest";
import {
  attenuate,
  bindDischarges,
  diff,
  inspect,
  revocationId,
  TokenError,
} from "../../src/index.js";
import {
  createRootKey,
  type MacaroonText,
  macaroonToBytes,
  readMacaroons,
  verifyMacaroon,
  writeMacaroons,
} from "../../src/macaroon/index.js";
import { editBytes, join, spelled } from "./byte-mutations.js";
import { CORPUS, decide, issuer, type Presented, SAMPLES } from "./corpus.js";
import { editedFields } from "./field-mutations.js";
import { anyText, anyValue } from "./garbage.js";
import { editJson, respelledJson } from "./json-mutations.js";
import { isGenuine, unread } from "./no-op.js";
import { fuzz, type Random, SHARED_OUT } from "./random.js";

const KEY = createRootKey(Uint8Array.of(1));

/** Returns the result of `read`, or undefined for a refused token. Any other error fails the test. */
function unlessRefused<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof TokenError) return undefined;
    throw error;
  }
}

/** Passes the token to every reader. No reader may allow the token or invent content. */
function put(text: string, random: Random): string {
  const decision = decide(text);
  if (decision.allowed && !isGenuine(text)) throw new Error(`allowed: ${text}`);
  const reading = unlessRefused(() => readMacaroons(text));
  if (reading !== undefined) putReadable(text, reading);
  const other = random.pick(SAMPLES).text;
  const readers: readonly (() => unknown)[] = [
    () => inspect(text, { now: 0 }),
    () => attenuate(text, { operations: ["get"] }, { intersect: true }),
    () => [diff(other, text), diff(text, other)],
    () => bindDischarges(text, [other]),
    () => issuer.revocationOf(text),
    () => revocationId(text),
  ];
  unlessRefused(random.pick(readers));
  if (decision.allowed) return "allowed, as nothing that is signed changed";
  const [{ code, rule }] = decision.denials;
  return code === "token_malformed" || code === "discharge_invalid" ? String(rule) : code;
}

function putReadable(text: string, reading: MacaroonText): void {
  const { format, macaroons } = reading;
  const left = unread(text, reading);
  if (left !== undefined) throw new Error(`${left}: ${text}`);
  // Writing the token in the same form and reading it again gives the same macaroons.
  const again = readMacaroons(writeMacaroons(macaroons, format));
  const bytes = (of: MacaroonText): string =>
    of.macaroons.map((one) => macaroonToBytes(one, "v2").join()).join(";");
  if (bytes(again) !== bytes(reading)) throw new Error(`not the same when read again: ${text}`);
  const [root, ...discharges] = macaroons;
  if (verifyMacaroon(root, KEY, { discharges, check: () => true }).ok) throw new Error(text);
}

function binary(presented: Presented, form: "v1" | "v2"): Uint8Array {
  return join(...presented.map((one) => macaroonToBytes(one, form)));
}

test("each token that the fuzzing starts from is allowed, in every form", () => {
  for (const { text } of SAMPLES) {
    expect(decide(text).allowed, text).toBe(true);
    expect(isGenuine(text)).toBe(true);
  }
  expect(SHARED_OUT).toBeCloseTo(1);
});

describe("a token that the issuer did not make is never allowed", () => {
  fuzz("binary tokens", (random) => {
    const form = random.pick(["v1", "v2"] as const);
    const presented = random.pick(CORPUS);
    let bytes = random.once(2) ? editedFields(random, presented, form) : binary(presented, form);
    for (let edits = random.below(3); edits > 0; edits--) {
      bytes = editBytes(
        random,
        bytes,
        binary(random.pick(CORPUS), random.pick(["v1", "v2"] as const)),
      );
    }
    return put(spelled(random, bytes), random);
  });

  fuzz("JSON tokens", (random) => {
    const samples = SAMPLES.filter(({ format }) => format.endsWith("json"));
    let { text } = random.pick(samples);
    if (random.once(3)) text = respelledJson(random, text);
    for (let edits = random.below(4); edits > 0; edits--) {
      text = editJson(random, text, random.pick(samples).text);
    }
    return put(text, random);
  });

  fuzz("random text", (random) => {
    const bytes = random.bytes(random.below(120));
    const start = Uint8Array.from(random.pick(["\x02\x02", "000f", "\x02\x01\x01a\x02"]), (one) =>
      one.charCodeAt(0),
    );
    const text = random.pick([
      () => random.many(random.below(40), () => anyText(random)).join(""),
      () => spelled(random, bytes),
      () => spelled(random, join(start, bytes)),
      () => JSON.stringify(anyValue(random, 4)),
      () => String.fromCharCode(...bytes),
    ])();
    return put(text, random);
  });
});
