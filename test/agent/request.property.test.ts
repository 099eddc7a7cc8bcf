import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/bytes/json.js";
import { HOP_KEYS } from "../../src/caveats/hop-rules.js";
import { anyCharacter } from "../support/any-character.js";
import { sized } from "../support/size.js";
import { ALICE, denialOf, type World, world } from "./support.js";

// Requests of any JSON, as the network delivers them, never cause an exception.

const CODES = [
  "invalid_request",
  "unknown_grant",
  "missing_required_grants",
  "resource_query_required",
  "unknown_collection",
  "unknown_field",
  "unknown_operator",
  "invalid_value",
  "too_many_resources",
  "nothing_left",
];

const grants = ["documents:read", "documents:write", "documents:admin", "clock:read"];
const odd: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 4, stringUnit: anyCharacter }),
  fc.constantFrom<unknown>(
    "\ud800",
    [],
    {},
    [[]],
    -0,
    1e308,
    "*",
    ["*"],
    "__proto__",
    "2099-01-01T00:00:00Z",
  ),
);
const name = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "toString", "", "grant"),
  fc.string(),
);
const filter = fc.dictionary(
  fc.oneof(fc.constantFrom("title", "quarter", "confidential", "__proto__"), name),
  fc.oneof(odd, fc.dictionary(fc.constantFrom("in", "min", "max", "__proto__", "from"), odd)),
);
const query = fc.oneof(
  odd,
  fc.record(
    {
      collection: fc.oneof(fc.constantFrom("reports", "vault", "reports/", "../reports"), odd),
      filter,
    },
    { requiredKeys: [] },
  ),
);
const time = fc.oneof(
  odd,
  fc.constantFrom("2030-01-01T00:00:01Z", "2030-01-01T00:05:00Z", "2031-01-01T00:00:00Z"),
);
const texts = fc.oneof(odd, fc.subarray(["retrieve", "list", "update", "tell"], { minLength: 1 }));
const restrictions = {
  operations: texts,
  audience: texts,
  invokers: texts,
  resourceHandles: odd,
  nonce: odd,
  expires: time,
  notBefore: time,
  purpose: odd,
  maxFurtherHops: odd,
  constraints: fc.oneof(
    odd,
    fc.dictionary(name, fc.oneof(odd, fc.dictionary(fc.constantFrom("in", "max", "not_in"), odd))),
  ),
};
const seldom = Object.fromEntries(
  Object.entries(restrictions).map(([key, value]) => [
    key,
    fc.oneof(
      { weight: 12, arbitrary: fc.constant<unknown>(undefined) },
      { weight: 1, arbitrary: value },
    ),
  ]),
);
const request = fc
  .record({
    grants: fc.oneof(
      { weight: 4, arbitrary: fc.subarray(grants, { minLength: 1 }) },
      { weight: 1, arbitrary: odd },
    ),
    resourceQuery: fc.oneof(
      { weight: 8, arbitrary: fc.constant({ collection: "reports" }) },
      { weight: 4, arbitrary: query },
    ),
    ...seldom,
    more: fc.oneof(
      { weight: 12, arbitrary: fc.constant(undefined) },
      { weight: 1, arbitrary: fc.tuple(name, odd) },
    ),
  })
  .map(({ more, ...members }) => {
    const text = JSON.stringify(members);
    const extra =
      more === undefined ? "" : `,${JSON.stringify(more[0])}:${JSON.stringify(more[1])}`;
    // Parsed from text, so that "__proto__" is an own property.
    const value: Json = JSON.parse(`${text.slice(0, -1)}${extra}}`);
    return value;
  });

const anything = fc.oneof({ weight: 8, arbitrary: request }, { weight: 1, arbitrary: odd });

async function answered({ agent }: World, value: Json): Promise<string> {
  const outcome = await agent.request(ALICE, value);
  if (outcome.ok) return "granted";
  expect(CODES).toContain(outcome.denial.code);
  expect(outcome.denial.message.length).toBeLessThan(3000);
  return outcome.denial.code;
}

describe("a request of any shape", () => {
  test("is either granted or refused with a code", async () => {
    const parts = await world();
    const seen = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(anything, async (value) => {
        const answer = await answered(parts, JSON.parse(JSON.stringify(value ?? null)));
        seen.set(answer, (seen.get(answer) ?? 0) + 1);
      }),
      { numRuns: sized(600, 150, 1500) },
    );
    // Checks that the generator reached the important outcomes.
    expect(seen.get("granted")).toBeGreaterThan(sized(40, 5, 100));
    expect(seen.size).toBeGreaterThan(sized(6, 2));
    expect(Object.getOwnPropertyNames(Object.prototype)).not.toContain("grants");
  });

  test("is refused if it has an unknown property", async () => {
    const { agent } = await world();
    for (const member of ["resourceHandles", "nonce", "principal", "grant", "__proto__", "cnf"]) {
      const value: Json = JSON.parse(`{"grants":["clock:read"],"${member}":["x"]}`);
      expect(denialOf(await agent.request(ALICE, value))).toMatchObject({
        code: "invalid_request",
        path: member,
      });
    }
    expect(HOP_KEYS).toContain("nonce");
  });

  test("gets an answer of bounded size, however large the request is", async () => {
    const parts = await world();
    let deep: Json = 1;
    for (let at = 0; at < sized(20_000, 5000, 50_000); at++) deep = [deep];
    const many = Array.from({ length: sized(40_000, 10_000, 100_000) }, (_, at) => `x${at}`);
    const wide: Json = Object.fromEntries(many.map((one) => [one, 1]));
    const long = "x".repeat(sized(400_000, 100_000, 1_000_000));
    const huge: readonly Json[] = [long, many, wide, deep];
    for (const member of ["grants", "resourceQuery", ...HOP_KEYS, long]) {
      for (const value of huge) {
        const answer = await answered(parts, { grants: ["clock:read"], [member]: value });
        expect(answer).toMatch(/^(invalid_request|invalid_value|unknown_field)$/);
      }
    }
  });
});
