import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clearance, Refusal } from "../../src/agent/clearance.js";
import type { GrantedCapability } from "../../src/agent/issuance.js";
import type { Json } from "../../src/bytes/json.js";
import type { HopInit } from "../../src/caveats/hop.js";
import { encodeHop } from "../../src/caveats/write-hop.js";
import { append } from "../capability/support.js";
import { sized } from "../support/size.js";
import { ALICE, granted, NOW, type World, world } from "./support.js";

// Properties of the whole agent, for calls of every skill. The tokens have hops that anybody can append to an
// issued token, without the checks of `attenuate`.

const SKILLS = ["retrieve", "compare", "list", "update", "create", "browse", "tell"];
const INVOKERS = ["assistant", "helper"];
const NOISE = `rh_${"A".repeat(22)}`;

/** Numbers that represent handles in generated hops and calls. */
const some = fc.uniqueArray(fc.nat({ max: 5 }), { minLength: 1, maxLength: 4 });
const seldom = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.oneof({ weight: 8, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary: value });
const hop = fc.record({
  operations: seldom(
    fc.subarray(["retrieve", "list", "update", "create", "browse", "tell"], { minLength: 1 }),
  ),
  resourceHandles: seldom(some),
  constraints: seldom(
    fc.constantFrom({ size: { max: 3 } }, { page: 1 }, { file: { not_in: ["x.md"] } }),
  ),
  expires: seldom(fc.integer({ min: -1, max: 3 }).map((seconds) => new Date(NOW + seconds * 1000))),
  invokers: seldom(fc.subarray(INVOKERS, { minLength: 1 })),
  audience: seldom(fc.constantFrom(["documents-agent"], ["other"])),
  maxFurtherHops: seldom(fc.nat({ max: 2 })),
  purpose: fc.constant("a hop is never empty"),
});
const call = fc.record({
  skill: fc.constantFrom(...SKILLS),
  handle: fc.oneof(
    { weight: 3, arbitrary: fc.nat({ max: 1 }) },
    { weight: 1, arbitrary: fc.nat({ max: 5 }) },
  ),
  more: fc.oneof(
    { weight: 3, arbitrary: fc.constant<number[]>([]) },
    { weight: 1, arbitrary: some },
  ),
  number: fc.integer({ min: 0, max: 4 }),
  invoker: fc.constantFrom(...INVOKERS),
});

type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;
type Drawn = typeof hop extends fc.Arbitrary<infer T> ? T : never;

/** Returns all issued handles, those of capability number `first` first. */
function handlesFrom(all: readonly GrantedCapability[], first: number): string[] {
  const order = [...all.slice(first), ...all.slice(0, first)];
  return order.flatMap(({ resourceHandles = [] }) => resourceHandles.map(({ handle }) => handle));
}

function hopOf({ resourceHandles, ...others }: Drawn, handles: readonly string[]): HopInit {
  const named = resourceHandles?.map((at) => handles[at] ?? NOISE);
  return Object.fromEntries(
    Object.entries({ ...others, resourceHandles: named }).filter(
      ([, value]) => value !== undefined,
    ),
  );
}

function argumentsOf(
  { skill, handle, more, number }: Call,
  handles: readonly string[],
): { readonly [name: string]: Json } {
  const named = handles[handle] ?? NOISE;
  const nested = more.map((at) => handles[at] ?? NOISE);
  if (skill === "retrieve") return { document: named, page: number };
  if (skill === "update") return { document: named, text: "x", size: number };
  if (skill === "create") return { in: named, file: number === 0 ? "x.md" : "y.md", text: "x" };
  if (skill === "compare") return { document: named, nested: [nested], page: number };
  return skill === "browse" ? {} : { nested, size: number, page: 1 };
}

/** Issues everything that Alice can get: four capabilities, one of which is not limited to resources. */
async function issuedTo({ agent }: World): Promise<readonly GrantedCapability[]> {
  const resourceQuery = { collection: "reports" };
  const grants = ["documents:read", "documents:write", "clock:read", "documents:admin"];
  const limited = await granted(agent, { grants, resourceQuery });
  return [...limited, ...(await granted(agent, { grants: ["documents:admin"] }))];
}

function clear(
  { agent }: World,
  token: string,
  asked: Call,
  handles: readonly string[],
): Promise<Clearance | Refusal> {
  const caller = { ...ALICE, invoker: asked.invoker };
  const given = argumentsOf(asked, handles);
  return agent.clear(caller, { skill: asked.skill, arguments: given, capabilities: [{ token }] });
}

describe("for random tokens and calls", () => {
  test("an appended hop never allows a call or a resource that the parent token does not allow", async () => {
    const parts = await world();
    const all = await issuedTo(parts);
    let allowed = 0;
    let attenuated = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.nat({ max: all.length - 1 }),
        fc.array(hop, { maxLength: 2 }),
        hop,
        fc.array(call, { minLength: 4, maxLength: 4 }),
        async (at, hops, last, calls) => {
          const handles = handlesFrom(all, at);
          const start = all[at]?.token ?? "";
          const parent = hops.reduce(
            (token, one) => append(token, encodeHop(hopOf(one, handles))),
            start,
          );
          const child = append(parent, encodeHop(hopOf(last, handles)));
          for (const asked of calls) {
            const [before, after] = [
              await clear(parts, parent, asked, handles),
              await clear(parts, child, asked, handles),
            ];
            if (before.allowed && !after.allowed) attenuated++;
            if (!after.allowed) continue;
            allowed++;
            if (!before.allowed) throw new Error("a hop turned a refusal into leave");
            expect(after.principal).toBe(before.principal);
            for (const [handle, resource] of after.resources) {
              expect(before.resources.get(handle)?.name).toBe(resource.name);
            }
          }
        },
      ),
      { numRuns: sized(600) },
    );
    expect(allowed).toBeGreaterThan(sized(30, 2));
    expect(attenuated).toBeGreaterThan(sized(30, 1));
  });

  test("a call is cleared only for an operation and handles that were issued together", async () => {
    const parts = await world();
    const all = await issuedTo(parts);
    let allowed = 0;
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: all.length - 1 }), call, async (at, asked) => {
        const one = all[at];
        if (one === undefined) return;
        const handles = handlesFrom(all, at);
        const answer = await clear(parts, one.token, asked, handles);
        if (!answer.allowed) return;
        allowed++;
        expect(one.operations).toContain(answer.asked.operation);
        if (one.resourceHandles === undefined) return;
        const own = one.resourceHandles.map(({ handle }) => handle);
        expect(own).toEqual(expect.arrayContaining([...answer.resources.keys()]));
        expect(own).toEqual(expect.arrayContaining([...answer.handles]));
      }),
      { numRuns: sized(1500) },
    );
    expect(allowed).toBeGreaterThan(sized(100, 5));
  });
});
