import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Hop } from "../../src/caveats/hop.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import { encodeHop } from "../../src/caveats/write-hop.js";
import { attenuate, diff, inspect } from "../../src/index.js";
import { anyHop, independentHop, invocation } from "../caveats/arbitraries.js";
import { contains } from "../caveats/membership.js";
import { concerns } from "../caveats/support.js";
import { sized } from "../support/size.js";
import { append, codes, fixture, mintOpen, NOW } from "./support.js";

const RUNS = sized(600, 40, 1500);
/** Rules about the arguments of one operation. */
const OF_OPERATION = /^(operationConstraints|arguments)[.[]/;
const { issuer } = fixture();
const root = mintOpen(issuer);
const chain = fc.array(anyHop, { maxLength: 3 });
const calls = fc.array(invocation, { minLength: 4, maxLength: 4 });

/** Returns a token with `hops` after the issuer's hop. They are appended without the lint of `attenuate`. */
function tokenWith(hops: readonly Hop[]): string {
  return hops.reduce((token, hop) => append(token, encodeHop(hop)), root);
}

function isAllowed(token: string, call: Invocation): boolean {
  return issuer.authorize(token, call).allowed;
}

describe("for random tokens and calls", () => {
  test("the authority that inspect shows contains exactly the calls that authorize allows", () => {
    let allowed = 0;
    fc.assert(
      fc.property(chain, calls, (hops, asked) => {
        const token = tokenWith(hops);
        const { authority } = inspect(token);
        for (const call of asked) {
          const decision = issuer.authorize(token, call);
          const timed = { ...call, time: call.time ?? new Date(NOW) };
          expect(contains(authority, timed)).toBe(decision.allowed);
          if (!decision.allowed) continue;
          allowed++;
          expect(decision.capability.authority).toEqual(authority);
        }
      }),
      { numRuns: RUNS },
    );
    expect(allowed).toBeGreaterThan(RUNS / 10);
  });

  test("a token with one more hop never allows a call that its parent refused", () => {
    fc.assert(
      fc.property(chain, anyHop, calls, (hops, hop, asked) => {
        const parent = tokenWith(hops);
        const child = append(parent, encodeHop(hop));
        for (const call of asked) {
          if (isAllowed(child, call)) expect(isAllowed(parent, call)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
  });

  test("the order of independent hops changes neither decisions nor reasons", () => {
    const hops = fc.array(independentHop, { minLength: 2, maxLength: 4 });
    fc.assert(
      fc.property(hops, calls, (one, asked) => {
        const token = tokenWith(one);
        const reversed = tokenWith([...one].reverse());
        for (const call of asked) {
          expect(codes(issuer.authorize(reversed, call)).sort()).toEqual(
            codes(issuer.authorize(token, call)).sort(),
          );
        }
      }),
      { numRuns: RUNS },
    );
  });
});

describe("a hop accepted by attenuate", () => {
  test("is appended unchanged, and allows nothing that the parent refused", () => {
    let accepted = 0;
    fc.assert(
      fc.property(chain, anyHop, calls, (hops, hop, asked) => {
        const parent = tokenWith(hops);
        const child = attenuate(parent, hop, { nonce: false });
        if (!child.ok) return;
        accepted++;
        expect(child.token).toBe(append(parent, encodeHop(hop)));
        expect(diff(parent, child.token)).toMatchObject({ derived: true, added: [hop] });
        for (const call of asked) {
          if (isAllowed(child.token, call)) expect(isAllowed(parent, call)).toBe(true);
        }
      }),
      { numRuns: RUNS },
    );
    expect(accepted).toBeGreaterThan(RUNS / 20);
  });

  test("with the option intersect, allows exactly the calls that the parent and the original hop both allow", () => {
    let intersected = 0;
    fc.assert(
      fc.property(chain, anyHop, calls, (hops, hop, asked) => {
        const parent = tokenWith(hops);
        const unclipped = append(parent, encodeHop(hop));
        const child = attenuate(parent, hop, { intersect: true, nonce: false });
        for (const call of asked) {
          const verdict = isAllowed(unclipped, call);
          if (child.ok) expect(isAllowed(child.token, call)).toBe(verdict);
          else if (concerns(child.overreaches, call.operation)) expect(verdict).toBe(false);
        }
        if (!child.ok) return;
        const again = attenuate(parent, child.hop, { nonce: false });
        if (again.ok) expect([again.token, again.hop]).toEqual([child.token, child.hop]);
        // Only with `intersect` may a hop leave some operations without calls.
        else for (const { rule } of again.overreaches) expect(rule).toMatch(OF_OPERATION);
        if (!attenuate(parent, hop, { nonce: false }).ok) intersected++;
      }),
      { numRuns: RUNS },
    );
    expect(intersected).toBeGreaterThan(RUNS / 150);
  });
});
