import { describe, expect, test } from "vitest";
import { createPolicyTable, type Policy } from "../../src/agent/index.js";
import type { PolicyDefinition, PolicyRule } from "../../src/agent/policy-table.js";
import type { Json } from "../../src/bytes/json.js";
import { inspect } from "../../src/index.js";
import {
  ALICE,
  codes,
  denialOf,
  granted,
  grantedOne,
  handleOf,
  type WorldOptions,
  world,
} from "./support.js";

const READ: PolicyRule = {
  principal: "alice",
  grant: "documents:read",
  operations: ["retrieve"],
};
const ASK = { grants: ["documents:read"], resourceQuery: { collection: "reports" } };

const rulesOf = (...rules: readonly PolicyRule[]): PolicyDefinition => ({ rules });

/** Returns the hops of a token. */
function hopsOf(token: string): readonly unknown[] {
  return inspect(token).links.map(({ hop }) => hop);
}

async function reading(options: WorldOptions) {
  const given = await world(options);
  const retrieve = async (
    token: string,
    document: string,
    page: Json,
  ): Promise<readonly string[]> =>
    codes(
      await given.agent.invoke(ALICE, {
        skill: "retrieve",
        arguments: { document, page },
        capabilities: [{ token }],
      }),
    );
  return { ...given, retrieve };
}

describe("limits on arguments in a policy", () => {
  test("are appended to an issued capability, after the limits of the request", async () => {
    const limits = {
      constraints: { page: { max: 3 } },
      operationConstraints: {
        "*": { why: { absent: true as const } },
        retrieve: { page: { not_in: [2] } },
      },
      arguments: { retrieve: ["page", "document"] },
    };
    const { agent, retrieve } = await reading({ rules: rulesOf({ ...READ, ...limits }) });
    const request = { ...ASK, operationConstraints: { retrieve: { page: { min: 1 } } } };
    const made = await grantedOne(agent, request);
    expect(made.attenuable).toBe(true);
    const [own, policy, ...others] = hopsOf(made.token);
    expect(own).toMatchObject({ operationConstraints: { retrieve: { page: { min: 1 } } } });
    expect(policy).toEqual({ ...limits, arguments: { retrieve: ["document", "page"] } });
    expect(others).toEqual([]);
    const document = handleOf(made, "First quarter");
    expect(await retrieve(made.token, document, 3)).toEqual(["allowed"]);
    expect(await retrieve(made.token, document, 2)).toEqual(["constraint_violated"]);
    expect(await retrieve(made.token, document, 4)).toEqual(["constraint_violated"]);
  });

  test("leave a sealed grant sealed", async () => {
    const { agent } = await world({
      rules: rulesOf({
        ...READ,
        grant: "clock:read",
        operations: "*",
        operationConstraints: { tell: { zone: "UTC" } },
      }),
    });
    const { token } = await grantedOne(agent, { grants: ["clock:read"], maxFurtherHops: 0 });
    expect(inspect(token).authority.furtherHops).toBe(0);
    expect(hopsOf(token).at(-1)).toEqual({ operationConstraints: { tell: { zone: "UTC" } } });
  });

  test("of several rules lead to separate capabilities, so that none allows more than one rule", async () => {
    const { agent } = await world({
      rules: rulesOf(
        { ...READ, operationConstraints: { retrieve: { page: 1 } } },
        { ...READ, operationConstraints: { retrieve: { page: 9 } } },
        { ...READ, operations: ["list"] },
      ),
    });
    const made = await granted(agent, ASK);
    const pages = made.map(({ token }) => {
      const { operations, operationConstraints } = inspect(token).authority;
      return [operations, operationConstraints?.["retrieve"]?.["page"]?.in];
    });
    expect(pages).toEqual(
      expect.arrayContaining([
        [["retrieve"], [1]],
        [["retrieve"], [9]],
        [["list"], undefined],
      ]),
    );
    expect(made).toHaveLength(3);
  });

  test("do not hold for an operation that another rule permits without limits", async () => {
    const { agent } = await world({
      rules: rulesOf({ ...READ, operationConstraints: { retrieve: { page: 1 } } }, READ),
    });
    const made = await granted(agent, ASK);
    const limits = made.map(({ token }) => inspect(token).authority.operationConstraints);
    expect(limits.every((one) => one === undefined)).toBe(true);
  });

  test("that contradict those of the request leave nothing to issue", async () => {
    const { agent } = await world({
      rules: rulesOf({ ...READ, operationConstraints: { "*": { page: { max: 3 } } } }),
    });
    const request = { ...ASK, operationConstraints: { "*": { page: { min: 4 } } } };
    expect(denialOf(await agent.request(ALICE, request))).toMatchObject({
      code: "nothing_left",
      refused: [{ grant: "documents:read", takenBy: "policy" }],
    });
  });

  test("are checked again at each call, with the policy in force", async () => {
    const { agent, policy, retrieve } = await reading({ rules: rulesOf(READ) });
    const made = await grantedOne(agent, ASK);
    const document = handleOf(made, "First quarter");
    expect(await retrieve(made.token, document, 4)).toEqual(["allowed"]);
    policy.replace(rulesOf({ ...READ, operationConstraints: { retrieve: { page: { max: 3 } } } }));
    expect(await retrieve(made.token, document, 3)).toEqual(["allowed"]);
    const outcome = await agent.invoke(ALICE, {
      skill: "retrieve",
      arguments: { document, page: 4 },
      capabilities: [{ token: made.token }],
    });
    expect(outcome).toEqual({
      ok: false,
      denials: [
        {
          code: "policy_denied",
          rule: "operationConstraints.retrieve.page.max",
          expected: 3,
          actual: 4,
          nearest: 3,
          message: 'by the policy, argument "page" must be a number of at most 3; it is 4',
        },
      ],
    });
  });

  test("are checked for calls without a capability", async () => {
    const { agent } = await world({
      mode: "prefer",
      rules: rulesOf({
        ...READ,
        grant: "clock:read",
        operations: "*",
        operationConstraints: { tell: { zone: { in: ["UTC"] } } },
      }),
    });
    const call = { skill: "tell", capabilities: [] };
    expect(codes(await agent.invoke(ALICE, { ...call, arguments: {} }))).toEqual(["policy_denied"]);
    const named = await agent.invoke(ALICE, { ...call, arguments: { zone: "CET" } });
    expect(codes(named)[0]).toEqual("policy_denied");
    const utc = await agent.invoke(ALICE, { ...call, arguments: { zone: "UTC" } });
    expect(codes(utc)).toEqual(["allowed"]);
  });

  test("may come from a policy in code, and are refused as a fault if they are malformed", async () => {
    const permission = { operations: "*", resources: { collections: "*" } } as const;
    const policyOf = (limits: object): Policy => ({
      permissions: () => [{ ...permission, ...limits }],
    });
    const own = await world();
    const limited = await own.again({
      policy: policyOf({ operationConstraints: { tell: { zone: "UTC" } } }),
    });
    const { token } = await grantedOne(limited, { grants: ["clock:read"] });
    expect(inspect(token).authority.operationConstraints).toMatchObject({
      tell: { zone: { in: ["UTC"] } },
    });
    class Row {
      readonly #row = { ...permission, operationConstraints: { tell: { zone: "CET" } } };
      get operations() {
        return this.#row.operations;
      }
      get resources() {
        return this.#row.resources;
      }
      get operationConstraints() {
        return this.#row.operationConstraints;
      }
    }
    const ofRows = await own.again({ policy: { permissions: () => [new Row()] } });
    const outcome = await ofRows.invoke(ALICE, {
      skill: "tell",
      arguments: { zone: "UTC" },
      capabilities: [{ token }],
    });
    expect(codes(outcome)).toEqual(["policy_denied"]);
    const broken = await own.again({ policy: policyOf({ operationConstraints: { tell: {} } }) });
    await expect(broken.request(ALICE, { grants: ["clock:read"] })).rejects.toThrow(
      'a permission of the policy: "operationConstraints.tell" must be an object',
    );
  });
});

