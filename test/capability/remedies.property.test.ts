import { expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../src/bytes/json.js";
import { encodeUtf8 } from "../../src/bytes/utf8.js";
import type { ArgumentDomain } from "../../src/caveats/domain.js";
import { meetOf } from "../../src/caveats/meet.js";
import { authorityOver } from "../../src/caveats/operation-authority.js";
import { readHop } from "../../src/caveats/read-hop.js";
import { Random } from "../fuzz/random.js";
import { SEED } from "../support/seed.js";
import { sized } from "../support/size.js";
import { randomPair } from "../vectors/differential/random-pairs.js";
import { append, fixture, mintOpen } from "./support.js";

const REFUSALS = sized(1000, 100);
const { issuer } = fixture();
const token = mintOpen(issuer);

test(`a script repairs at least 95% of ${REFUSALS} refused calls from the denials alone, if the limits name a value`, {
  timeout: 0,
}, () => {
  const random = new Random(SEED);
  const counts = { possible: 0, remedied: 0, open: 0, openRemedied: 0, impossible: 0 };
  const missed: string[] = [];
  for (let drawn = 0; counts.possible < REFUSALS; drawn++) {
    expect(drawn).toBeLessThan(100 * REFUSALS);
    const pairs = random.many(random.pick([1, 1, 2]), () => randomPair(random));
    const [{ operation } = { operation: "" }] = pairs;
    const readings = pairs.map(({ hop }) => readHop(encodeUtf8(hop)));
    const hops = readings.flatMap((reading) => (reading.ok ? [reading.hop] : []));
    if (hops.length < pairs.length) continue;
    const narrowed = pairs.reduce((text, { hop }) => append(text, hop), token);
    const call: JsonObject = Object.fromEntries(
      pairs.flatMap((one) => Object.entries<Json>(JSON.parse(one.arguments))),
    );
    const ask = (given: JsonObject) =>
      issuer.authorize(narrowed, { grant: "files", operation, arguments: given });
    const decision = ask(call);
    if (decision.allowed) continue;
    const { denials } = JSON.parse(JSON.stringify(decision));
    const repaired = repair(call, denials);
    const where = JSON.stringify({ SEED, hops, operation, call, denials, repaired });
    if (repaired !== undefined) expect(ask(repaired).allowed, where).toBe(true);
    const { limited } = authorityOver(operation, meetOf([hops]));
    const isPossible =
      denials.every(({ code }: { code: string }) => code === "constraint_violated") &&
      ![...limited.values()].some(isImpossible);
    if (!isPossible) {
      counts.impossible++;
      expect(repaired, where).toBe(undefined);
    } else if ([...limited.values()].some(isOpen)) {
      counts.open++;
      if (repaired !== undefined) counts.openRemedied++;
    } else {
      counts.possible++;
      if (repaired !== undefined) counts.remedied++;
      else missed.push(where);
    }
  }
  console.log(`remedies from seed ${SEED}: ${JSON.stringify(counts)}`);
  const shortest = missed.sort((a, b) => a.length - b.length).slice(0, 3);
  expect(counts.remedied / counts.possible, shortest.join("\n")).toBeGreaterThanOrEqual(0.95);
  expect(counts.impossible).toBeGreaterThan(REFUSALS / 20);
});

/**
 * Returns whether the limits name no value from which a remedy can be made. Then only a repair of the call's own
 * argument can be the remedy.
 */
function isOpen({ in: listed, min, max, not_in, url, items, each }: ArgumentDomain): boolean {
  if (not_in !== undefined) return listed === undefined && min === undefined && max === undefined;
  if (url !== undefined) return url.hosts.every((host) => host.startsWith("."));
  if (each !== undefined) return isOpen(each);
  return (items?.min ?? 0) > 0;
}

/**
 * Returns whether no value satisfies a domain. A path is never a URL, and a prefix may exclude every path in the
 * folder, or every URL.
 */
function isImpossible({ missing, types, path, url, prefix }: ArgumentDomain): boolean {
  if (missing) return false;
  if (types.length === 0 || (path !== undefined && url !== undefined)) return true;
  if (path !== undefined && prefix !== undefined) {
    return !path.startsWith(prefix) && !prefix.startsWith(`${path}/`);
  }
  return (
    url !== undefined && prefix !== undefined && !/^(h|ht|htt|https?|w|wss?)(:|$)/.test(prefix)
  );
}

/**
 * Applies the remedy of every denial, as a program does that has only the JSON. Returns `undefined` if a denial has
 * no remedy.
 */
function repair(call: JsonObject, denials: readonly JsonObject[]): JsonObject | undefined {
  let given = call;
  for (const { remedy } of denials) {
    if (remedy === undefined || !isJsonObject(remedy)) return undefined;
    const names = String(remedy["pointer"])
      .slice(1)
      .split("/")
      .map((one) => one.replaceAll("~1", "/").replaceAll("~0", "~"));
    given = changed(given, names, remedy["kind"] === "set_argument" ? remedy["value"] : undefined);
  }
  return given;
}

function changed(
  holder: JsonObject,
  [name = "", ...inside]: readonly string[],
  value: Json | undefined,
): JsonObject {
  const members = new Map(Object.entries(holder));
  const own = members.get(name) ?? null;
  if (inside.length > 0) {
    if (value === undefined && !isJsonObject(own)) return holder;
    members.set(name, changed(isJsonObject(own) ? own : {}, inside, value));
  } else if (value === undefined) members.delete(name);
  else members.set(name, value);
  return Object.fromEntries(members);
}
