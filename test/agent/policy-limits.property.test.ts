import fc from "fast-check";
import { expect, test } from "vitest";
import type { PolicyRule } from "../../src/agent/policy-table.js";
import type { JsonObject } from "../../src/bytes/json.js";
import { sized } from "../support/size.js";
import { ALICE, world } from "./support.js";

const ZONES = [undefined, "UTC", "CET", "EST"] as const;
type Zone = (typeof ZONES)[number];

/** A limit of a rule, and the zones that it allows. */
interface Limit {
  readonly rule: Partial<PolicyRule>;
  readonly allows: (zone: Zone) => boolean;
}

const FREE: Limit = { rule: {}, allows: () => true };
const CLOSED: Limit = { rule: { arguments: { tell: [] } }, allows: (zone) => zone === undefined };

const limit: fc.Arbitrary<Limit> = fc.oneof(
  fc.constantFrom(FREE, CLOSED),
  fc
    .tuple(fc.subarray(["CET", "EST", "UTC"], { minLength: 1 }), fc.constantFrom("tell", "*"))
    .map(([zones, operation]) => ({
      rule: { operationConstraints: { [operation]: { zone: { in: zones } } } },
      allows: (zone: Zone) => zone !== undefined && zones.includes(zone),
    })),
  fc.subarray(["CET", "EST", "UTC"], { minLength: 1 }).map((zones) => ({
    rule: { constraints: { zone: { in: zones } } },
    allows: (zone: Zone) => zone !== undefined && zones.includes(zone),
  })),
);

test("issued capabilities, and calls without one, allow exactly what at least one rule allows", async () => {
  const { agent, policy, again } = await world();
  const ambient = await again({ mode: "prefer" });
  const property = fc.asyncProperty(
    fc.array(limit, { minLength: 1, maxLength: 3 }),
    fc.boolean(),
    async (limits, isTightened) => {
      const base = { principal: "alice", grant: "clock:read", operations: ["tell"] };
      const tableOf = (of: readonly Limit[]) => ({
        rules: of.map(({ rule }) => ({ ...base, ...rule })),
      });
      policy.replace(tableOf(limits));
      const outcome = await agent.request(ALICE, { grants: ["clock:read"] });
      const made = outcome.ok ? outcome.capabilities : [];
      // The policy may be changed after the capabilities have been issued.
      const now = isTightened ? [CLOSED] : limits;
      policy.replace(tableOf(now));
      for (const zone of ZONES) {
        const given: JsonObject = zone === undefined ? {} : { zone };
        const call = { skill: "tell", arguments: given };
        const capabilities = made.map(({ token }) => ({ token }));
        const allowed = (all: readonly Limit[]): boolean => all.some((one) => one.allows(zone));
        const withTokens = await agent.invoke(ALICE, { ...call, capabilities });
        expect(withTokens.ok).toBe(allowed(limits) && allowed(now));
        const without = await ambient.invoke(ALICE, { ...call, capabilities: [] });
        expect(without.ok).toBe(allowed(now));
      }
    },
  );
  await fc.assert(property, { numRuns: sized(60, 15) });
});
