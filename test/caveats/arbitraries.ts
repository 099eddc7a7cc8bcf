import fc from "fast-check";
import type { ArgumentConstraint, Constraint, Hop, HopInit } from "../../src/caveats/hop.js";
import type { Invocation } from "../../src/caveats/invocation.js";
import type { Scalar } from "../../src/caveats/scalar.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";
import { NOW } from "./support.js";

// The universe is deliberately small, so that random hops and calls overlap and contradict each other often, and
// thousands of runs reach every combination of rules.
const NAMES = ["a", "b", "c"];
const ARGUMENTS = ["x", "y", "__proto__"];
const NUMBERS = [-1, 0, 1, 2, 3];
const SECOND = 1000;

const scalar: fc.Arbitrary<Scalar> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS) },
  { weight: 2, arbitrary: fc.constantFrom(...NAMES) },
  { weight: 1, arbitrary: fc.constantFrom(true, false, null) },
);

const names: fc.Arbitrary<string[]> = fc.subarray(NAMES, { minLength: 1 });
// Lists of values of one type and of several types, since exclusions depend on the types.
const scalars: fc.Arbitrary<Scalar[]> = fc.oneof(
  fc.array(scalar, { minLength: 1, maxLength: 5 }),
  fc.subarray<Scalar>(NUMBERS, { minLength: 1 }),
  fc.subarray<Scalar>(NAMES, { minLength: 1 }),
);
const bound: fc.Arbitrary<number> = fc.constantFrom(...NUMBERS);

const several: fc.Arbitrary<Constraint> = fc
  .record({ min: bound, max: bound, in: scalars, not_in: scalars }, { requiredKeys: [] })
  .filter((limit) => Object.keys(limit).length > 0);

export const constraint: fc.Arbitrary<Constraint> = fc.oneof(
  { weight: 1, arbitrary: scalar },
  { weight: 2, arbitrary: several },
  { weight: 1, arbitrary: fc.record({ max: bound }) },
  { weight: 1, arbitrary: fc.record({ min: bound }) },
  { weight: 2, arbitrary: fc.record({ in: scalars }) },
  { weight: 3, arbitrary: fc.record({ not_in: scalars }) },
);

const constraints: fc.Arbitrary<{ [argument: string]: Constraint }> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...ARGUMENTS), constraint), {
    minLength: 1,
    selector: ([argument]) => argument,
  })
  .map((limits) => Object.fromEntries(limits));

const ELEMENTS: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  min: bound,
  max: bound,
  in: scalars,
  not_in: scalars,
  path: fc.constantFrom("a", "a/b", "b"),
  prefix: fc.constantFrom("a", "a/", "https"),
  url: fc.record(
    {
      schemes: fc.constantFrom(["https"], ["http", "https"]),
      hosts: fc.constantFrom(["a.example"], [".example"], ["b.a.example"]),
      ports: fc.constantFrom(["443"], ["80", "8080"]),
      path: fc.constantFrom("/a", "/"),
    },
    { requiredKeys: ["schemes", "hosts"] },
  ),
  items: fc
    .record({ min: fc.nat(2), max: fc.nat(2) }, { requiredKeys: [] })
    .filter((items) => Object.keys(items).length > 0),
};

/** One or two operators, since three on one argument rarely leave any value. */
const elementOperators: fc.Arbitrary<{ readonly [name: string]: unknown }> = fc
  .subarray(Object.keys(ELEMENTS), { minLength: 1, maxLength: 2 })
  // `attenuate` treats a prefix beside `path` or `url` as a mistake.
  .filter(
    (names) => !(names.includes("prefix") && ["path", "url"].some((one) => names.includes(one))),
  )
  .chain((names) =>
    fc.record(Object.fromEntries(names.map((name) => [name, ELEMENTS[name] ?? scalar]))),
  );

/** A constraint on an argument of one operation. */
const argumentConstraint: fc.Arbitrary<ArgumentConstraint> = fc.oneof(
  { weight: 2, arbitrary: scalar },
  { weight: 1, arbitrary: fc.constant({ absent: true as const }) },
  { weight: 4, arbitrary: elementOperators },
  { weight: 2, arbitrary: elementOperators.map((each) => ({ each })) },
  { weight: 4, arbitrary: elementOperators.map((one) => ({ ...one, optional: true as const })) },
);

