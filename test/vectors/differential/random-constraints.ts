import type { Json } from "../../../src/bytes/json.js";
import type { Random } from "../../fuzz/random.js";
import { pathNear, randomPath } from "./random-paths.js";
import { randomHosts, randomPort, randomScheme, randomUrl, randomUrlPath } from "./random-urls.js";

/** A constraint on one argument, and a value that it may allow; `value` is undefined for an absent argument. */
export interface Drawn {
  readonly constraint: Json;
  readonly value: Json | undefined;
}

/** An operator with its operand, and a value that may satisfy it. */
type Operator = readonly [name: string, operand: Json, value: Json];

const NUMBERS = [
  0,
  1,
  -1,
  2,
  9,
  10,
  49.99,
  50,
  50.00000000000001,
  0.1,
  0.30000000000000004,
  1e21,
  1e-7,
  2 ** 53,
  5e-324,
  1.7976931348623157e308,
];
/** Spellings of numbers that a parser would change. */
const SPELLED = [
  "1e999",
  "-1e999",
  "-0",
  "-0.0",
  "1e-400",
  "9007199254740993",
  "50.000000000000001",
  "1E1",
  "10.0",
  "0.1e1",
];
const TEXTS = [
  "",
  "a",
  "b",
  "1",
  "10",
  "true",
  "null",
  "A",
  "é",
  "e\u0301",
  "\u{1f511}",
  "\uffff",
  "acc_1",
  "\ud83d",
  "a\0",
  "__proto__",
];
const OTHERS: readonly Json[] = [
  null,
  true,
  false,
  [],
  {},
  ["a"],
  [[]],
  { a: 1 },
  { length: 1, 0: "a" },
  "1",
  1,
];

export function randomScalar(random: Random): Json {
  return random.pick<Json>([random.pick(NUMBERS), random.pick(TEXTS), null, true, false]);
}

/**
 * Generates a constraint of `operationConstraints`, which is usually well-formed, and a value that usually nearly
 * satisfies it.
 */
export function randomConstraint(random: Random): Drawn {
  const { constraint, value } = random.once(10) ? exact(random) : operators(random);
  if (random.once(12)) return { constraint, value: undefined };
  return { constraint, value: random.once(8) ? stray(random, value) : value };
}

function exact(random: Random): { constraint: Json; value: Json } {
  const constraint = randomScalar(random);
  return { constraint, value: random.once(3) ? randomScalar(random) : constraint };
}

function operators(random: Random): { constraint: Json; value: Json } {
  const [name, operand, value] = randomOperator(random);
  const constraint: { [name: string]: Json } = { [name]: operand };
  if (random.once(6)) constraint["optional"] = true;
  if (random.once(40)) constraint["absent"] = true;
  if (random.once(8)) {
    const [second, other] = randomOperator(random);
    constraint[second] = other;
  }
  if (random.once(25)) return { constraint: { absent: true }, value };
  return { constraint, value };
}

function randomOperator(random: Random): Operator {
  const drawn = random.below(12);
  if (drawn < 2) return onArrays(random);
  return onScalars(random);
}

function onArrays(random: Random): Operator {
  if (random.once(3)) {
    const [min, max] = [random.pick([0, 1, 2, 256]), random.pick([0, 1, 2, 3, 256, 257])];
    const size = random.pick([min, max, max + 1, 1]);
    return [
      "items",
      random.pick<Json>([{ min }, { max }, { max, min }]),
      Array<Json>(size).fill(random.pick(OTHERS)),
    ];
  }
  const [name, operand, value] = random.once(5) ? onArrays(random) : onScalars(random);
  const elements: Json[] = random.many(random.below(4), () =>
    random.once(5) ? stray(random, value) : value,
  );
  if (random.once(40))
    elements.push(...Array<Json>(random.pick([253, 254, 255, 256, 257])).fill(value));
  return ["each", { [name]: operand }, elements];
}

function onScalars(random: Random): Operator {
  switch (random.below(10)) {
    case 0:
      return [random.pick(["min", "max"]), random.pick(NUMBERS), random.pick(NUMBERS)];
    case 1:
      return onLists(random);
    case 2: {
      const prefix = random.pick(TEXTS);
      return ["prefix", prefix, prefix + random.pick(["", "x", "\ud800"])];
    }
    case 3:
    case 4:
    case 5: {
      const folder = randomPath(random, 60);
      return ["path", folder, pathNear(random, folder)];
    }
    default:
      return onUrls(random);
  }
}

function onLists(random: Random): Operator {
  const texts = random.many(1 + random.below(4), () => JSON.stringify(randomScalar(random)));
  const listed: Json[] = (random.once(12) ? texts : [...new Set(texts)].sort()).map((text) =>
    JSON.parse(text),
  );
  return [random.pick(["in", "not_in"]), listed, random.pick([...listed, randomScalar(random)])];
}

function onUrls(random: Random): Operator {
  const hosts = setOf(random, randomHosts(random));
  const schemes = setOf(
    random,
    random.many(1 + random.below(3), () => randomScheme(random)),
  );
  const limit: { [name: string]: Json } = { hosts, schemes };
  const folder = randomUrlPath(random, 40);
  if (random.once(3)) limit["path"] = folder;
  if (random.once(3))
    limit["ports"] = setOf(
      random,
      random.many(1 + random.below(3), () => randomPort(random)),
    );
  return ["url", limit, randomUrl(random, hosts, limit["path"] === undefined ? "" : folder)];
}

function setOf(random: Random, texts: readonly string[]): string[] {
  return random.once(50) ? [...texts] : [...new Set(texts)].sort();
}

/** Generates a value that may violate a constraint which `value` satisfies. */
function stray(random: Random, value: Json): Json {
  switch (random.below(6)) {
    case 0:
      return `\0number:${random.pick(SPELLED)}`;
    case 1:
      return [value];
    case 2:
      return typeof value === "number" ? String(value) : random.pick(NUMBERS);
    case 3:
      return typeof value === "string"
        ? value.padEnd(4096 + random.below(2), "a")
        : random.pick(TEXTS);
    case 4:
      return random.pick(TEXTS);
    default:
      return random.pick(OTHERS);
  }
}
