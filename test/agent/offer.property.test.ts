import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createIssuingAgent } from "../../src/agent/create-issuing-agent.js";
import { expandGrants } from "../../src/agent/grant.js";
import type { GrantedCapability } from "../../src/agent/issuance.js";
import type { IssuingAgent } from "../../src/agent/issuing-agent.js";
import { type PolicyRule, PolicyTable } from "../../src/agent/policy-table.js";
import type { Resource, ResourceFilter } from "../../src/agent/resources/resource.js";
import { ResourceHandles } from "../../src/agent/resources/resource-handles.js";
import type { Skill } from "../../src/agent/skill.js";
import type { Json } from "../../src/bytes/json.js";
import type { Scalar } from "../../src/caveats/scalar.js";
import { createIssuer } from "../../src/issuer/issuer.js";
import { sized } from "../support/size.js";
import { item, Shelf } from "./shelf.js";
import { ALICE, type World, world } from "./support.js";

// Issued capabilities are compared with an independent model of the specification: the list of all operations and
// resources that request, grant and policy have in common.

type Target = "item" | "collection" | "none";

const TARGETS: { readonly [operation: string]: Target } = {
  get: "item",
  put: "item",
  list: "item",
  add: "collection",
  tell: "none",
};
const OPERATIONS = Object.keys(TARGETS);
const VALUES: readonly Scalar[] = [1, 2, "1", true];
const ITEMS: readonly Resource[] = [
  item("c/1", { a: 1, b: 1 }),
  item("c/2", { a: 1, b: 2 }),
  item("c/3", { a: "1" }),
  item("d/1", { a: 1 }),
  item("d/2", { b: true }),
];
const EVERYTHING: readonly Resource[] = [...ITEMS, ...["c", "d"].map(collection)];

function collection(name: string): Resource {
  const shared = { displayName: name, collection: name, fields: {} };
  return { name: `${name}/`, kind: "collection", ...shared };
}

const SKILLS: readonly Skill[] = OPERATIONS.map((operation) => {
  const target = TARGETS[operation] ?? "none";
  const reach = operation === "list" ? "scoped" : target === "none" ? "none" : "named";
  const words = { id: `${operation}_it`, name: operation, description: operation, operation };
  const input = { type: "object" };
  return {
    ...words,
    reach,
    input,
    run: async () => null,
    ...(target === "none" ? {} : { target }),
  };
});

const operations = fc.subarray(OPERATIONS, { minLength: 1 });
const filter = fc.dictionary(fc.constantFrom("a", "b"), fc.constantFrom(...VALUES), { maxKeys: 2 });
const rule = fc.record(
  {
    principal: fc.constantFrom("alice", "alice", "alice", "bob"),
    grant: fc.constantFrom("read", "write", "all", "*"),
    operations: fc.oneof(operations, fc.constant("*" as const)),
    resources: fc.record(
      {
        collections: fc.oneof(fc.subarray(["c", "d", "e"]), fc.constant("*" as const)),
        filter,
      },
      { requiredKeys: ["collections"] },
    ),
  },
  { requiredKeys: ["principal", "grant", "operations"] },
);
const setting = fc.record({
  rules: fc.array(rule, { minLength: 1, maxLength: 4 }),
  read: operations,
  write: operations,
});
const request = fc.record(
  {
    grants: fc.subarray(["read", "write", "all"], { minLength: 1 }),
    operations,
    resourceQuery: fc.record(
      { collection: fc.constantFrom("c", "d", "e"), filter },
      { requiredKeys: ["collection"] },
    ),
  },
  { requiredKeys: ["grants"] },
);

interface Asked {
  readonly grants: readonly string[];
  readonly operations?: readonly string[];
  readonly resourceQuery?: Query;
}
interface Query {
  readonly collection: string;
  readonly filter?: { readonly [field: string]: Scalar };
}
type Rules = readonly PolicyRule[];

function meets(resource: Resource, conditions: ResourceFilter = {}): boolean {
  return Object.keys(conditions).every((field) => resource.fields[field] === conditions[field]);
}

/** Returns the policy rules that apply to Alice, the grant and the operation. */
function about(rules: Rules, grant: string, operation: string): Rules {
  return rules.filter(
    (one) =>
      one.principal === "alice" &&
      (one.grant === "*" || one.grant === grant) &&
      (one.operations === "*" || one.operations.includes(operation)),
  );
}

function allows({ resources }: PolicyRule, resource: Resource): boolean {
  const { collections, filter: conditions } = resources ?? { collections: "*" };
  if (collections !== "*" && !collections.includes(resource.collection)) return false;
  return conditions === undefined || (resource.kind === "item" && meets(resource, conditions));
}