const OPERATIONS = [...NAMES, "*"];

function byOperation<T>(entry: fc.Arbitrary<T>): fc.Arbitrary<{ [operation: string]: T }> {
  return fc
    .uniqueArray(fc.tuple(fc.constantFrom(...OPERATIONS), entry), {
      minLength: 1,
      maxLength: 2,
      selector: ([operation]) => operation,
    })
    .map((entries) => Object.fromEntries(entries));
}

const operationConstraints = byOperation(
  fc
    .uniqueArray(fc.tuple(fc.constantFrom(...ARGUMENTS, "/x/y", "/~1z"), argumentConstraint), {
      minLength: 1,
      maxLength: 2,
      selector: ([argument]) => argument,
    })
    .map((entries) => Object.fromEntries(entries)),
);

const closedLists = byOperation(fc.subarray([...ARGUMENTS, "/z"]));

/** A few seconds around now, so that hops start and end between the calls. */
const moment: fc.Arbitrary<Date> = fc
  .integer({ min: -3, max: 6 })
  .map((seconds) => new Date(NOW + seconds * SECOND));

/**
 * Generates a value in one of four cases, otherwise `undefined`, so that several hops together still allow something.
 */
function seldom<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, { weight: 1, arbitrary });
}

function withoutUndefined<T extends object>(value: T): HopInit {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

const members = {
  operations: seldom(names),
  resourceHandles: seldom(names),
  constraints: fc.option(constraints, { freq: 2, nil: undefined }),
  operationConstraints: seldom(operationConstraints),
  arguments: seldom(closedLists),
  expires: seldom(moment),
  notBefore: seldom(moment),
  audience: seldom(names),
  invokers: seldom(names),
  purpose: fc.constantFrom("why", "for fun"),
};

/** A hop whose judgement does not depend on its position. */
export const independentHop: fc.Arbitrary<Hop> = fc
  .record(members)
  .map((hop) => normalizeHop(withoutUndefined(hop)));

export const anyHop: fc.Arbitrary<Hop> = fc
  .record({ ...members, maxFurtherHops: seldom(fc.integer({ min: 0, max: 4 })) })
  .map((hop) => normalizeHop(withoutUndefined(hop)));

const argumentValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 12, arbitrary: scalar },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>([], ["a"], {}, undefined, "1", 1.5, Number.NaN),
  },
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(
      ...["a/b", "a/b/c", "ab", "a/../b", "a/", ["a", "b"], ["a/b"], [1, 2], [1, "a"], [[]]],
      ...["https://a.example/", "http://a.example:8080/a", "https://b.a.example/a/b"],
      ...["https://a.example:8443/", "https://a.example/b", { y: 1 }, { y: "a" }, { y: ["a"] }],
    ),
  },
);

/** A call whose operation, handles and arguments the hops often name. */
export const invocation: fc.Arbitrary<Invocation> = fc
  .record({
    grant: fc.constant("files"),
    operation: fc.constantFrom(...NAMES),
    resourceHandles: fc.oneof(
      { weight: 4, arbitrary: fc.subarray(NAMES, { minLength: 1, maxLength: 2 }) },
      { weight: 1, arbitrary: fc.constant([]) },
    ),
    arguments: fc
      .uniqueArray(fc.tuple(fc.constantFrom(...ARGUMENTS, "/z"), argumentValue), {
        minLength: 0,
        selector: ([argument]) => argument,
      })
      .map((given) => Object.fromEntries(given)),
    milliseconds: fc.integer({ min: -2500, max: 5500 }),
    invoker: fc.option(fc.constantFrom(...NAMES), { freq: 5, nil: undefined }),
    audience: fc.option(fc.constantFrom(...NAMES), { freq: 5, nil: undefined }),
  })
  .map(({ milliseconds, invoker, audience, ...call }) => ({
    ...call,
    time: new Date(NOW + milliseconds),
    invoker,
    audience,
  }));
