import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { exactConstraints } from "../../../src/agent/parties/constraints.js";
import { hopsCover } from "../../../src/agent/parties/grant-coverage.js";
import type { Json } from "../../../src/bytes/json.js";
import type { Constraint, Hop, HopInit } from "../../../src/caveats/hop.js";
import type { Scalar } from "../../../src/caveats/scalar.js";
import { normalizeHop } from "../../../src/caveats/write-hop.js";
import { sized } from "../../support/size.js";
import { bank, done, linkedHost, NOW, registration } from "./support.js";

// Limits of several parties on the same arguments, and every value at or near a limit.

const NAMED: readonly Scalar[] = [0, 1, 5, 10, "a", "b", true, false, null];
const VALUES: readonly Scalar[] = [...NAMED, -1, 0.5, 3, 7, 11, "c", ""];

const scalar = fc.constantFrom(...NAMED);
const number = fc.constantFrom(0, 1, 5, 10);
const list = fc.uniqueArray(scalar, { minLength: 1, maxLength: 4 });
const operators = fc
  .record({ min: number, max: number, in: list, not_in: list }, { requiredKeys: [] })
  .filter((limit) => Object.keys(limit).length > 0);
const limit: fc.Arbitrary<Constraint> = fc.oneof(
  { weight: 1, arbitrary: scalar },
  {
    weight: 3,
    arbitrary: operators,
  },
);
const limits = fc.dictionary(fc.constantFrom("amount", "to"), limit, { maxKeys: 2 });
const value = fc.constantFrom(...VALUES);
const call: fc.Arbitrary<{ readonly [name: string]: Json }> = fc.record(
  { amount: value, to: value },
  { requiredKeys: [] },
);

type Limits = { readonly [argument: string]: Constraint };

/** Evaluates limits as the specification defines them, independently of the implementation. */
function allowed(given: Limits, call: { readonly [name: string]: unknown }): boolean {
  return Object.entries(given).every(([name, one]) => {
    if (!Object.hasOwn(call, name)) return false;
    const actual = call[name];
    if (one === null || typeof one !== "object") return actual === one;
    const { min, max, in: some, not_in } = one;
    if (min !== undefined && !(typeof actual === "number" && actual >= min)) return false;
    if (max !== undefined && !(typeof actual === "number" && actual <= max)) return false;
    if (some !== undefined && !some.some((other) => other === actual)) return false;
    if (not_in === undefined) return true;
    const type = (each: unknown): string => (each === null ? "null" : typeof each);
    const known = not_in.some((other) => type(other) === type(actual));
    return known && !not_in.some((other) => other === actual);
  });
}

const hopsOf = (all: readonly Limits[]): readonly Hop[] =>
  all
    .filter((one) => Object.keys(one).length > 0)
    .map((constraints) => normalizeHop({ constraints }));

const CALLS = ["amount", "to"].reduce<readonly { readonly [name: string]: Scalar }[]>(
  (calls, name) =>
    calls.flatMap((one) => [one, ...VALUES.map((each) => ({ ...one, [name]: each }))]),
  [{}],
);

test("exactConstraints returns constraints that allow exactly the calls that all limits together allow", () => {
  const several = fc.array(limits, { minLength: 1, maxLength: 3 });
  fc.assert(
    fc.property(several, (all) => {
      // Agent-Auth can express all of these limits.
      const exact = exactConstraints(hopsOf(all), "pay") as Limits | undefined;
      const expected = CALLS.filter((one) => all.every((each) => allowed(each, one)));
      expect(CALLS.filter((one) => allowed(exact ?? {}, one))).toEqual(expected);
      const isNothing = Object.values(exact ?? {}).some(
        (one) => typeof one === "object" && one?.in?.length === 0,
      );
      // An empty list cannot be in a hop; it means that no value is left.
      if (isNothing) expect(expected).toEqual([]);
      else if (exact !== undefined)
        expect(() => normalizeHop({ constraints: exact })).not.toThrow();
    }),
    { numRuns: sized(1200, 100, 3000) },
  );
});

