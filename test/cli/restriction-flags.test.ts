import { describe, expect, test } from "vitest";
import { authorityRows, hopRows } from "../../cli/token-words.js";
import type { Flag } from "../../src/caveats/hop-rule.js";
import { HOP_KEYS, HOP_RULES, type HopKey, REQUESTED_KEYS } from "../../src/caveats/hop-rules.js";
import { meetOf } from "../../src/caveats/meet.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { diff, inspect } from "../../src/index.js";
import { Bench } from "./run.js";

const bench = new Bench();

/** Returns the flags that the help of a verb lists. */
async function flags(verb: string): Promise<string[]> {
  const text = await bench.output(verb, "--help");
  return [...text.matchAll(/^ {2}(--[a-z-]+(?: <[^>]+>)?)(?= |$)/gm)].map(([, form = ""]) => form);
}

const formsOf = (keys: readonly HopKey[]): Flag["form"][] =>
  keys.flatMap((key) => HOP_RULES[key].flag?.form ?? []);

/** For each key of a hop, values for its flag, and the resulting value in the hop. */
const GIVEN: Readonly<Record<string, readonly [values: readonly string[], hop: unknown]>> = {
  operations: [
    ["list", "get"],
    ["get", "list"],
  ],
  resourceHandles: [
    ["rh_2", "rh_1"],
    ["rh_1", "rh_2"],
  ],
  constraints: [["n<=5", "to=a"], { n: { max: 5 }, to: "a" }],
  arguments: [["n,to", "get:n"], { "*": ["n", "to"], get: ["n"] }],
  expires: [["5m"], expect.stringMatching(/^\d{4}-.*Z$/)],
  notBefore: [["2020-01-01T00:00:00Z"], "2020-01-01T00:00:00Z"],
  audience: [
    ["files", "mail"],
    ["files", "mail"],
  ],
  invokers: [
    ["a", "b"],
    ["a", "b"],
  ],
  maxFurtherHops: [["2"], 2],
  purpose: [["why"], "why"],
};

describe("the restriction flags of HOP_RULES", () => {
  test("are in the help of mint and attenuate in the order of HOP_KEYS; the help of request has the flags of REQUESTED_KEYS", async () => {
    const [mint, attenuate, request] = await Promise.all(
      ["mint", "attenuate", "request"].map(flags),
    );
    const all = formsOf(HOP_KEYS);
    expect(all).toHaveLength(10);
    expect(mint?.filter((form) => all.some((one) => one === form))).toEqual(all);
    expect(attenuate?.filter((form) => all.some((one) => one === form))).toEqual(all);
    const requested = formsOf(REQUESTED_KEYS);
    expect(requested).not.toContain("--resource <handle>");
    expect(request?.filter((form) => all.some((one) => one === form))).toEqual(requested);
  });

  test("each write their own key of the hop, and may be repeated if they take lists or limits", async () => {
    await bench.init();
    const keys = HOP_KEYS.filter((key) => HOP_RULES[key].flag !== undefined);
    expect(keys).toEqual(Object.keys(GIVEN));
    const args = keys.flatMap((key) => {
      const [flag = ""] = HOP_RULES[key].flag?.form.split(" ") ?? [];
      return (GIVEN[key]?.[0] ?? []).flatMap((value) => [flag, value]);
    });
    const { status, token, hop } = await bench.json("mint", "--grant", "g", ...args);
    expect(status).toBe(0);
    const expected = Object.fromEntries(keys.map((key) => [key, GIVEN[key]?.[1]]));
    expect(hop).toEqual(expected);
    const child = await bench.json("attenuate", token, ...args.slice(0, 4));
    expect(child["hop"]).toMatchObject({ operations: ["get", "list"] });
  });

  test.each(["--expires", "--not-before", "--max-further-hops", "--purpose"])(
    "that take a single value are refused if given twice: %s",
    async (flag) => {
      const args = ["attenuate", "x", flag, "1", flag, "2"];
      const { status, stderr } = await bench.run(args);
      expect(status).toBe(2);
      expect(stderr).toContain(`proviso: ${flag} is given twice\n`);
    },
  );
});

describe("the rows that describe restrictions are in the order of HOP_KEYS", () => {
  const NOW = Date.parse("2030-01-31T12:00:00Z");
  const hop = normalizeHop({
    nonce: "AAAAAAAAAAAAAAAA",
    purpose: "why",
    maxFurtherHops: 3,
    invokers: ["a"],
    audience: ["files"],
    notBefore: "2030-01-31T11:00:00Z",
    expires: "2030-01-31T13:00:00Z",
    constraints: { n: { max: 5 }, a: 1 },
    resourceHandles: ["rh_1"],
    operations: ["list"],
  });
  const labels = (rows: readonly (readonly [string, string])[]): string[] =>
    rows.map(([label]) => label);
  const judged = ["expires", "not before", "audience", "invokers", "further hops"];

  test("for one hop", () => {
    expect(labels(hopRows(hop, NOW))).toEqual([
      "operations",
      "resources",
      "argument",
      "argument",
      ...judged,
      "purpose",
      "nonce",
    ]);
  });

  test('for all hops together; without operations, the first row is "any of its grant"', () => {
    const rows = authorityRows(meetOf([[hop]]), NOW);
    expect(labels(rows)).toEqual(["operations", "resources", "argument", "argument", ...judged]);
    const { operations, ...others } = hop;
    expect(authorityRows(meetOf([[others]]), NOW)).toEqual([
      ["operations", "any of its grant"],
      ...rows.slice(1),
    ]);
    expect(authorityRows(meetOf([[{ operations: [] }]]), NOW)).toEqual([["operations", "nothing"]]);
  });

  test("in the output of diff, which names the hop keys", async () => {
    const token = await bench.output("mint", "--grant", "g", "--any-op", "--expires", "1h");
    const child = await bench.output(
      ...["attenuate", token, "--max-further-hops", "2", "--expires", "5m", "--invoker", "a"],
      ...["--op", "list"],
    );
    const { changes } = await bench.json("diff", token, child);
    expect(changes.map(({ rule }: { rule: string }) => rule)).toEqual([
      "operations",
      "expires",
      "invokers",
      "maxFurtherHops",
    ]);
    expect(changes[3]).toEqual({
      rule: "maxFurtherHops",
      after: 2,
      message: "maxFurtherHops: no limit, now 2",
    });
    expect(await bench.output("diff", token, child)).toContain(
      "\n  maxFurtherHops: no limit, now 2",
    );
    const sealed = await bench.output("attenuate", child, "--max-further-hops", "0");
    const further = await bench.json("diff", child, sealed);
    expect(further["changes"]).toMatchObject([{ rule: "maxFurtherHops", before: 2, after: 0 }]);
    const library = diff(child, sealed);
    expect(library.derived && library.changes).toEqual(further["changes"]);
    expect(inspect(sealed).authority.furtherHops).toBe(0);
  });
});
