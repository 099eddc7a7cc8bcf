import { expect, test } from "vitest";
import { answer, FORGED, Uncached, World } from "../capability/cache-world.js";
import { sized } from "../support/size.js";

// The test runs every sequence of a few actions on a cache of at most three entries. Each sequence begins with an
// empty cache.

const LENGTH = sized(4, 2);
const world = new World();
const PARENT = 1;
const CHILD = 2;
const SIBLING = 3;

const ACTIONS: readonly ("ring" | "moment" | "revoked" | { readonly text: number })[] = [
  ...[0, PARENT, CHILD, SIBLING, FORGED, FORGED + 1, 6].map((text) => ({ text })),
  ...(["ring", "moment", "revoked"] as const),
];

test(`authorize gives the same answers with and without the cache in all ${ACTIONS.length ** LENGTH} sequences of ${LENGTH} actions`, {
  timeout: 300_000,
}, () => {
  const uncached = new Uncached(world);
  let different = 0;
  for (let sequence = 0; sequence < ACTIONS.length ** LENGTH; sequence++) {
    const issuer = world.issuer({ entries: 3 });
    Object.assign(world, { ring: 0, moment: 0, revoked: 0 });
    let rest = sequence;
    for (let step = 0; step < LENGTH; step++) {
      const action = ACTIONS[rest % ACTIONS.length];
      rest = Math.floor(rest / ACTIONS.length);
      if (action === "ring") world.ring = (world.ring + 3) % 5;
      else if (action === "moment") world.moment = (world.moment + 2) % 4;
      else if (action === "revoked") world.revoked ^= 1;
      else if (action !== undefined) {
        if (answer(issuer, action.text, 0) !== uncached.answer(action.text, 0)) different++;
      }
    }
  }
  expect(different).toBe(0);
});
