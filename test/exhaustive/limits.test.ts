import { expect, test } from "vitest";
import { intersectHop, overreaches } from "../../src/caveats/attenuation.js";
import { domainOf, limitFrom } from "../../src/caveats/domain.js";
import type { Constraint, Hop, Operators } from "../../src/caveats/hop.js";
import { meetOf } from "../../src/caveats/meet.js";
import { sized } from "../support/size.js";
import { allowsValue, leftOf, limitAttenuates } from "./model.js";
import { subsets } from "./universe.js";
import { isIn } from "./verdicts.js";

// These tests use one argument, and every limit on it that names two numbers and a string: all lists, exclusions and
// bounds, in every combination. They pair each limit with every other limit; in a quick run, with one limit in 16.

const NAMED = ["a", 1, 2];
const LISTS = [undefined, ...subsets(NAMED).filter((list) => list.length > 0)];
const BOUNDS = [undefined, 1, 2];

const LIMITS: readonly Constraint[] = [
  ...NAMED,
  ...LISTS.flatMap((listed) =>
    LISTS.flatMap((excluded) =>
      BOUNDS.flatMap((min) => BOUNDS.map((max) => operators(listed, excluded, min, max))),
    ),
  ).filter((limit) => Object.keys(limit).length > 0),
];

function operators(
  listed: readonly (string | number)[] | undefined,
  excluded: readonly (string | number)[] | undefined,
  min: number | undefined,
  max: number | undefined,
): Operators {
  return {
    ...(listed === undefined ? {} : { in: listed }),
    ...(max === undefined ? {} : { max }),
    ...(min === undefined ? {} : { min }),
    ...(excluded === undefined ? {} : { not_in: excluded }),
  };
}

const SECONDS = LIMITS.filter((_, at) => at % sized(1, 37) === 0);

// Values inside, outside and between the named values, and values of every type.
const PROBES: readonly unknown[] = [0, 1, 1.5, 2, 3, "a", "b", "1", "", null, true, false, [1], {}];

function hopWith(x: Constraint): Hop {
  return { constraints: { x } };
}

test("the meet of two limits on an argument has exactly the values that both allow, and attenuation accepts the second limit exactly if it narrows the first", () => {
  const wrong: string[] = [];
  let pairs = 0;
  const check = (holds: boolean, why: string, ...limits: Constraint[]): void => {
    if (!holds && wrong.length < 5) wrong.push(`${why}: ${JSON.stringify(limits)}`);
  };
  for (const first of LIMITS) {
    const parent = meetOf([[hopWith(first)]]);
    for (const second of SECONDS) {
      pairs++;
      const x = meetOf([[hopWith(first), hopWith(second)]]).constraints?.["x"] ?? { types: [] };
      const allowed = PROBES.map(
        (value) => allowsValue(first, value) && allowsValue(second, value),
      );
      check(
        PROBES.every((value, at) => isIn(x, value) === allowed[at]),
        "the meet",
        first,
        second,
      );
      const { something } = leftOf([first, second]);
      check(x.types.length > 0 === something, "what is left", first, second);
      const limit = limitFrom(x);
      const said = limit === undefined ? [] : PROBES.map((value) => allowsValue(limit, value));
      if (something) check(said.join() === allowed.join(), "the limit it says", first, second);

      const accepted = overreaches(parent, hopWith(second)).length === 0;
      check(accepted === limitAttenuates([first], second), "the lint", first, second);
      const intersected = intersectHop(parent, hopWith(second)).constraints?.["x"];
      if (intersected === undefined || !something) continue;
      const left = PROBES.map(
        (value) => allowsValue(first, value) && allowsValue(intersected, value),
      );
      check(left.join() === allowed.join(), "the intersected limit", first, second);
      check(
        limitAttenuates([first], intersected),
        "an intersected limit overreaches",
        first,
        second,
      );
    }
  }
  const cases = (pairs * PROBES.length).toLocaleString("en");
  console.log(`limits: ${pairs.toLocaleString("en")} pairs, ${cases} cases`);
  expect(wrong).toEqual([]);
  expect(pairs).toBe(LIMITS.length * SECONDS.length);
}, 300_000);

test("the domain of any limit has exactly the values that the limit allows", () => {
  const wrong = LIMITS.filter((limit) => {
    const domain = domainOf(limit);
    return PROBES.some((value) => isIn(domain, value) !== allowsValue(limit, value));
  });
  expect(wrong).toEqual([]);
});
