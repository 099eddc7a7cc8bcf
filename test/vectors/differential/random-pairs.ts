import type { Json } from "../../../src/bytes/json.js";
import type { Random } from "../../fuzz/random.js";
import { randomConstraint, randomScalar } from "./random-constraints.js";

/** A hop and a call, as JSON strings. */
export interface Pair {
  readonly hop: string;
  readonly operation: string;
  readonly arguments: string;
}

type Members = Map<string, Json | Members>;

const OPERATIONS = ["retrieve", "retrieve", "retrieve", "send", "*", "*x", "", "__proto__", "é"];
const NAMES = [
  "a",
  "b",
  "to",
  "iban",
  "",
  "0",
  "/",
  "/a",
  "a/b",
  "~",
  "~0",
  "~1",
  "a~b",
  "a.b",
  "é",
  "😀",
  "__proto__",
  "constructor",
  "length",
  "toString",
];
const KEYS = ["constraints", "operations", "purpose", "operationConstraint", "cnf", "argument"];

/** Generates a nearly valid hop with limits on arguments, and a call that nearly meets them. */
export function randomPair(random: Random): Pair {
  const operation = random.pick(OPERATIONS);
  const given: Members = new Map();
  const hop: Members = new Map();
  if (!random.once(6))
    hop.set("operationConstraints", operationConstraints(random, operation, given));
  if (random.once(4)) given.set(random.pick(NAMES), randomScalar(random));
  if (random.once(4)) hop.set("constraints", plainConstraints(random, given));
  if (hop.size === 0 || random.once(3)) hop.set("arguments", closedLists(random, operation, given));
  if (random.once(40)) hop.set(random.pick(KEYS), random.pick(["", 1, ["a"], null]));
  const text = written(random.once(16) ? damaged(random, hop) : hop);
  return {
    hop: random.once(60) ? uncanonical(random, text) : text,
    operation,
    arguments: written(given),
  };
}

function operationConstraints(random: Random, operation: string, given: Members): Members {
  const entries: Members = new Map();
  for (let count = 1 + random.below(2); count > 0; count--) {
    const entry: Members = new Map();
    for (let left = random.once(3) ? 2 : 1; left > 0; left--) {
      const path = random.many(random.pick([1, 1, 1, 2, 2, 3]), () => random.pick(NAMES));
      const { constraint, value } = randomConstraint(random);
      entry.set(nameOf(random, path), constraint);
      if (value !== undefined) place(random, given, path, value);
    }
    entries.set(entryFor(random, operation), entry);
  }
  return entries;
}

function entryFor(random: Random, operation: string): string {
  if (random.once(8)) return random.pick(OPERATIONS);
  return random.once(3) ? "*" : operation;
}

/** Returns the name of an argument, one time in eight in another spelling. */
function nameOf(random: Random, path: readonly string[]): string {
  const tokens = path.map((one) => one.replaceAll("~", "~0").replaceAll("/", "~1"));
  const pointer = `/${tokens.join("/")}`;
  const [first = ""] = path;
  const name = path.length === 1 && !first.startsWith("/") ? first : pointer;
  if (!random.once(20)) return name;
  return random.pick([
    pointer,
    `/${path.join("/")}`,
    `${name}/`,
    `/${name}`,
    `${name}/0`,
    `${name}/-`,
    `${name}~`,
    `${name}/~2`,
    "/",
    path.join("/"),
  ]);
}

/** Sets the value at a path. Sometimes puts an obstacle on the way instead, or nothing. */
function place(random: Random, given: Members, path: readonly string[], value: Json): void {
  let at = given;
  for (const [depth, name] of path.entries()) {
    if (random.once(30)) return;
    const isLast = depth === path.length - 1;
    if (isLast || random.once(15)) {
      at.set(name, isLast ? value : random.pick<Json>([null, [], "", 1, [value], {}, false]));
      return;
    }
    const next = at.get(name);
    const inner = next instanceof Map ? next : new Map();
    at.set(name, inner);
    at = inner;
  }
}

function plainConstraints(random: Random, given: Members): Members {
  const limits: Members = new Map();
  const name = random.pick([...NAMES, ...given.keys()]);
  const value = given.get(name);
  const near = value === undefined || value instanceof Map ? randomScalar(random) : value;
  const list = [...new Set([near, randomScalar(random)].map((one) => JSON.stringify(one)))].sort();
  limits.set(
    name,
    random.pick<Json>([
      near,
      { in: list.map((one) => JSON.parse(one)) },
      { min: 0 },
      { max: 9, not_in: [10] },
      { path: "/" },
    ]),
  );
  return limits;
}

function closedLists(random: Random, operation: string, given: Members): Members {
  const lists: Members = new Map();
  for (let count = 1 + random.below(2); count > 0; count--) {
    const names = [...given.keys()].filter(() => !random.once(6));
    if (random.once(3)) names.push(random.pick(NAMES));
    const set = random.once(40) ? names : [...new Set(names)].sort();
    lists.set(entryFor(random, operation), set);
  }
  return lists;
}

/** Returns a copy of a hop, or of a part of a hop, in which one value is replaced or a property is added or removed. */
function damaged(random: Random, value: Json | Members): Json | Members {
  if (!(value instanceof Map) || value.size === 0 || random.once(4)) {
    return random.pick<Json>([
      {},
      [],
      null,
      "",
      "a",
      0,
      -1,
      1.5,
      true,
      [""],
      ["b", "a"],
      ["a", "a"],
      [1],
      { a: 1 },
      257,
      2 ** 53,
    ]);
  }
  const name = random.pick([...value.keys()]);
  const copy = new Map(value);
  const one = value.get(name);
  if (one !== undefined)
    copy.set(name, damaged(random, isMembers(one) ? new Map(Object.entries(one)) : one));
  switch (random.below(6)) {
    case 0:
      copy.delete(name);
      break;
    case 1:
      copy.set(random.pick(["eq", "Path", "minimum", "", "__proto__", "optional", "absent"]), true);
  }
  return copy;
}

function isMembers(value: Json | Members): value is { readonly [name: string]: Json } {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Map)
  );
}

function uncanonical(random: Random, text: string): string {
  const characters = [...text];
  const strange = random.pick([" ", "\n", ",", "]", "\\u0061", "0", '"', "\0", ".0", "[[[[[[[["]);
  characters.splice(random.below(characters.length + 1), 0, strange);
  return characters.join("");
}

/**
 * Returns the canonical text of a value. A string that begins with `\0number:` is a number in the spelling that
 * follows.
 */
function written(value: Json | Members): string {
  if (value instanceof Map || isMembers(value)) {
    const entries = value instanceof Map ? [...value] : Object.entries(value);
    const members = entries.sort(([one], [other]) => (one < other ? -1 : 1));
    return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${written(inner)}`).join(",")}}`;
  }
  if (Array.isArray(value)) return `[${value.map(written).join(",")}]`;
  if (typeof value === "string" && value.startsWith("\0number:"))
    return value.slice("\0number:".length);
  return JSON.stringify(value);
}