describe("a policy table refuses limits", () => {
  const tableWith = (limits: object) => () =>
    createPolicyTable({ rules: [READ, { ...READ, ...limits }] });
  test.each<[string, object, string]>([
    [
      "with an unknown operator",
      { operationConstraints: { retrieve: { page: { maxx: 3 } } } },
      'policy.rules[1]: unknown operator "maxx" in "operationConstraints.retrieve.page"; did you mean "max"?',
    ],
    [
      "for an operation that the rule does not have",
      { operationConstraints: { retreive: { page: 1 } } },
      'policy.rules[1]: "operationConstraints.retreive": the rule does not have the operation "retreive"; did you mean "retrieve"?',
    ],
    [
      "of the wrong type",
      { arguments: { retrieve: "page" } },
      'policy.rules[1]: "arguments.retrieve" must be an array of names of arguments',
    ],
    [
      "whose prefix is the beginning of a path",
      { operationConstraints: { "*": { path: { prefix: "/data" } } } },
      'policy.rules[1]: "operationConstraints.*.path": the "prefix" "/data"',
    ],
    [
      "that no call satisfies",
      { constraints: { page: { min: 3, max: 1 } } },
      'policy.rules[1]: "constraints.page" allows no call',
    ],
    [
      "above 2,048 bytes",
      { operationConstraints: { retrieve: { page: { in: ["a".repeat(2100)] } } } },
      "policy.rules[1]: the limits take 2158 bytes, and 2048 is the limit",
    ],
  ])("%s", (_, limits, message) => {
    expect(tableWith(limits)).toThrow(message);
  });
});
