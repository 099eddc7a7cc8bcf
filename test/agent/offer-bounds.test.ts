import { describe, expect, test } from "vitest";
import type { ResourceNumbers } from "../../src/agent/resources/resource-numbers.js";
import type { Json } from "../../src/bytes/json.js";
import { item, Shelf } from "./shelf.js";
import {
  ALICE,
  call,
  codes,
  denialOf,
  granted,
  grantedOne,
  REPORTS,
  result,
  world,
} from "./support.js";

describe("in a request for capabilities", () => {
  async function answers(hidden: Json, missing: Json): Promise<[string, string]> {
    const { agent } = await world();
    const of = async (resourceQuery: Json): Promise<string> =>
      JSON.stringify(await agent.request(ALICE, { grants: ["documents:read"], resourceQuery }));
    return [await of(hidden), await of(missing)];
  }

  test("a hidden item is answered exactly like an item that does not exist", async () => {
    const filter = (title: string): Json => ({ collection: "reports", filter: { title } });
    const [hidden, missing] = await answers(filter("Merger"), filter("Nothing"));
    expect(hidden).toBe(missing);
  });

  test("a hidden collection is answered exactly like a collection that does not exist, and is not listed as known", async () => {
    const [hidden, missing] = await answers({ collection: "vault" }, { collection: "xyzzy" });
    expect(hidden.replaceAll("vault", "xyzzy")).toBe(missing);
    expect(missing).toContain('"known":["reports"]');
  });

  test("hidden resources count neither against maxHandles nor in the message of too_many_resources", async () => {
    const open = Array.from({ length: 4 }, (_, at) =>
      item(`reports/${at}`, { confidential: false }),
    );
    const secret = Array.from({ length: 300 }, (_, at) =>
      item(`reports/s${at}`, { confidential: true }),
    );
    const resources = new Shelf([...secret, ...open], ["confidential"]);
    const { again } = await world({ resources });
    expect(
      (await grantedOne(await again({ maxHandles: 4 }), REPORTS)).resourceHandles,
    ).toHaveLength(4);
    const over = denialOf(await (await again({ maxHandles: 3 })).request(ALICE, REPORTS));
    expect(over).toEqual({
      code: "too_many_resources",
      path: "resourceQuery.filter",
      grants: ["documents:read"],
      message: "the query matches 4 resources, and a capability names at most 3; narrow the filter",
    });
  });
});

/** A store that has run out of numbers. */
const FULL: ResourceNumbers = {
  numbersOf: async () => {
    throw new Error("the disk is full");
  },
  namesOf: async () => new Map(),
};

describe("a capability for many resources", () => {
  const shelf = (count: number): Shelf =>
    new Shelf(
      Array.from({ length: count }, (_, at) => item(`reports/${at}`, { confidential: false })),
      ["confidential"],
    );

  test("may name 256 resources, and each handle opens its own resource", async () => {
    const { agent } = await world({ resources: shelf(256) });
    const one = await grantedOne(agent, REPORTS);
    expect(one.resourceHandles).toHaveLength(256);
    expect(result(await call(agent, "list", {}, [one]))).toHaveLength(256);
    for (const { handle, displayName } of one.resourceHandles?.slice(0, 20) ?? []) {
      expect(result(await call(agent, "compare", { handle }, [one]))).toEqual([displayName]);
    }
  });

  test("is refused above 256 resources, before any resource gets a number", async () => {
    const { agent } = await world({ resources: shelf(257), resourceNumbers: FULL });
    const { code, message } = denialOf(await agent.request(ALICE, REPORTS));
    expect(code).toBe("too_many_resources");
    expect(message).toMatch(/^the query matches 257 resources, and a capability names at most 256/);
  });

  test("is not issued if a resource's number cannot be stored", async () => {
    const { agent, ledger } = await world({ resources: shelf(2), resourceNumbers: FULL });
    await expect(agent.request(ALICE, REPORTS)).rejects.toThrow("the disk is full");
    expect(await ledger.list()).toEqual([]);
  });

  test("is refused if its hop would be too large, and the message has the size in bytes", async () => {
    const { agent, ledger } = await world({ resources: shelf(256) });
    const invokers = Array.from({ length: 20 }, (_, at) => `${at}${"x".repeat(60)}`).sort();
    const request = { ...Object(REPORTS), constraints: { size: { max: 7 } }, invokers };
    const { code, message } = denialOf(await agent.request(ALICE, request));
    expect(code).toBe("too_many_resources");
    expect(message).toMatch(
      /^the capability would take \d{4,5} bytes for its 256 handles .* 8192 is the limit/,
    );
    expect((await ledger.list()).map(({ decision }) => decision)).toEqual(["refused"]);
  });
});

describe("a legacy grant", () => {
  test("gives, without a query, a capability that is marked as legacy and limited only by the policy", async () => {
    const { agent, ran } = await world();
    const one = await grantedOne(agent, { grants: ["documents:admin"] });
    expect(one.resourceHandles).toBeUndefined();
    expect(one.legacy).toContain("knows no capabilities");
    const outcome = await call(agent, "list", {}, [{ token: one.token }]);
    expect(outcome).toMatchObject({
      ok: true,
      authority: "legacy",
      result: ["reports/q1.md", "reports/q2.md"],
    });
    expect(ran).toEqual(["list"]);
  });

  test.each<[string, Json]>([
    ["nothing", { quarter: "Q9" }],
    ["only hidden resources", { title: "Merger" }],
  ])("gives no operation on resources if the query matches %s", async (_, filter) => {
    const { agent, ran } = await world();
    const found = await granted(agent, {
      grants: ["documents:admin"],
      resourceQuery: { collection: "reports", filter },
    });
    expect(found.flatMap(({ operations }) => operations)).toEqual(["tell"]);
    const [one] = found;
    for (const skill of ["list", "browse", "retrieve", "compare"]) {
      expect(codes(await call(agent, skill, {}, [{ token: one?.token ?? "" }]))).toContain(
        "operation_denied",
      );
    }
    expect(ran).toEqual([]);
  });

  test("gives only the resources that the query matches", async () => {
    const { agent } = await world();
    const found = await granted(agent, {
      grants: ["documents:admin"],
      resourceQuery: { collection: "reports", filter: { quarter: "Q1" } },
    });
    const items = found.filter(({ operations }) => operations.includes("retrieve"));
    expect(
      items.flatMap(({ resourceHandles = [] }) =>
        resourceHandles.map(({ displayName }) => displayName),
      ),
    ).toEqual(["First quarter"]);
    const outcome = await call(agent, "list", {}, [{ token: items[0]?.token ?? "" }]);
    expect(outcome).toMatchObject({ ok: true, result: ["reports/q1.md"] });
  });

  test("gives only operations that need no resource if the query matches nothing and collections have no names", async () => {
    const resources = new Shelf([item("reports/1", { confidential: false })], ["confidential"]);
    const nameless = Object.assign(resources, { nameOfCollection: async () => undefined });
    const { agent } = await world({ resources: nameless });
    const filter = { confidential: true };
    const query = { grants: ["documents:admin"], resourceQuery: { collection: "reports", filter } };
    expect((await granted(agent, query)).flatMap(({ operations }) => operations)).toEqual(["tell"]);
  });
});
