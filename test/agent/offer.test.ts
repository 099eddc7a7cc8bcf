import { describe, expect, test } from "vitest";
import type { Json } from "../../src/bytes/json.js";
import { formatTime } from "../../src/caveats/time.js";
import { attenuate, inspect } from "../../src/index.js";
import {
  databaseWith,
  REPORTS_SQL,
  REPORTS as SQL_REPORTS,
  sqliteSource,
} from "../sources/support.js";
import { item, Shelf } from "./shelf.js";
import { ALICE, BOB, denialOf, granted, grantedOne, NOW, REPORTS, world } from "./support.js";

const HOUR = 3_600_000;

describe("an issued capability", () => {
  test("allows what grant, request and policy have in common", async () => {
    const { agent } = await world();
    const one = await grantedOne(agent, {
      grants: ["documents:read"],
      operations: ["retrieve", "browse", "update"],
      resourceQuery: { collection: "reports", filter: { quarter: "Q1" } },
      purpose: "look",
    });
    // The policy lacks "browse", the grant lacks "update", and the policy hides the report on the merger.
    expect(one.operations).toEqual(["retrieve"]);
    expect(one.resourceHandles?.map(({ displayName }) => displayName)).toEqual(["First quarter"]);
    const { capability, links } = inspect(one.token);
    expect(capability).toMatchObject({ grant: "documents:read", principal: "alice" });
    expect(links).toHaveLength(1);
    expect(links[0]).toMatchObject({
      hop: {
        operations: ["retrieve"],
        resourceHandles: one.resourceHandles?.map(({ handle }) => handle),
        purpose: "look",
        expires: one.expires,
      },
    });
  });

  test("is split into several capabilities if the policy allows different operations on different resources", async () => {
    const { agent } = await world();
    const both = await granted(agent, {
      grants: ["documents:read", "documents:write"],
      resourceQuery: { collection: "reports" },
    });
    const shown = both.map(({ grant, operations, resourceHandles = [] }) => [
      grant,
      operations.join(),
      resourceHandles.map(({ displayName, kind }) => `${kind} ${displayName}`).join(),
    ]);
    expect(shown).toEqual([
      ["documents:read", "retrieve,list", "item First quarter,item Second quarter"],
      ["documents:write", "update", "item First quarter"],
      ["documents:write", "create", "collection reports"],
    ]);
  });

  test('keeps the operation "a b" apart from the operations "a" and "b"', async () => {
    const named = (operation: string): object => ({
      id: operation.replaceAll(" ", "-"),
      name: operation,
      description: operation,
      operation,
      reach: "named",
      input: { type: "object" },
      run: async () => null,
    });
    const operations = ["a", "b", "a b"];
    const options = {
      skills: operations.map(named),
      grants: [{ id: "g", description: "g", operations }],
      rules: {
        rules: [
          {
            principal: "alice",
            grant: "g",
            operations: ["a", "b"],
            resources: { collections: "*", filter: { n: 1 } },
          },
          {
            principal: "alice",
            grant: "g",
            operations: ["a b"],
            resources: { collections: "*", filter: { n: 2 } },
          },
        ],
      },
      resources: new Shelf([item("c/1", { n: 1 }), item("c/2", { n: 2 })], ["n"]),
    };
    const { agent } = await world(options as object);
    const found = await granted(agent, { grants: ["g"], resourceQuery: { collection: "c" } });
    expect(found.map((one) => [one.operations, one.resourceHandles?.length])).toEqual([
      [["a", "b"], 1],
      [["a b"], 1],
    ]);
  });

  test("lives for 15 minutes, or as long as requested, up to the issuer's maximum", async () => {
    const { agent } = await world();
    const lifetimeOf = async (more: { readonly [name: string]: Json }): Promise<number> => {
      const { expires } = await grantedOne(agent, { grants: ["clock:read"], ...more });
      return (Date.parse(expires) - NOW) / 1000;
    };
    expect(await lifetimeOf({})).toBe(900);
    expect(await lifetimeOf({ expires: formatTime(NOW + 1000) })).toBe(1);
    expect(await lifetimeOf({ expires: formatTime(NOW + HOUR) })).toBe(3600);
    expect(await lifetimeOf({ expires: "2099-01-01T00:00:00Z" })).toBe(86_400);
  });

  test("cannot be narrowed if the grant or the request forbids it, and attenuable is then false", async () => {
    const { agent } = await world();
    const admin = await grantedOne(agent, { grants: ["documents:admin"] });
    const sealed = await grantedOne(agent, { grants: ["clock:read"], maxFurtherHops: 0 });
    const free = await grantedOne(agent, { grants: ["clock:read"], maxFurtherHops: 1 });
    expect([admin, sealed, free].map(({ attenuable }) => attenuable)).toEqual([false, false, true]);
    const children = [admin, sealed, free].map(({ token }) =>
      attenuate(token, { operations: ["tell"] }),
    );
    expect(children.map(({ ok }) => ok)).toEqual([false, false, true]);
  });
});

