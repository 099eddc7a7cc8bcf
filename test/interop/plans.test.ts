import { describe, expect, test } from "vitest";
import { createRootKey, verifyMacaroon } from "../../src/macaroon/index.js";
import { makeHere, type Plan, randomPlans } from "./plans.js";

function depth({ caveats }: Plan): number {
  return Math.max(0, ...caveats.map((one) => ("third" in one ? 1 + depth(one.third) : 0)));
}

describe("the random plans for exchanges with other libraries", () => {
  const plans = randomPlans(60, { binary: true });

  test("are the same in each run", () => {
    expect(randomPlans(60, { binary: true })).toEqual(plans);
  });

  test("include third-party caveats, nested third-party caveats, and identifiers that are bytes", () => {
    const depths = plans.map(depth);
    expect(depths.filter((one) => one === 0).length).toBeGreaterThan(5);
    expect(depths.filter((one) => one >= 1).length).toBeGreaterThan(20);
    expect(depths.filter((one) => one >= 2).length).toBeGreaterThan(5);
    expect(plans.some(({ identifier }) => typeof identifier !== "string")).toBe(true);
  });

  test("give macaroons that proviso verifies", () => {
    for (const plan of plans) {
      const { root, discharges } = makeHere(plan);
      const options = { discharges, check: () => true };
      expect(verifyMacaroon(root, createRootKey(plan.key), options)).toEqual({ ok: true });
    }
  });
});
