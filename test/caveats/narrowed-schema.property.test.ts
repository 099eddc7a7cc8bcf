import { Ajv2020 } from "ajv/dist/2020.js";
import { expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import { encodeUtf8 } from "../../src/bytes/utf8.js";
import type { Hop } from "../../src/caveats/hop.js";
import { judgeHop } from "../../src/caveats/judge.js";
import { narrowedSchema } from "../../src/caveats/narrowed-schema.js";
import { readHop } from "../../src/caveats/read-hop.js";
import { Random } from "../fuzz/random.js";
import { runsOr, SEED } from "../support/seed.js";
import { sized } from "../support/size.js";
import { randomPair } from "../vectors/differential/random-pairs.js";
import { asked } from "./support.js";

const PAIRS = runsOr(sized(1_200, 100, 3_000));

test(`in ${PAIRS} random cases, a narrowed schema accepts each call that the server's schema and the hops allow, and under 15% of the calls that the hops refuse`, {
  timeout: 0,
}, () => {
  const random = new Random(SEED);
  const counts = { allowed: 0, refused: 0 };
  const wider = new Map<string, number>();
  const unexplained: string[] = [];
  for (let done = 0; done < PAIRS; ) {
    const drawn = draw(random);
    if (drawn === undefined) continue;
    done++;
    const { hops, operation, call } = drawn;
    const schema = randomSchema(random, call);
    const narrowed = narrowedSchema(schema, hops, operation);
    const ofServer = accepts(schema, call);
    const shown = accepts(narrowed, call);
    const where = JSON.stringify({ SEED, hops, operation, call, schema, narrowed });
    expect(keeps(narrowed, schema), where).toBe(true);
    if (shown) expect(ofServer, where).toBe(true);
    const failures = hops.flatMap((hop) => judgeHop(hop, asked({ operation, arguments: call }), 0));
    const refused = failures.filter(({ code }) => code === "constraint_violated");
    if (refused.length === 0) {
      counts.allowed++;
      expect(shown, where).toBe(ofServer);
    } else if (ofServer) {
      counts.refused++;
      if (!shown) continue;
      const [kind] = WIDER.find(([, signs]) => signs.test(where)) ?? ["unexplained"];
      wider.set(kind, (wider.get(kind) ?? 0) + 1);
      if (kind === "unexplained") unexplained.push(where);
    }
  }
  const kinds = Object.fromEntries(wider);
  console.log(`narrowed schemas from seed ${SEED}: ${JSON.stringify({ ...counts, kinds })}`);
  expect(unexplained.sort((a, b) => a.length - b.length).slice(0, 3)).toEqual([]);
  expect(counts.allowed).toBeGreaterThan(PAIRS / 20);
  expect(counts.refused).toBeGreaterThan(PAIRS / 20);
  const accepted = [...wider.values()].reduce((sum, count) => sum + count, 0);
  expect(accepted / counts.refused).toBeLessThan(0.15);
});

/** One or two well-formed hops, and a call that they nearly allow. */
function draw(random: Random) {
  const pairs = random.many(random.pick([1, 1, 2]), () => randomPair(random));
  const [first] = pairs;
  // Ajv ignores a property named `__proto__`.
  if (first === undefined || JSON.stringify(pairs).includes("__proto__")) return undefined;
  const readings = pairs.map(({ hop }) => readHop(encodeUtf8(hop)));
  const hops = readings.flatMap((reading): Hop[] => (reading.ok ? [reading.hop] : []));
  if (hops.length < pairs.length) return undefined;
  const calls = pairs.map((pair): JsonObject => JSON.parse(pair.arguments));
  const call: JsonObject = Object.assign({}, ...calls);
  return { hops, operation: first.operation, call };
}

/** Generates a server's schema, which usually accepts the call. */
function randomSchema(random: Random, call: JsonObject): JsonObject {
  const known = Object.keys(call).filter(() => !random.once(5));
  const properties = known.map((name) => [name, schemaOf(random, call[name] ?? null)] as const);
  const named = known.map(pointerTo);
  const others = random.pick<Json | undefined>([undefined, undefined, true, false, {}]);
  const schema: { [keyword: string]: Json } = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    description: "The arguments of a tool",
    properties: Object.fromEntries(properties),
    $defs: { anything: {}, text: { type: "string" } },
  };
  if (others !== undefined) schema["additionalProperties"] = others;
  if (random.once(3)) schema["required"] = known.slice(0, 1);
  if (random.once(3)) schema["allOf"] = [{ $ref: "#/$defs/anything" }];
  if (random.once(8) && named.length > 0) {
    schema["properties"] = {
      ...Object.fromEntries(properties),
      again: { $ref: random.pick(named) },
    };
  }
  return schema;
}

