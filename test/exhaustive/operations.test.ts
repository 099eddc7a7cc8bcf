import { expect, test } from "vitest";
import { allowsArgument } from "../../src/caveats/argument-domain.js";
import type { ArgumentConstraint, Hop } from "../../src/caveats/hop.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { emptyRules, meetOf } from "../../src/caveats/meet.js";
import { authorityOver, leftOfArgument } from "../../src/caveats/operation-authority.js";
import { asked } from "../caveats/support.js";
import { sized } from "../support/size.js";
import { allowsValue } from "./model.js";
import { subsets } from "./universe.js";

// Every pair of limits of one operation on one argument: in the operation's own entry, in the entry `*`, or beside a
// closed list. A quick run pairs each limit with one limit in eight. The judge is compared with a second
// implementation of section 5.1, and the meet with the judge.

const OPERANDS = { max: 2, in: ["a", "a/b", 1], not_in: ["a"], path: "a", prefix: "a/" } as const;
const ELEMENTS = subsets(Object.entries(OPERANDS))
  .filter((some) => some.length > 0 && some.length < 3)
  .map((some): ArgumentConstraint => Object.fromEntries(some));

const LIMITS: readonly ArgumentConstraint[] = [
  "a",
  "a/b",
  1,
  null,
  { absent: true },
  ...ELEMENTS,
  ...ELEMENTS.map((one) => Object.assign({ optional: true as const }, one)),
  { each: { path: "a" } },
  { each: { max: 2 }, items: { min: 1 } },
];

const MISSING = Symbol("missing");
const PROBES: readonly unknown[] = [
  MISSING,
  "a",
  "a/b",
  "a/c",
  "ab",
  "b",
  "a/../b",
  "",
  1,
  2,
  3,
  null,
  true,
  [],
  ["a"],
  ["b"],
  [1],
  [3],
  {},
];

/** Judges a value by a limit, by section 5.1, "Judging". */
function meets(limit: ArgumentConstraint, value: unknown): boolean {
  if (limit === null || typeof limit !== "object") return value === limit;
  const { optional, absent, each, items, path, prefix, ...scalars } = limit;
  if (value === MISSING) return optional === true || absent === true;
  if (absent === true) return false;
  if (each !== undefined && !(Array.isArray(value) && value.every((one) => meets(each, one))))
    return false;
  const { min = 0, max = 256 } = items ?? {};
  if (items && !(Array.isArray(value) && value.length >= min && value.length <= max)) return false;
  const isText = typeof value === "string";
  if (path !== undefined && !(isText && (value === path || /^a\/[a-c]$/.test(value)))) return false;
  if (prefix !== undefined && !(isText && value.startsWith(prefix))) return false;
  return Object.keys(scalars).length === 0 || allowsValue(scalars, value);
}

const CLOSED: readonly Hop[] = [{}, { arguments: { get: [] } }, { arguments: { "*": ["x"] } }];
const HOPS = ["get", "*"].flatMap((operation) =>
  LIMITS.map((limit) => ({ limit, hop: { operationConstraints: { [operation]: { x: limit } } } })),
);

const SECONDS = HOPS.filter((_, at) => at % sized(1, 19) === 0);

test("judgeHop and the meet allow an argument exactly if it meets every limit for its operation and for *, and no argument if emptyRules reports the chain", () => {
  const wrong: string[] = [];
  let cases = 0;
  for (const first of HOPS) {
    for (const second of SECONDS) {
      for (const list of CLOSED) {
        const hops = [first.hop, second.hop, list].filter((hop) => Object.keys(hop).length > 0);
        const authority = meetOf([[{ operations: ["get"] }, ...hops]]);
        const left = leftOfArgument(authorityOver("get", authority), "x");
        const isClosed = list.arguments?.["get"] !== undefined;
        const allowed = PROBES.map((value) => {
          cases++;
          const given = value === MISSING ? {} : { x: value };
          const call = asked({ operation: "get", arguments: given });
          const judged = hops.every((hop) => judgeHop(hop, call, 0).length === 0);
          const said = value === MISSING ? left.missing : allowsArgument(left, value);
          const model =
            meets(first.limit, value) &&
            meets(second.limit, value) &&
            !(isClosed && value !== MISSING);
          if (judged !== model || said !== model) {
            wrong.push(JSON.stringify([hops, value === MISSING ? "missing" : value, judged, said]));
          }
          return model;
        });
        const isDead = emptyRules(authority).length > 0;
        if (isDead && allowed.includes(true)) wrong.push(`dead: ${JSON.stringify(hops)}`);
      }
    }
  }
  console.log(
    `limits of an operation: ${HOPS.length * SECONDS.length * CLOSED.length} chains, ${cases} cases`,
  );
  expect(wrong.slice(0, 5)).toEqual([]);
  expect(cases).toBe(HOPS.length * SECONDS.length * CLOSED.length * PROBES.length);
}, 300_000);
