import { isDeepStrictEqual } from "node:util";
import { expect, test } from "vitest";
import { TokenError } from "../../../src/bytes/token-error.js";
import { encodeUtf8 } from "../../../src/bytes/utf8.js";
import { assertHopFits, CAPABILITY_LIMITS } from "../../../src/capability/limits.js";
import { checkInvocation } from "../../../src/caveats/invocation.js";
import { judgeHop } from "../../../src/caveats/judge.js";
import { readHop } from "../../../src/caveats/read-hop.js";
import { Random } from "../../fuzz/random.js";
import { runsOr, SEED } from "../../support/seed.js";
import { sized } from "../../support/size.js";
import { startPython } from "./python.js";
import { type Pair, randomPair } from "./random-pairs.js";

const PAIRS = runsOr(sized(40_000, 2_000, 100_000));
const BATCH = 2_000;

test(`TypeScript and Python give the same answer for ${PAIRS} random hops and calls`, {
  timeout: 0,
}, async () => {
  const random = new Random(SEED);
  const outcomes = new Map<string, number>();
  const differences: string[] = [];
  const checker = startPython("judge_pairs.py");
  try {
    for (let done = 0; done < PAIRS; done += BATCH) {
      const pairs = random.many(Math.min(BATCH, PAIRS - done), () => randomPair(random));
      const answers = await checker.ask(pairs);
      for (const [at, pair] of pairs.entries()) {
        const own = judged(pair);
        const python = answers[at];
        if (!isDeepStrictEqual(own, python)) {
          differences.push(JSON.stringify({ ...pair, own, python }));
        }
        const outcome = own[0]?.replace(/ .*/, "") ?? "allowed";
        outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      }
    }
  } finally {
    await checker.close();
  }
  expect(shortest(differences), `from seed ${SEED}`).toEqual([]);
  console.log(`pairs from seed ${SEED}: ${JSON.stringify(Object.fromEntries(outcomes))}`);
  // Each outcome must be frequent, or the comparison shows little.
  for (const outcome of ["allowed", "constraint_violated", "caveat_malformed", "caveat_unknown"]) {
    expect(outcomes.get(outcome) ?? 0, outcome).toBeGreaterThan(PAIRS / 200);
  }
});

/** Returns the outcome in the form of `judge_pairs.py`. */
function judged(pair: Pair): readonly string[] {
  const caveat = encodeUtf8(pair.hop);
  try {
    assertHopFits(caveat, { ...CAPABILITY_LIMITS, caveatBytes: Number.POSITIVE_INFINITY });
  } catch (error) {
    if (error instanceof TokenError) return [error.code];
    throw error;
  }
  const reading = readHop(caveat);
  if (!reading.ok) return sorted(reading.problems.map(({ code }) => code));
  const call = { operation: pair.operation, arguments: JSON.parse(pair.arguments) };
  const asked = checkInvocation(call, () => Date.parse("2026-01-01T00:00:00Z"));
  return sorted(judgeHop(reading.hop, asked, 0).map(({ code, rule }) => `${code} ${rule}`));
}

function sorted(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].sort();
}

/** Returns the ten shortest strings. */
function shortest(texts: readonly string[]): readonly string[] {
  return [...texts].sort((one, other) => one.length - other.length).slice(0, 10);
}
