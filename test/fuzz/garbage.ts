import type { Random } from "./random.js";

// JSON-shaped garbage: values that a careless or hostile writer might write in place of valid values.

export type Value =
  | null
  | boolean
  | number
  | string
  | readonly Value[]
  | { readonly [name: string]: Value };

const TEXTS = [
  "",
  "a",
  "get",
  "put",
  "rh_1",
  "rh_2",
  "acc_ä",
  "agent:a",
  "documents",
  "10",
  "7",
  "true",
  "2030-01-01T00:05:00Z",
  "2030-02-30T00:00:00Z",
  "2030-01-01T24:00:00Z",
  "2030-01-01T00:00:60Z",
  "9999-12-31T23:59:59Z",
  "2029-12-31T23:59:59Z",
  "+02030-01-01T00:00:00Z",
  "2030-01-01",
  "AAAAAAAAAAAAAAAA",
  "AAAAAAAAAAAAAAA",
  "cap_AAAAAAAAAAAAAAAA",
  "\u2028",
  "\u{1f600}",
  "é",
  "e\u0301",
  "\ud800",
  "\udc00\ud800",
  "\ufeff",
  "\0",
  "__proto__",
  "constructor",
  "toString",
  "-0",
  "1e1",
];
const NUMBERS = [
  0,
  -0,
  1,
  2,
  7,
  10,
  -1,
  1.5,
  1e21,
  1e-7,
  1e308,
  -1e308,
  5e-324,
  0.1,
  1 / 3,
  1000,
  2 ** 31,
  2 ** 32,
  2 ** 53 - 1,
  2 ** 53,
  2 ** 53 + 2,
  Number.MAX_VALUE,
  Number.MIN_VALUE,
];
const HOP_NAMES = [
  "operations",
  "resourceHandles",
  "constraints",
  "expires",
  "notBefore",
  "audience",
  "invokers",
  "maxFurtherHops",
  "purpose",
  "nonce",
  "cnf",
  "handover",
  "Operations",
  "expire",
  "exp",
];
const LIMIT_NAMES = ["min", "max", "in", "not_in", "eq", "Max", "notIn"];
const ARGUMENTS = ["amount", "to", "other", "", "__proto__", "a.b", "constructor", "é"];

export function anyText(random: Random): string {
  if (!random.once(4)) return random.pick(TEXTS);
  return String.fromCharCode(...random.many(random.below(6), () => random.below(0x1_0000)));
}

function anyScalar(random: Random): Value {
  switch (random.below(6)) {
    case 0:
      return random.pick([null, true, false]);
    case 1:
    case 2:
      return random.pick(NUMBERS);
    default:
      return anyText(random);
  }
}

/** Generates any JSON value, sometimes nested. */
export function anyValue(random: Random, depth = 3): Value {
  const kind = depth === 0 ? 0 : random.below(10);
  if (kind < 6) return anyScalar(random);
  const items = random.many(random.below(4), () => anyValue(random, depth - 1));
  if (kind < 8) return items;
  const names = [...HOP_NAMES, ...LIMIT_NAMES, ...ARGUMENTS];
  return object(items.map((item) => [random.pick(names), item]));
}

/** Makes an object with properties of any name, even `__proto__`, which an assignment would not add. */
export function object(members: readonly (readonly [string, Value])[]): { [name: string]: Value } {
  return Object.fromEntries(members);
}

function set(random: Random): Value {
  const texts = random.many(1 + random.below(3), () => random.pick(TEXTS.slice(1, 12)));
  const sorted = [...new Set(texts)].sort();
  return random.once(20) ? texts : sorted;
}

function scalars(random: Random): Value {
  const values = random.many(1 + random.below(3), () => anyScalar(random));
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
  const sorted = [...byText].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, value]) => value);
  return random.once(20) ? values : sorted;
}

function limit(random: Random): Value {
  if (random.once(3)) return anyScalar(random);
  const operators = random.many(1 + random.below(3), (): readonly [string, Value] => {
    const name = random.once(25) ? random.pick(LIMIT_NAMES) : random.pick(LIMIT_NAMES.slice(0, 4));
    if (random.once(25)) return [name, anyValue(random, 1)];
    return [name, name === "in" || name === "not_in" ? scalars(random) : random.pick(NUMBERS)];
  });
  return object(operators);
}

/** Generates a hop that is usually valid, and otherwise wrong in a place or two. */
export function nearlyHop(random: Random): { [name: string]: Value } {
  return object(
    random.many(random.below(5), () => {
      const name = random.once(40) ? random.pick(HOP_NAMES) : random.pick(HOP_NAMES.slice(0, 10));
      return [name, random.once(40) ? anyValue(random) : member(random, name)] as const;
    }),
  );
}

function member(random: Random, name: string): Value {
  switch (name) {
    case "expires":
    case "notBefore":
      return random.pick(TEXTS.slice(random.once(10) ? 11 : 16, 18).concat(TEXTS[12] ?? ""));
    case "maxFurtherHops":
      return random.pick([0, 1, 2, 3, 2 ** 53 - 1, random.pick(NUMBERS)]);
    case "constraints":
      return object(
        random.many(1 + random.below(2), () => [random.pick(ARGUMENTS), limit(random)] as const),
      );
    case "nonce":
      return random.pick(["AAAAAAAAAAAAAAAA", "____----0000zzzz", "AAAAAAAAAAAAAAA+"]);
    case "purpose":
      return anyText(random);
    default:
      return set(random);
  }
}
