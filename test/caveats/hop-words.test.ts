import { describe, expect, test } from "vitest";
import type { Authority } from "../../src/caveats/authority.js";
import type { Hop } from "../../src/caveats/hop.js";
import { HOP_KEYS, HOP_RULES, overHop, REQUESTED_KEYS } from "../../src/caveats/hop-rules.js";

const HOP: Hop = {
  operations: ["retrieve"],
  resourceHandles: ["rh_a"],
  constraints: { amount: { max: 5 } },
  operationConstraints: { retrieve: { path: { path: "/data" } } },
  arguments: { retrieve: ["path"] },
  expires: "2026-01-01T01:00:00Z",
  notBefore: "2026-01-01T00:00:00Z",
  audience: ["shop"],
  invokers: ["agent"],
  maxFurtherHops: 2,
  purpose: "a summary",
  nonce: "AAAAAAAAAAAAAAAA",
};

test("words() of each hop key describes the value as a set, limits, lists, a time, a count or text", () => {
  expect(overHop(HOP, (rule, value) => rule.words(value))).toEqual([
    { kind: "set", items: ["retrieve"] },
    { kind: "set", items: ["rh_a"] },
    { kind: "limits", limits: { amount: { max: 5 } } },
    { kind: "operation-limits", operations: { retrieve: { path: { path: "/data" } } } },
    { kind: "closed-lists", lists: { retrieve: ["path"] } },
    { kind: "time", time: "2026-01-01T01:00:00Z" },
    { kind: "time", time: "2026-01-01T00:00:00Z" },
    { kind: "set", items: ["shop"] },
    { kind: "set", items: ["agent"] },
    { kind: "count", count: 2 },
    { kind: "text", text: "a summary" },
    { kind: "text", text: "AAAAAAAAAAAAAAAA" },
  ]);
});

describe("the description of what all hops allow for a key", () => {
  const left = (authority: Authority): object =>
    Object.fromEntries(
      HOP_KEYS.flatMap((key) => {
        const words = HOP_RULES[key].left(authority);
        return words === undefined ? [] : [[key, words]];
      }),
    );

  test("is absent if no hop limits the key", () => {
    expect(left({})).toEqual({});
  });

  test("has the same kind as the description of one hop", () => {
    const domains = { amount: { types: ["number"] as const, max: 5 } };
    const { operations, expires, notBefore, audience, invokers, resourceHandles } = HOP;
    const limits = { operations, resourceHandles, expires, notBefore, audience, invokers };
    const paths = { retrieve: { path: { missing: false, types: ["string"], path: "/data" } } };
    const lists = { arguments: { retrieve: ["path"] }, operationConstraints: paths };
    const authority = {
      ...limits,
      ...lists,
      constraints: domains,
      furtherHops: 2,
    } as unknown as Authority;
    expect(left(authority)).toEqual({
      operations: { kind: "set", items: ["retrieve"] },
      resourceHandles: { kind: "set", items: ["rh_a"] },
      constraints: { kind: "domains", domains },
      operationConstraints: { kind: "operation-domains", operations: paths },
      arguments: { kind: "closed-lists", lists: { retrieve: ["path"] } },
      expires: { kind: "time", time: "2026-01-01T01:00:00Z" },
      notBefore: { kind: "time", time: "2026-01-01T00:00:00Z" },
      audience: { kind: "set", items: ["shop"] },
      invokers: { kind: "set", items: ["agent"] },
      maxFurtherHops: { kind: "count", count: 2 },
    });
  });
});

test("HOP_RULES has a label for each hop key, and a flag with help text for each key that the command can set", () => {
  const words = HOP_KEYS.map((key) => {
    const { label, flag } = HOP_RULES[key];
    return [key, label, flag?.kind, flag?.form, flag?.help];
  });
  expect(words).toEqual([
    [
      "operations",
      "operations",
      "list",
      "--op <operation>",
      "an operation that stays allowed; repeat for more, or list them: a,b",
    ],
    [
      "resourceHandles",
      "resources",
      "list",
      "--resource <handle>",
      "a resource that stays allowed; repeat for more",
    ],
    [
      "constraints",
      "argument",
      "limits",
      "--arg <expr>",
      "a limit on an argument, such as 'amount<=1000', 'amount>=1', 'currency in USD,EUR', " +
        "to=acc_456 or 'to not in acc_1,acc_2'; for one operation such as 'pay:amount<=50', " +
        "'read:path under /data', 'send:bcc absent', 'list:?limit<=100', 'pay:/to/iban=DE02', " +
        "'send:to each in a,b', 'send:to items<=3', 'send:subject begins with Report' or " +
        "'fetch:url at https://*.example.com/docs'; for every operation '*:path under /data'; " +
        "repeat for more",
    ],
    ["operationConstraints", "argument of", undefined, undefined, undefined],
    [
      "arguments",
      "only arguments",
      "closed-lists",
      "--only-args <names>",
      "all arguments that calls may have, such as to,amount; for one operation such as pay:to,amount " +
        "or, without any argument, 'ping:'; repeat for more",
    ],
    [
      "expires",
      "expires",
      "moment",
      "--expires <when>",
      "when it ends: a time, or a duration from now",
    ],
    [
      "notBefore",
      "not before",
      "moment",
      "--not-before <when>",
      "not valid until then: a time, or a duration from now",
    ],
    [
      "audience",
      "audience",
      "list",
      "--audience <service>",
      "a service that may accept the token; repeat for more",
    ],
    [
      "invokers",
      "invokers",
      "list",
      "--invoker <agent>",
      "an agent that may use the token; repeat for more",
    ],
    [
      "maxFurtherHops",
      "further hops",
      "count",
      "--max-further-hops <count>",
      "how often the token may be attenuated after this; 0 seals it",
    ],
    [
      "purpose",
      "purpose",
      "text",
      "--purpose <text>",
      "why, in your own words; kept for the audit trail",
    ],
    ["nonce", "nonce", undefined, undefined, undefined],
  ]);
});

test("a capability request may have every hop key except resourceHandles and nonce", () => {
  expect(REQUESTED_KEYS).toEqual(
    HOP_KEYS.filter((key) => key !== "resourceHandles" && key !== "nonce"),
  );
});

test("purpose and nonce leave an authority unchanged", () => {
  expect(
    overHop({ purpose: "a", nonce: "AAAAAAAAAAAAAAAA" }, (rule, value) => rule.meet({}, value, 0)),
  ).toEqual([{}, {}]);
});