describe("a request for a capability that would never be valid", () => {
  test.each<[string, Json]>([
    ["expires", "2029-12-31T23:59:59Z"],
    ["expires", formatTime(NOW)],
    ["notBefore", formatTime(NOW + 900_000)],
    ["notBefore", "2099-01-01T00:00:00Z"],
  ])("is refused as invalid_request: %s %s", async (path, value) => {
    const { agent } = await world();
    const outcome = await agent.request(ALICE, { grants: ["clock:read"], [path]: value });
    expect(denialOf(outcome)).toMatchObject({ code: "invalid_request", path });
  });

  test("is refused if the requested expiry passes while resources are searched", async () => {
    const { again, folder, clock } = await world();
    const resources: typeof folder = Object.assign(Object.create(folder), {
      collections: () => folder.collections(),
      nameOfCollection: (name: string) => folder.nameOfCollection(name),
      get: (name: string) => folder.get(name),
      find: (query: Parameters<typeof folder.find>[0]) => {
        clock.now += 5000;
        return folder.find(query);
      },
    });
    const agent = await again({ resources });
    const soon = { ...Object(REPORTS), expires: formatTime(NOW + 2000) };
    expect(denialOf(await agent.request(ALICE, soon))).toMatchObject({
      code: "invalid_request",
      path: "expires",
    });
  });
});

describe("the answer to a request", () => {
  test.each<[string, object, object]>([
    [
      "grant",
      { operations: ["update"] },
      { code: "nothing_left", refused: [{ grant: "documents:read", takenBy: "grant" }] },
    ],
    [
      "policy",
      { operations: ["browse"] },
      { code: "nothing_left", refused: [{ grant: "documents:read", takenBy: "policy" }] },
    ],
  ])("names the %s as the cause of a refusal", async (_, more, expected) => {
    const { agent } = await world();
    expect(denialOf(await agent.request(ALICE, { ...Object(REPORTS), ...more }))).toMatchObject(
      expected,
    );
  });

  test("has a reason and no capabilities if the query matches nothing", async () => {
    const { agent } = await world();
    const outcome = await agent.request(ALICE, {
      grants: ["documents:read"],
      resourceQuery: { collection: "reports", filter: { quarter: "Q9" } },
    });
    const reason = "the query matches nothing that the principal may use in this way";
    expect(outcome).toEqual({
      ok: true,
      capabilities: [],
      reason,
      refused: [{ grant: "documents:read", takenBy: "request", message: reason }],
    });
  });

  test("reports a refused grant beside the capability of another grant", async () => {
    const { agent } = await world();
    const outcome = await agent.request(BOB, { grants: ["documents:admin", "clock:read"] });
    expect(outcome).toMatchObject({
      ok: true,
      refused: [{ grant: "documents:admin", takenBy: "policy" }],
      capabilities: [{ grant: "clock:read" }],
    });
  });

  test("lists unknown grants, and required grants that were not requested", async () => {
    const { agent } = await world();
    const unknown = denialOf(
      await agent.request(ALICE, { grants: ["documents:raed", "clock:read"] }),
    );
    expect(unknown).toMatchObject({ code: "unknown_grant", grants: ["documents:raed"] });
    const missing = denialOf(
      await agent.request(ALICE, { ...Object(REPORTS), grants: ["documents:write"] }),
    );
    expect(missing).toMatchObject({ code: "missing_required_grants", grants: ["documents:read"] });
  });

  test("is a refusal if the resource query is missing or names an unknown field", async () => {
    const { agent } = await world();
    const bare = { grants: ["documents:read"] };
    expect(denialOf(await agent.request(ALICE, bare))).toMatchObject({
      code: "resource_query_required",
      known: ["reports"],
      grants: ["documents:read"],
    });
    expect(
      denialOf(
        await agent.request(ALICE, {
          ...Object(REPORTS),
          resourceQuery: { collection: "reports", filter: { colour: 1 } },
        }),
      ),
    ).toMatchObject({ code: "unknown_field", path: "resourceQuery.filter.colour" });
  });
});

test("a grant is not issued if the policy refuses another grant that it requires", async () => {
  const { agent, policy } = await world();
  const grants = ["documents:read", "documents:write"];
  const both = { grants, resourceQuery: { collection: "reports" } };
  const rule = { principal: "alice", operations: "*", resources: { collections: "*" } } as const;
  policy.replace({ rules: [{ ...rule, grant: "documents:write" }] });
  const refused = await agent.request(ALICE, both);
  expect(refused).toMatchObject({ ok: false, denial: { code: "nothing_left" } });
  policy.replace({ rules: [{ ...rule, grant: "*" }] });
  // The request asks for no operation of documents:read, so documents:write is issued without it.
  const less = await agent.request(ALICE, { ...both, operations: ["update"] });
  expect(less).toMatchObject({ ok: true, capabilities: [{ grant: "documents:write" }] });
});

test("a query that matches no row gets a reason and no capability, even if the table has more rows than the limit", async () => {
  const { file } = databaseWith(REPORTS_SQL);
  // The table has more rows than the limit, so reading all rows would exceed it.
  const resources = await sqliteSource(file, { reports: SQL_REPORTS }, 2);
  const { agent } = await world({ resources });
  const query = (filter: Json): Json => ({
    grants: ["documents:read"],
    resourceQuery: { collection: "reports", filter },
  });
  const none = await agent.request(ALICE, query({ year: 1999 }));
  expect(none).toMatchObject({ ok: true, capabilities: [], reason: expect.any(String) });
  expect(denialOf(await agent.request(ALICE, query({ yaer: 1999 })))).toMatchObject({
    code: "unknown_field",
    known: ["department", "final", "year"],
  });
});
