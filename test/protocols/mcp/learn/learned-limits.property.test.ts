import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json, JsonObject } from "../../../../src/bytes/json.js";
import { createIssuer, type Issuer } from "../../../../src/issuer/issuer.js";
import { createKeyring } from "../../../../src/issuer/keyring.js";
import {
  type LearnedHop,
  learnLimits,
  type RecordedCall,
} from "../../../../src/protocols/mcp/learn/learned-limits.js";
import { createRevocationList } from "../../../../src/revocation/list.js";
import { anyCharacter } from "../../../support/any-character.js";
import { sized } from "../../../support/size.js";

const RUNS = sized(3000, 100, 8000);
const issuer: Issuer = createIssuer({
  name: "gate",
  keys: createKeyring(),
  revocations: createRevocationList(),
});

/** Returns a function that judges calls with the issuer and a token that has the learned hop. */
function judgeOf(hop: LearnedHop): (call: RecordedCall) => boolean {
  const { token } = issuer.mint({ grant: "mcp", ...hop });
  return (call) => issuer.authorize(token, { grant: "mcp", ...call }).allowed;
}

const PLACES = [
  "/home/me/a.txt",
  "/home/me/b/c.txt",
  "/home/me/b",
  "/home/you/d.txt",
  "/data/a",
  "/data/b",
  "/etc",
  "/",
  "/data//a",
  "/data/../etc",
  "~/a",
  "./a",
  "C:\\a",
  "file:///home/me/a.txt",
  "https://api.example.com/v1/users",
  "https://api.example.com/v1/teams?q=1",
  "https://api.example.com:8443/v1/",
  "https://other.example/a",
  "http://127.0.0.1:3000/x",
  "demo://resource/1",
  "docs/a",
  "docs/b/c",
  "me@host:/etc/a",
  "me@host:b",
  "report.txt",
] as const;
const NAMES = ["path", "text", "n", "opts", "list", "__proto__", "/odd~name", "", "baseUrl"];
const place: fc.Arbitrary<string> = fc.constantFrom(...PLACES);
const scalar: fc.Arbitrary<Json> = fc.oneof(
  { weight: 4, arbitrary: place },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 6 }) },
  { weight: 2, arbitrary: fc.constantFrom("a", "b", "c", "d", "e") },
  { weight: 2, arbitrary: fc.integer({ min: -9, max: 9 }) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
  { weight: 1, arbitrary: fc.constantFrom(true, false, null) },
  {
    weight: 1,
    arbitrary: fc.constantFrom("x".repeat(200), "two\nlines", "\ud800", "y".repeat(5000)),
  },
);
const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    scalar,
    fc.array(tie("value"), { maxLength: 3 }),
    objectOf(tie("value")),
  ),
}));

function objectOf(member: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  return fc
    .array(fc.tuple(fc.constantFrom(...NAMES), member), { maxLength: 4 })
    .map((members) => Object.fromEntries(members));
}

/** Calls whose arguments of the same name are mostly of the same kind, as in calls of a real tool. */
const alike: fc.Arbitrary<RecordedCall[]> = fc
  .array(
    fc.tuple(
      fc.constantFrom(...NAMES),
      fc.constantFrom<fc.Arbitrary<Json>>(
        fc.constantFrom(...PLACES.slice(0, 3)),
        fc.constantFrom(...PLACES.slice(14, 17)),
        place,
        fc.integer({ min: 0, max: 50 }),
        fc.boolean(),
        fc.constantFrom("a", "b", "c", "d", "e"),
        fc.array(fc.constantFrom(...PLACES.slice(0, 4)), { maxLength: 4 }),
        objectOf(fc.integer()),
        objectOf(place),
        fc.array(objectOf(place), { maxLength: 2 }),
      ),
    ),
    { maxLength: 3 },
  )
  .chain((kinds) =>
    fc.array(
      fc
        .tuple(...kinds.map(([name, kind]) => fc.tuple(fc.constant(name), fc.option(kind))))
        .map((members) => ({
          operation: "alike",
          arguments: Object.fromEntries(members.filter(([, one]) => one !== null)),
        })),
      { minLength: 1, maxLength: 8 },
    ),
  );
const unlike: fc.Arbitrary<RecordedCall[]> = fc.array(
  fc.record({
    operation: fc.constantFrom("read", "write", "*", "", "__proto__", "resources:read"),
    arguments: objectOf(value),
  }),
  { maxLength: 8 },
);
const calls: fc.Arbitrary<RecordedCall[]> = fc.oneof(alike, unlike);

