import { expect, test } from "vitest";
import type { ApprovalSubject } from "../../src/agent/parties/records.js";
import { attenuate } from "../../src/capability/attenuate.js";
import type { Hop } from "../../src/caveats/hop.js";
import { Form } from "../../src/console/form.js";
import { argumentsOf, type DescribedSkill } from "../../src/console/limits/arguments.js";
import { onlyReadsBy } from "../../src/console/limits/asked-view.js";
import { fieldsOf } from "../../src/console/limits/fields.js";
import { readLimits } from "../../src/console/limits/read-limits.js";
import { createIssuer, createKeyring, createRevocationList } from "../../src/issuer/index.js";

// If a user limits an argument in the console, the limit applies to every operation that the user keeps,
// however the skill describes the argument.

const amount = { type: "number" };
const INPUTS: { readonly [operation: string]: DescribedSkill["input"] } = {
  pay: { type: "object", additionalProperties: false, properties: { amount } },
  all_of: { type: "object", allOf: [{ properties: { amount } }] },
  ref: { $ref: "#/$defs/payment", $defs: { payment: { properties: { amount } } } },
  array: { type: "object", properties: { amount: { type: "array" } } },
  open: { type: "object" },
};
const SKILLS = Object.entries(INPUTS).map(
  ([operation, input]): DescribedSkill => ({ id: operation, operation, effect: "write", input }),
);
const OPERATIONS = [...Object.keys(INPUTS), "without_skill"];
const READING = { argumentsOf: argumentsOf(SKILLS), onlyReads: onlyReadsBy(SKILLS) };

/**
 * Returns the hops from a form in which the user keeps some operations, and fills in one field for the argument
 * `amount`.
 */
function limits(kept: readonly string[], field: "max" | "in", value: string, asked?: Hop) {
  const subject: ApprovalSubject = {
    kind: "capabilities",
    request: "r",
    principal: "alice",
    lifetime: 3600,
    agent: { id: "assistant" },
    asked: [
      {
        grant: "g",
        operations: OPERATIONS,
        hops: asked === undefined ? [] : [{ by: "agent", hop: asked }],
        description: "Pay",
      },
    ],
  };
  const fields = fieldsOf({ subject, digest: "d" }, READING);
  const sent = [
    ["g-0-granted", "yes"],
    [`g-0-0-${field}`, value],
    ...kept.map((one) => ["g-0-keep", one] as const),
  ] as const;
  const form = new Form(sent.map((field) => field.join("=")).join("&"));
  return readLimits(form, fields, subject, Date.now());
}

function allows(hop: Hop | undefined, operation: string, given: object): boolean {
  const issuer = createIssuer({
    name: "payments",
    keys: createKeyring(),
    revocations: createRevocationList(),
  });
  const { token } = issuer.mint({ grant: "g", operations: OPERATIONS });
  const narrowed = attenuate(token, hop ?? {});
  if (!narrowed.ok) throw new Error("nothing is left");
  const call = { grant: "g", operation, arguments: { ...given } };
  return issuer.authorize(narrowed.token, call).allowed;
}

test.each(OPERATIONS)(
  "an upper limit entered by the user holds for the operation %s, whether the user keeps only this operation or all operations",
  (operation) => {
    for (const kept of [OPERATIONS, [operation]]) {
      const { hops, problems } = limits(kept, "max", "50");
      expect(problems).toEqual([]);
      expect(allows(hops["0"], operation, { amount: 50 })).toBe(true);
      expect(allows(hops["0"], operation, { amount: 51 })).toBe(false);
      expect(allows(hops["0"], operation, { amount: [51] })).toBe(false);
      // The limit makes the argument required only for operations whose schema shows it.
      expect(allows(hops["0"], operation, {})).toBe(operation !== "pay");
    }
  },
);

test("a single value entered by the user holds for every operation", () => {
  const { hops } = limits(OPERATIONS, "in", "7");
  expect(hops["0"]?.operationConstraints).toMatchObject({
    pay: { amount: 7 },
    all_of: { amount: { in: [7], optional: true } },
  });
  expect(allows(hops["0"], "all_of", { amount: 7 })).toBe(true);
  expect(allows(hops["0"], "all_of", { amount: 8 })).toBe(false);
});

test("a stricter limit in the request stays, and the user's wider limit is no error", () => {
  const asked: Hop = { operationConstraints: { all_of: { amount: { max: 5 } } } };
  const { hops, problems } = limits(OPERATIONS, "max", "50", asked);
  expect(problems).toEqual([]);
  expect(hops["0"]?.operationConstraints).toMatchObject({
    pay: { amount: { max: 50 } },
    all_of: { amount: { max: 5 } },
  });
});

test("a limit that leaves no call of an operation is an error at the argument's field", () => {
  const asked: Hop = { operationConstraints: { all_of: { amount: "a" } } };
  const { problems } = limits(OPERATIONS, "max", "50", asked);
  expect(problems).toHaveLength(1);
  expect(problems[0]?.field).toBe("g-0-0-max");
});
