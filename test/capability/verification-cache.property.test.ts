import { expect, test } from "vitest";
import { Random } from "../fuzz/random.js";
import { SEED } from "../support/seed.js";
import { sized } from "../support/size.js";
import {
  answer,
  MOMENTS,
  QUESTIONS,
  REVOCATIONS,
  RINGS,
  TEXTS,
  Uncached,
  World,
} from "./cache-world.js";

const STEPS = sized(80_000, 1_000, 200_000);
// Number of steps in which the same seven tokens are used, since real callers use tokens repeatedly. Otherwise, small
// caches would never have a hit.
const PHASE = 200;

test(`authorize gives the same ${STEPS} answers with and without the verification cache`, {
  timeout: 300_000,
}, () => {
  const random = new Random(SEED);
  const world = new World();
  const uncached = new Uncached(world);
  const issuers = [{ entries: 1 }, { entries: 4 }, { bytes: 12_000 }, { bytes: 1 }, {}, {}].map(
    (bounds) => world.issuer(bounds),
  );
  let allowed = 0;
  let texts: number[] = [];
  for (let step = 0; step < STEPS; step++) {
    if (step % PHASE === 0) texts = random.many(7, () => random.below(TEXTS.length));
    if (random.once(12)) world.ring = random.once(2) ? 0 : random.below(RINGS.length);
    if (random.once(12)) world.moment = random.once(2) ? 0 : random.below(MOMENTS.length);
    if (random.once(12)) world.revoked ^= 1 << random.below(REVOCATIONS);
    if (random.once(40)) world.revoked = 0;
    const issuer = random.pick(issuers);
    const [text, question] = [random.pick(texts), random.below(QUESTIONS)];
    const given = answer(issuer, text, question);
    if (given.startsWith('{"allowed":true')) allowed++;
    if (given === uncached.answer(text, question)) continue;
    const where = `PROVISO_FUZZ_SEED=${SEED}, step ${step}, text ${text}, question ${question}`;
    expect(given, where).toBe(uncached.answer(text, question));
  }
  expect(allowed).toBeGreaterThan(STEPS / 50);
});