/** Yields copies of a call. In each copy, one place is replaced by a distant place. */
function* elsewhere({ operation, arguments: given }: RecordedCall): Generator<RecordedCall> {
  for (const other of elsewhereIn(given)) {
    if (typeof other === "object" && other !== null && !Array.isArray(other)) {
      yield { operation, arguments: other as JsonObject };
    }
  }
}

function* elsewhereIn(one: Json): Generator<Json> {
  if (typeof one === "string") {
    if (PLACES.some((known) => known === one))
      yield one.includes("://") ? "https://evil.example/" : "/root/.ssh/id";
  } else if (Array.isArray(one)) {
    for (const [at, element] of one.entries()) {
      for (const other of elsewhereIn(element)) yield one.map((old, i) => (i === at ? other : old));
    }
  } else if (typeof one === "object" && one !== null) {
    for (const [name, member] of Object.entries(one)) {
      for (const other of elsewhereIn(member)) {
        yield Object.fromEntries(
          Object.entries(one).map(([key, old]) => [key, key === name ? other : old]),
        );
      }
    }
  }
}

describe("limits learned from calls", () => {
  test("allow every one of the calls, except for operations that are reported as left out", () => {
    let judged = 0;
    fc.assert(
      fc.property(calls, fc.boolean(), (seen, allowBroad) => {
        const { hop, leftOut } = learnLimits(seen, { allowBroad });
        const kept = seen.filter(
          ({ operation }) => !leftOut.some((one) => one.operation === operation),
        );
        if (hop === undefined) expect(kept).toEqual([]);
        else {
          const allows = judgeOf(hop);
          for (const call of kept)
            if (!allows(call)) throw new Error(JSON.stringify({ call, hop }));
          judged += kept.length;
        }
      }),
      { numRuns: RUNS },
    );
    expect(judged).toBeGreaterThan(RUNS);
  });

  test("do not allow a call in which any path or URL is replaced by a distant one", () => {
    let judged = 0;
    fc.assert(
      fc.property(calls, (seen) => {
        const { hop } = learnLimits(seen);
        if (hop === undefined) return;
        const allows = judgeOf(hop);
        for (const call of seen.flatMap((one) => [...elsewhere(one)])) {
          judged++;
          if (allows(call)) throw new Error(JSON.stringify({ call, hop }));
        }
      }),
      { numRuns: RUNS },
    );
    expect(judged).toBeGreaterThan(RUNS);
  });

  test("allow no combination of scheme, host and port that does not occur in the calls", () => {
    const schemes = ["http", "https"];
    const hosts = ["a.example", "b.example"];
    const ports = ["", ":8080", ":8443"];
    const origins = schemes.flatMap((scheme) =>
      hosts.flatMap((host) => ports.map((port) => `${scheme}://${host}${port}`)),
    );
    fc.assert(
      fc.property(fc.uniqueArray(fc.constantFrom(...origins), { minLength: 1 }), (seen) => {
        const call = (url: string): RecordedCall => ({ operation: "get", arguments: { url } });
        const { hop } = learnLimits(
          seen.flatMap((origin) => [call(`${origin}/1`), call(`${origin}/2`)]),
        );
        if (hop === undefined) throw new Error("left out");
        const allows = judgeOf(hop);
        for (const origin of origins)
          expect(allows(call(`${origin}/1`)), origin).toBe(seen.includes(origin));
      }),
      { numRuns: RUNS / 10 },
    );
  });

  test("name no folder as wide as / or /home", () => {
    let folders = 0;
    fc.assert(
      fc.property(calls, (seen) => {
        const { hop } = learnLimits(seen);
        for (const folder of foldersIn(hop?.operationConstraints ?? {})) {
          folders++;
          expect(folder.split("/").length, folder).toBeGreaterThan(2);
        }
      }),
      { numRuns: RUNS },
    );
    expect(folders).toBeGreaterThan(RUNS / 50);
  });

  test("leave out no operation if broad limits are allowed", () => {
    fc.assert(
      fc.property(alike, (seen) => {
        expect(learnLimits(seen, { allowBroad: true }).leftOut).toEqual([]);
      }),
      { numRuns: RUNS },
    );
  });
});

/** Yields the absolute folders in the `path` operators of constraints. */
function* foldersIn(
  constraints: NonNullable<LearnedHop["operationConstraints"]>,
): Generator<string> {
  for (const limit of Object.values(constraints).flatMap((entry) => Object.values(entry))) {
    if (limit === null || typeof limit !== "object") continue;
    for (const folder of [limit.path, limit.each?.path]) {
      if (folder?.startsWith("/") === true) yield folder;
    }
  }
}