describe("limits on single operations", () => {
  const hop = (init: HopInit): Hop => normalizeHop(init);
  const shown = (...hops: readonly HopInit[]) => exactConstraints(hops.map(hop), "pay");

  test("are shown for their own operation only, even if Agent-Auth cannot express the limits", () => {
    const own = { amount: { max: 5 } };
    expect(shown({ operationConstraints: { pay: own } })).toEqual(own);
    expect(shown({ operationConstraints: { "*": own } })).toEqual(own);
    expect(shown({ operationConstraints: { list: own } })).toBeUndefined();
    expect(
      shown({ constraints: { amount: { max: 9 } } }, { operationConstraints: { pay: own } }),
    ).toEqual(own);
    // Limits that Agent-Auth cannot express are shown with their own operators.
    const others = {
      "/to/iban": { prefix: "DE" },
      bcc: { absent: true as const },
      note: { in: ["a"], optional: true as const },
    };
    expect(shown({ operationConstraints: { pay: others } })).toEqual(others);
    expect(shown({ arguments: { pay: ["amount"] } })).toEqual({ "*": { arguments: ["amount"] } });
    expect(shown({ arguments: { pay: ["to"] } }, { constraints: { amount: 1 } })).toEqual({
      amount: { in: [] },
      "*": { arguments: ["to"] },
    });
    expect(shown({ constraints: { "/to/iban": "DE" } })).toEqual({ "/to/iban": "DE" });
  });

  test("cover a request only if they add nothing to the request's own limits", () => {
    const isCovered = (granted: HopInit, asked: HopInit): boolean =>
      hopsCover([hop(granted)], [hop(asked)], "pay", NOW);
    const own: HopInit = { operationConstraints: { pay: { amount: { max: 5 } } } };
    const list: HopInit = { arguments: { pay: ["amount"] } };
    const any: HopInit = { purpose: "anything" };
    expect(isCovered(own, any)).toBe(false);
    expect(isCovered(own, { constraints: { amount: { max: 4 } } })).toBe(true);
    expect(isCovered(own, { constraints: { amount: { max: 6 } } })).toBe(false);
    expect(isCovered(own, { constraints: { other: 1 } })).toBe(false);
    expect(isCovered({ operationConstraints: { list: { amount: 1 } } }, any)).toBe(true);
    expect(isCovered({ operationConstraints: { "*": { x: { absent: true } } } }, any)).toBe(false);
    expect(isCovered(list, any)).toBe(false);
    expect(isCovered(list, { constraints: { amount: 1 } })).toBe(false);
    expect(isCovered(list, { arguments: { pay: [] } })).toBe(true);
    expect(isCovered(list, { arguments: { pay: ["amount", "to"] } })).toBe(false);
  });
});

test("a grant covers a request if and only if it allows every call that the request asks for", () => {
  fc.assert(
    fc.property(
      fc.array(limits, { maxLength: 2 }),
      fc.array(limits, { maxLength: 2 }),
      (has, asks) => {
        const witnesses = CALLS.filter(
          (one) =>
            asks.every((each) => allowed(each, one)) && !has.every((each) => allowed(each, one)),
        );
        const nothing = !CALLS.some((one) => asks.every((each) => allowed(each, one)));
        const covered = hopsCover(hopsOf(has), hopsOf(asks), "pay", NOW);
        // Limits that allow no call are never stored, so whether they are covered does not matter.
        if (!nothing) expect(covered).toBe(witnesses.length === 0);
      },
    ),
    { numRuns: sized(2000, 150, 5000) },
  );
});

test("an agent may make exactly the calls that agent, server and every approver allow", async () => {
  const given = await bank();
  await linkedHost(given);
  let number = 0;
  const parties = fc.record({ agent: limits, server: limits, bob: limits, carol: limits });
  await fc.assert(
    fc.asyncProperty(parties, fc.array(call, { minLength: 4, maxLength: 8 }), async (by, calls) => {
      number++;
      const settings = {
        approval: { approvers: ["bob", "carol"], needed: 2 },
        bounds: { agentsPerHost: 9999 },
        ...(Object.keys(by.server).length === 0
          ? {}
          : { constraints: { transfer_funds: by.server } }),
      };
      const { parties, agent } = await given.again({ settings });
      const all = [by.agent, by.server, by.bob, by.carol];
      const capabilities = [{ name: "transfer_funds", constraints: by.agent as Json }];
      const asked = await parties.register(
        registration({ agentThumbprint: `agent ${number}`, capabilities }),
      );
      if (!asked.ok) {
        // A request whose limits allow no call is refused.
        expect(asked.code).toBe("invalid_request");
        expect(CALLS.filter((one) => all.slice(0, 2).every((each) => allowed(each, one)))).toEqual(
          [],
        );
        return;
      }
      const { approval, agent: made } = done(asked);
      for (const [principal, constraints] of [
        ["bob", by.bob],
        ["carol", by.carol],
      ] as const) {
        const hops = Object.keys(constraints).length === 0 ? {} : { hops: { 0: { constraints } } };
        const { id = "", digest = "" } = approval ?? {};
        const answer = { answer: "approve" as const, digest, ...hops };
        await parties.approvals.decide(id, { principal }, answer);
      }
      for (const one of calls) {
        const outcome = await agent.executeGrant({
          agent: made,
          capability: "transfer_funds",
          arguments: one,
        });
        expect(outcome.ok).toBe(all.every((each) => allowed(each, one)));
      }
    }),
    { numRuns: sized(100, 10) },
  );
});
