import { describe, expect, test } from "vitest";
import type { Json } from "../../src/bytes/json.js";
import { inspect } from "../../src/index.js";
import { ALICE, codes, denialOf, granted, grantedOne, handleOf, world } from "./support.js";

const BOTH = {
  grants: ["documents:read", "documents:write"],
  resourceQuery: { collection: "reports" },
};

describe("a request that limits the arguments of single operations", () => {
  test("gives each capability the limits of its own operations and the limits under *", async () => {
    const { agent } = await world();
    const made = await granted(agent, {
      ...BOTH,
      operationConstraints: {
        "*": { reason: { prefix: "audit", optional: true } },
        retrieve: { format: "text" },
        update: { text: { in: ["a", "b"] } },
      },
      arguments: { create: ["title"] },
    });
    const hops = made.map(({ token }) => inspect(token).links[0]?.hop);
    const every = { reason: { optional: true, prefix: "audit" } };
    expect(hops.map((hop) => [hop?.operations, hop?.operationConstraints, hop?.arguments])).toEqual(
      [
        [["list", "retrieve"], { "*": every, retrieve: { format: "text" } }, undefined],
        [["update"], { "*": every, update: { text: { in: ["a", "b"] } } }, undefined],
        [["create"], { "*": every }, { create: ["title"] }],
      ],
    );
  });

  test("has its limits enforced at each call, for each operation separately", async () => {
    const { agent } = await world();
    const one = await grantedOne(agent, {
      grants: ["documents:read"],
      operationConstraints: { retrieve: { page: { max: 3 } } },
      arguments: { list: [] },
      resourceQuery: { collection: "reports" },
    });
    const document = handleOf(one, "First quarter");
    const call = async (skill: string, given: object): Promise<readonly string[]> => {
      const invocation = { skill, arguments: { ...given }, capabilities: [{ token: one.token }] };
      return codes(await agent.invoke(ALICE, invocation));
    };
    expect(await call("retrieve", { document, page: 3 })).toEqual(["allowed"]);
    expect(await call("retrieve", { document, page: 4 })).toEqual(["constraint_violated"]);
    expect(await call("retrieve", { document })).toEqual(["constraint_violated"]);
    expect(await call("list", {})).toEqual(["allowed"]);
    expect(await call("list", { page: 1 })).toEqual(["constraint_violated"]);
  });

  test("yields a capability whose denials have a remedy only if the call with the remedy would be allowed", async () => {
    const { agent, ran } = await world();
    const refusedBy = async (page: Json, given: number): Promise<unknown> => {
      const one = await grantedOne(agent, {
        grants: ["documents:read"],
        operationConstraints: { retrieve: { page } },
        resourceQuery: { collection: "reports" },
      });
      const document = handleOf(one, "First quarter");
      const invocation = {
        skill: "retrieve",
        arguments: { document, page: given },
        capabilities: [{ token: one.token }],
      };
      const outcome = await agent.invoke(ALICE, invocation);
      return outcome.ok ? "allowed" : outcome.denials.map(({ remedy }) => remedy);
    };
    expect(await refusedBy({ max: 3 }, 4)).toEqual([
      { kind: "set_argument", pointer: "/page", value: 3 },
    ]);
    // The schema accepts only a whole number.
    expect(await refusedBy({ max: 2.5 }, 4)).toEqual([undefined]);
    expect(await refusedBy("first", 4)).toEqual([undefined]);
    expect(await refusedBy({ max: 3 }, 3.5)).toEqual([undefined, undefined]);
    expect(ran).toEqual([]);
  });

  test.each([
    [{ operationConstraints: { retrive: { format: "text" } } }, "operationConstraints.retrive"],
    [{ arguments: { retrive: ["handle"] } }, "arguments.retrive"],
    // The token has the operation, but the request does not ask for it.
    [{ operations: ["list"], arguments: { retrieve: [] } }, "arguments.retrieve"],
    [
      { operationConstraints: { retrieve: { p: { path: "/a", prefix: "/a" } } } },
      "operationConstraints.retrieve.p.prefix",
    ],
  ])("is refused for the mistake %j", async (limits, path) => {
    const { agent } = await world();
    const asked = { grants: ["documents:read"], resourceQuery: { collection: "reports" } };
    const denial = denialOf(await agent.request(ALICE, { ...asked, ...limits }));
    expect(denial).toMatchObject({ code: "invalid_request", path });
  });
});