/** Returns what must be issued, each as `grant operation resource`; the resource is `-` if there is none. */
function expected(asked: Asked, rules: Rules, grants: Map<string, readonly string[]>): string[] {
  const triples: string[] = [];
  for (const grant of asked.grants) {
    const open = (grants.get(grant) ?? []).filter(
      (operation) =>
        (asked.operations ?? OPERATIONS).includes(operation) &&
        about(rules, grant, operation).length > 0,
    );
    const needs = open.some((operation) => TARGETS[operation] !== "none");
    for (const operation of open) {
      const query = asked.resourceQuery;
      if (TARGETS[operation] === "none") triples.push(`${grant} ${operation} -`);
      else if (query === undefined && needs) triples.push(`${grant} ${operation} *`);
      for (const resource of query === undefined ? [] : EVERYTHING) {
        const wanted =
          resource.kind === TARGETS[operation] &&
          resource.collection === query?.collection &&
          (resource.kind === "collection" || meets(resource, query.filter));
        if (!wanted || !about(rules, grant, operation).some((one) => allows(one, resource)))
          continue;
        triples.push(`${grant} ${operation} ${resource.name}`);
      }
    }
  }
  return triples.sort();
}

/** Returns what was issued, in the same form, read from the tokens. */
async function issued(
  { issuer, resourceNumbers }: World,
  capabilities: readonly GrantedCapability[],
): Promise<string[]> {
  const handles = new ResourceHandles(issuer, resourceNumbers);
  const triples: string[] = [];
  for (const { token, grant } of capabilities) {
    const standing = issuer.standing(token, ALICE_HERE);
    if (!standing.allowed) throw new Error("a fresh capability does not stand");
    const { authority } = standing.capability;
    const sealed = authority.resourceHandles;
    const opened = await handles.open(standing.capability, sealed ?? []);
    const names = sealed?.map((handle) => opened.get(handle) ?? "noise");
    for (const operation of authority.operations ?? ["anything"]) {
      const alone = TARGETS[operation] === "none" ? "-" : "*";
      triples.push(...(names ?? [alone]).map((name) => `${grant} ${operation} ${name}`));
    }
  }
  return triples.sort();
}

const ALICE_HERE = { invoker: "assistant", audience: "documents-agent" };

interface Tried {
  readonly agent: IssuingAgent;
  readonly grants: Map<string, readonly string[]>;
}

async function agentOf(
  parts: World,
  { rules, read, write }: { rules: Rules; read: string[]; write: string[] },
): Promise<Tried> {
  const description = "For tests";
  const grants = [
    { id: "read", description, operations: read },
    { id: "write", description, operations: write, attenuable: false },
    { id: "all", description, operations: ["*"], legacy: true },
  ];
  const { keys, revocations, ledger, clock, resourceNumbers } = parts;
  const issuer = createIssuer({
    name: "documents-agent",
    keys: () => keys.ring,
    revocations,
    clock: () => clock.now,
    grants: expandGrants(grants, SKILLS),
  });
  const agent = await createIssuingAgent({
    issuer,
    revocations,
    ledger,
    skills: SKILLS,
    policy: new PolicyTable({ rules }),
    resources: new Shelf(ITEMS, ["a", "b"]),
    clock: () => clock.now,
    resourceNumbers,
  });
  return {
    agent,
    grants: new Map([
      ["read", read],
      ["write", write],
      ["all", OPERATIONS],
    ]),
  };
}

describe("for random grants, policies and requests", () => {
  test("an issued capability allows exactly what grant, request and policy all allow", async () => {
    const parts = await world();
    let given = 0;
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(setting, request, async (set, asked) => {
        const { agent, grants } = await agentOf(parts, set);
        const model = expected(asked, set.rules, grants);
        const params: Json = JSON.parse(JSON.stringify(asked));
        const outcome = await agent.request(ALICE, params);
        if (outcome.ok) {
          expect(await issued(parts, outcome.capabilities)).toEqual(model);
          if (model.length > 0) given++;
          return;
        }
        refused++;
        const { code, path } = outcome.denial;
        if (code === "resource_query_required") {
          // A capability without resource limits would be needed, which only a legacy grant allows.
          expect(model.some((one) => /^(read|write) .* \*$/.test(one))).toBe(true);
        } else if (code === "unknown_collection") {
          expect(path).toBe("resourceQuery.collection");
          expect(model.every((one) => one.endsWith(" -"))).toBe(true);
        } else if (code === "unknown_field") {
          // A field is known if a visible resource has it.
          expect(path).toMatch(/^resourceQuery\.filter/);
          expect(model.every((one) => one.endsWith(" -"))).toBe(true);
        } else {
          expect(code).toBe("nothing_left");
          expect(model).toEqual([]);
        }
      }),
      { numRuns: sized(400) },
    );
    expect(given).toBeGreaterThan(sized(40, 1));
    expect(refused).toBeGreaterThan(sized(40, 1));
  });
});