function pointerTo(name: string): string {
  const token = name.replaceAll("~", "~0").replaceAll("/", "~1");
  return `#/properties/${encodeURIComponent(token)}`;
}

/** Generates a schema that usually accepts the value. */
function schemaOf(random: Random, value: Json): Json {
  const type = typeOf(value);
  const schemas: Json[] = [
    true,
    {},
    { type, description: "One argument", "x-mcp-header": "A" },
    { type: ["null", type, "boolean"].filter((one, at, all) => all.indexOf(one) === at) },
    { $ref: "#/$defs/anything" },
    { enum: [value, "a", 0] },
    { not: { const: "never" }, allOf: [{}] },
    { anyOf: [{ type }, { type: "null" }] },
    { type: "string", pattern: "." },
    false,
  ];
  if (typeof value === "number") {
    schemas.push({ type: "number", minimum: -1, maximum: 100 });
    schemas.push({ type: "integer", minimum: 0 });
  }
  if (Array.isArray(value)) {
    schemas.push({ type, items: { type: "string" }, minItems: 1, maxItems: 300 });
    schemas.push({ type, prefixItems: [true] });
    schemas.push({ type, items: true });
  }
  if (isJsonObject(value)) {
    const names = Object.keys(value);
    const properties = names.map((name) => [name, schemaOf(random, value[name] ?? null)] as const);
    const inner = { type, properties: Object.fromEntries(properties) };
    schemas.push(inner, { ...inner, required: names }, { ...inner, additionalProperties: false });
  }
  return random.pick(schemas);
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const ajv = new Ajv2020({
  strict: false,
  // A random call can contain an infinite number, which JSON cannot. Without `strictNumbers`, Ajv accepts it as a
  // number.
  strictNumbers: true,
  ownProperties: true,
  code: { optimize: false },
});

function accepts(schema: JsonObject, call: JsonObject): boolean {
  const accepted = ajv.compile(schema)(call);
  ajv.removeSchema();
  return accepted === true;
}

/**
 * Returns whether the narrowed schema keeps every keyword of the server's schema, except keywords that are tightened.
 */
function keeps(narrowed: Json, schema: Json): boolean {
  if (schema === true || schema === undefined) return true;
  if (!isJsonObject(schema) || !isJsonObject(narrowed)) return narrowed === schema;
  return Object.entries(schema).every(([keyword, value]) => {
    const now = narrowed[keyword];
    if (TIGHTENED.includes(keyword)) return now !== undefined;
    if (keyword === "required" || keyword === "allOf") {
      const [all, before] = [now, value] as readonly (readonly Json[])[];
      return before?.every((one, at) => JSON.stringify(all?.[at]) === JSON.stringify(one));
    }
    if (keyword === "properties" && isJsonObject(value)) {
      return Object.entries(value).every(
        ([name, one]) => isJsonObject(now ?? null) && keeps((now as JsonObject)[name] ?? null, one),
      );
    }
    return JSON.stringify(now) === JSON.stringify(value);
  });
}

const TIGHTENED = [
  "additionalProperties",
  "type",
  "enum",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "items",
];

/**
 * The reasons why a schema may accept arguments that the hops refuse, each with a pattern that the drawn values
 * match.
 */
const WIDER: readonly (readonly [string, RegExp])[] = [
  ["ajv takes a property without a name for present", /"required":\[[^\]]*""/],
  ["an argument that a $ref points into", /"\$ref":"#\/properties\//],
  ["the first elements of a tuple", /"prefixItems"/],
  ["a string of about 4,096 units or more", /a{4000}/],
  ["a host with xn--, or a long one", /xn--|(a\.){50}/],
  ["an escape of a URL", /%[2-9A-F][0-9A-F]/],
  ["a ~ at the beginning of a path", /~/],
  ["a code point beyond ASCII", /[^\0-\x7f]|\\ud[89a-f]/],
];
