import type { Constraint, Hop } from "../../src/caveats/hop.js";
import type { CheckedInvocation } from "../../src/caveats/invocation.js";
import { sized } from "../support/size.js";

// A world small enough to enumerate: two operations, two handles, two arguments of three values, three instants.

const OPERATIONS: readonly string[] = ["get", "put"];
const HANDLES: readonly string[] = ["rh_1", "rh_2"];
/** The arguments and their values. The second argument has values of two types, since exclusions distinguish types. */
const VALUES: Readonly<Record<string, readonly (number | string)[]>> = {
  amount: [1, 2, 3],
  to: ["a", "b", 1],
};
const [EARLY, MIDDLE, LATE] = [
  "2030-01-01T00:00:00Z",
  "2030-01-01T00:00:01Z",
  "2030-01-01T00:00:02Z",
] as const;
export const INSTANTS: readonly string[] = [EARLY, MIDDLE, LATE];

export function subsets<T>(items: readonly T[]): T[][] {
  return items.reduce<T[][]>((all, item) => all.concat(all.map((one) => [...one, item])), [[]]);
}

/**
 * Every invocation: every combination of an operation, a set of handles, an instant, and arguments with any value or
 * absent.
 */
export const INVOCATIONS: readonly CheckedInvocation[] = OPERATIONS.flatMap((operation) =>
  subsets(HANDLES).flatMap((resourceHandles) =>
    argumentsGiven().flatMap((given) =>
      INSTANTS.map((time) => {
        const moment = Date.parse(time);
        const [grants, invoker, audience] = [undefined, undefined, undefined];
        return {
          grants,
          operation,
          resourceHandles,
          arguments: given,
          time,
          moment,
          invoker,
          audience,
        };
      }),
    ),
  ),
);

function argumentsGiven(): { [name: string]: unknown }[] {
  return Object.entries(VALUES).reduce<{ [name: string]: unknown }[]>(
    (all, [name, values]) =>
      all.concat(all.flatMap((given) => values.map((value) => ({ ...given, [name]: value })))),
    [{}],
  );
}

const AMOUNT_LIMITS: readonly Constraint[] = [
  2,
  "2",
  { max: 1 },
  { max: 2 },
  { min: 2 },
  { min: 3 },
  { max: 2, min: 2 },
  { max: 1, min: 2 },
  { in: [1, 2] },
  { in: [1, 3] },
  { in: [2, 3] },
  { in: ["x", 2] },
  { not_in: [2] },
  { not_in: [1, 3] },
  { max: 2, not_in: [1] },
  { in: [1, 2], min: 2 },
];

const TO_LIMITS: readonly Constraint[] = [
  "a",
  1,
  { max: 1 },
  { in: ["a", "b"] },
  { in: ["a", 1] },
  { not_in: ["a"] },
  { not_in: [1] },
  { not_in: ["a", 1] },
  { not_in: ["a", "b"] },
  { not_in: [null] },
  { not_in: [false, true] },
];

/** Every restriction by one key. */
export const RESTRICTIONS: Readonly<Record<string, readonly Hop[]>> = {
  operations: [["get"], ["put"], ["get", "put"]].map((operations) => ({ operations })),
  resourceHandles: [["rh_1"], ["rh_2"], ["rh_1", "rh_2"]].map((set) => ({ resourceHandles: set })),
  amount: AMOUNT_LIMITS.map((amount) => ({ constraints: { amount } })),
  to: TO_LIMITS.map((to) => ({ constraints: { to } })),
  expires: INSTANTS.map((expires) => ({ expires })),
  notBefore: INSTANTS.map((notBefore) => ({ notBefore })),
  maxFurtherHops: [0, 1, 2].map((maxFurtherHops) => ({ maxFurtherHops })),
};

/** Combines two hops, which must not have a key in common. */
function joined(a: Hop, b: Hop): Hop {
  const both = { ...a, ...b };
  if (a.constraints === undefined || b.constraints === undefined) return both;
  return { ...both, constraints: { ...a.constraints, ...b.constraints } };
}

// The first and last restriction of each key represent the key in hops with several keys.
const PAIRED = Object.values(RESTRICTIONS).map((hops) =>
  hops.filter((_, at) => at === 0 || at === hops.length - 1),
);

const EVERY_HOP: readonly Hop[] = [
  ...Object.values(RESTRICTIONS).flat(),
  ...PAIRED.flatMap((hops, at) =>
    PAIRED.slice(at + 1).flatMap((others) =>
      hops.flatMap((hop) => others.map((other) => joined(hop, other))),
    ),
  ),
  ...[0, 1].map((which) =>
    PAIRED.map((hops) => hops[which] ?? {}).reduce<Hop>((whole, hop) => joined(whole, hop), {}),
  ),
];
const OF_ALL_KEYS = 2;

/**
 * The hops of which chains are made: every restriction alone, then pairs of different keys, then hops of all keys.
 * A quick run omits most of the first two kinds.
 */
export const HOPS: readonly Hop[] = EVERY_HOP.filter(
  (_, at) => at % sized(1, 8) === 0 || at >= EVERY_HOP.length - OF_ALL_KEYS,
);

/** Returns hops with every combination of keys. For each key, `keep` selects the restrictions to use. */
export function combinations(keep: (at: number, of: number) => boolean): Hop[] {
  return Object.values(RESTRICTIONS).reduce<Hop[]>(
    (all, hops) => {
      const some = hops.filter((_, at) => keep(at, hops.length));
      return all.concat(all.flatMap((hop) => some.map((other) => joined(hop, other))));
    },
    [{}],
  );
}
