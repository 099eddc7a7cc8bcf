import { describe, expect, test } from "vitest";
import { overreaches } from "../../src/caveats/attenuation.js";
import type { ArgumentConstraint, Hop, UrlLimit } from "../../src/caveats/hop.js";
import type { Overreach } from "../../src/caveats/hop-rule.js";
import { meetOf } from "../../src/caveats/meet.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";

/** Returns a hop that limits the argument `x` of the operation `get`. */
function limiting(x: ArgumentConstraint): Hop {
  return normalizeHop({ operationConstraints: { get: { x } } });
}

/** Returns the lint's findings when a hop's limit on an argument is appended to the token's limit. */
function lint(token: ArgumentConstraint, hop: ArgumentConstraint): readonly Overreach[] {
  return overreaches(meetOf([[limiting(token)]]), limiting(hop));
}

const RULE = "operationConstraints.get.x";

const url = (parts: Partial<UrlLimit>): ArgumentConstraint => ({
  url: { schemes: ["https"], hosts: ["a.example"], ...parts },
});

describe("attenuation accepts a limit on an argument", () => {
  test.each<[string, ArgumentConstraint, ArgumentConstraint]>([
    ["with one of the values of a list", { in: ["a", "b"] }, "a"],
    ["with null, which a list has", { in: [null, "a"] }, null],
    ["with the greatest number still allowed as the value", { max: 10 }, 10],
    ["with the least number still allowed as both bounds", { min: 1, max: 10 }, { min: 1, max: 1 }],
    [
      "with the greatest number still allowed as both bounds",
      { min: 1, max: 10 },
      { min: 10, max: 10 },
    ],
    [
      "with bounds from the least to the greatest number of a list",
      { in: [1, 5] },
      { min: 1, max: 5 },
    ],
    ["with the same folder", { path: "/data" }, { path: "/data" }],
    ["with a folder beside a prefix", { prefix: "data" }, { path: "data/a" }],
    ["with a prefix beside a folder", { path: "data" }, { prefix: "data/a" }],
    ["with a longer prefix", { prefix: "DE" }, { prefix: "DE02" }],
    ["with a URL beside a prefix", { prefix: "ht" }, url({})],
    ["with a prefix beside a URL", url({}), { prefix: "https" }],
    [
      "with the number of elements at both ends of the interval",
      { items: { min: 1, max: 3 } },
      { items: { min: 1, max: 3 } },
    ],
    [
      "with the number of elements within the interval",
      { items: { min: 1, max: 4 } },
      { items: { min: 2, max: 3 } },
    ],
    [
      "with a number of elements where the token limits only the elements",
      { each: { max: 5 } },
      { items: { max: 3 } },
    ],
    [
      "with limits on elements where the token limits only their number",
      { items: { max: 5 } },
      { each: { max: 3 } },
    ],
    ["with a narrower limit on elements", { each: { max: 5 } }, { each: { max: 4 } }],
    ["with another operator on elements", { each: { max: 5 } }, { each: { min: 4 } }],
    [
      "with a limit on elements that only the empty array satisfies",
      { each: { in: ["a"] } },
      { each: { prefix: "b" } },
    ],
    [
      "with one of several suffixes that has the host",
      url({ hosts: [".b.example", ".example"] }),
      url({ hosts: ["c.example"] }),
    ],
    ["with a folder of a URL where the token has none", url({}), url({ path: "/v1" })],
    ["without a folder of a URL where the token has one", url({ path: "/v1" }), url({})],
    [
      "without ports, where the token names the default port",
      url({ ports: ["443", "8443"] }),
      url({}),
    ],
    ["with the default port, where the token names no port", url({}), url({ ports: ["443"] })],
    ["with one of the ports", url({ ports: ["443", "8443"] }), url({ ports: ["8443"] })],
  ])("%s", (_, token, hop) => {
    expect(lint(token, hop)).toEqual([]);
  });
});

describe("attenuation refuses a limit on an argument that goes beyond the token", () => {
  type Row = readonly [
    title: string,
    token: ArgumentConstraint,
    hop: ArgumentConstraint,
    below: string,
    rest: Omit<Overreach, "rule" | "message">,
    why: string,
  ];
  test.each<Row>([
    [
      "with a misspelt value",
      { in: ["EUR", "USD"] },
      "USDT",
      "",
      { value: "USDT", allowed: { in: ["EUR", "USD"] }, nearest: "USD" },
      'still allowed: {"in":["EUR","USD"]}; did you mean "USD"?',
    ],
    [
      "with a misspelt member of a list",
      { in: ["EUR", "USD"] },
      { in: ["EUR", "USDT"] },
      ".in",
      { value: "USDT", allowed: { in: ["EUR", "USD"] }, nearest: "USD" },
      'still allowed: {"in":["EUR","USD"]}; did you mean "USD"?',
    ],
    [
      "with null",
      { in: ["EUR", "USD"] },
      null,
      "",
      { value: null, allowed: { in: ["EUR", "USD"] } },
      'still allowed: {"in":["EUR","USD"]}',
    ],
    [
      "with a number above the greatest",
      { max: 10 },
      11,
      "",
      { value: 11, allowed: { max: 10 }, nearest: 10 },
      'still allowed: {"max":10}',
    ],
    [
      "with a value of an argument that must be left out",
      { absent: true },
      "a",
      "",
      { value: "a", allowed: { absent: true } },
      'still allowed: {"absent":true}',
    ],
    [
      "with a greatest number that is too high",
      { min: 1, max: 10 },
      { max: 11 },
      ".max",
      { value: 11, allowed: { max: 10, min: 1 }, nearest: 10 },
      'still allowed: {"min":1,"max":10}',
    ],
    [
      "with a least number that is too low",
      { min: 1, max: 10 },
      { min: 0 },
      ".min",
      { value: 0, allowed: { max: 10, min: 1 }, nearest: 1 },
      'still allowed: {"min":1,"max":10}',
    ],
    [
      "with a least number above the greatest of a list",
      { in: [1, 5] },
      { min: 6 },
      ".min",
      { value: 6, allowed: { in: [1, 5] }, nearest: 5 },
      'still allowed: {"in":[1,5]}',
    ],
    [
      "with a greatest number below the least of a list",
      { in: [1, 5] },
      { max: 0 },
      ".max",
      { value: 0, allowed: { in: [1, 5] }, nearest: 1 },
      'still allowed: {"in":[1,5]}',
    ],
    [
      "with another folder",
      { path: "/data" },
      { path: "/etc" },
      ".path",
      { value: "/etc", allowed: { path: "/data" }, nearest: "/data" },
      'still allowed: {"path":"/data"}',
    ],
    [
      "with a prefix that ends with the token's prefix",
      { prefix: "ab" },
      { prefix: "cab" },
      ".prefix",
      { value: "cab", allowed: { prefix: "ab" }, nearest: "ab" },
      'still allowed: {"prefix":"ab"}',
    ],
    [
      "with a shorter prefix",
      { prefix: "ab" },
      { prefix: "a" },
      ".prefix",
      { value: "a", allowed: { prefix: "ab" }, nearest: "ab" },
      'still allowed: {"prefix":"ab"}',
    ],
    [
      "with too many elements",
      { items: { min: 1, max: 3 } },
      { items: { max: 4 } },
      ".items.max",
      { value: 4, allowed: { items: { min: 1, max: 3 } }, nearest: 3 },
      'still allowed: {"items":{"min":1,"max":3}}',
    ],
    [
      "with too few elements",
      { items: { min: 1, max: 3 } },
      { items: { min: 0 } },
      ".items.min",
      { value: 0, allowed: { items: { min: 1, max: 3 } }, nearest: 1 },
      'still allowed: {"items":{"min":1,"max":3}}',
    ],
    [
      "with a wider limit on elements",
      { each: { max: 5 } },
      { each: { max: 6 } },
      ".each.max",
      { value: 6, allowed: { max: 5 }, nearest: 5 },
      'still allowed: {"max":5}',
    ],
    [
      "with another folder for elements",
      { each: { path: "/data" } },
      { each: { path: "/etc" } },
      ".each.path",
      { value: "/etc", allowed: { path: "/data" }, nearest: "/data" },
      'still allowed: {"path":"/data"}',
    ],
    [
      "with another host",
      url({ hosts: [".b.example", "a.example"] }),
      url({ hosts: ["c.example"] }),
      ".url.hosts",
      {
        value: "c.example",
        allowed: { url: { hosts: [".b.example", "a.example"], schemes: ["https"] } },
      },
      'still allowed: {"url":{"hosts":[".b.example","a.example"],"schemes":["https"]}}',
    ],
    [
      "with another scheme",
      url({}),
      url({ schemes: ["http"] }),
      ".url.schemes",
      { value: "http", allowed: { url: { hosts: ["a.example"], schemes: ["https"] } } },
      'still allowed: {"url":{"hosts":["a.example"],"schemes":["https"]}}',
    ],
    [
      "with a port, where the token names no port",
      url({}),
      url({ ports: ["8443"] }),
      ".url.ports",
      { value: "8443", allowed: { url: { hosts: ["a.example"], schemes: ["https"] } } },
      'still allowed: {"url":{"hosts":["a.example"],"schemes":["https"]}}',
    ],
    [
      "without ports, where the token names only another port",
      url({ ports: ["8443"] }),
      url({}),
      ".url.ports",
      {
        value: "443",
        allowed: { url: { hosts: ["a.example"], ports: ["8443"], schemes: ["https"] } },
      },
      'still allowed: {"url":{"hosts":["a.example"],"ports":["8443"],"schemes":["https"]}}',
    ],
    [
      "with another folder of a URL",
      url({ path: "/v1" }),
      url({ path: "/v2" }),
      ".url.path",
      { value: "/v2", allowed: { url: { hosts: ["a.example"], path: "/v1", schemes: ["https"] } } },
      'still allowed: {"url":{"hosts":["a.example"],"path":"/v1","schemes":["https"]}}',
    ],
  ])("%s", (_, token, hop, below, rest, why) => {
    expect(lint(token, hop)).toEqual([
      {
        rule: `${RULE}${below}`,
        ...rest,
        message: `"${RULE}${below}": ${JSON.stringify(rest.value)} goes beyond the token; ${why}`,
      },
    ]);
  });
});

describe("attenuation refuses a limit on an argument that would leave no value", () => {
  test.each<[string, ArgumentConstraint, ArgumentConstraint, string]>([
    [
      "for strings, if the token allows only numbers",
      { max: 5 },
      { prefix: "a" },
      '{"prefix":"a"} would leave no value; still allowed: {"max":5}',
    ],
    [
      "with a prefix that a list does not have",
      { in: ["ab", "ac"] },
      { prefix: "b" },
      '{"prefix":"b"} would leave no value; still allowed: {"in":["ab","ac"]}',
    ],
    [
      "for a single value, if the token allows only arrays",
      { items: { max: 3 } },
      { not_in: ["a"] },
      '{"not_in":["a"]} would leave no value; still allowed: {"items":{"max":3}}',
    ],
    [
      "that requires the argument, if the token requires its absence",
      { absent: true },
      { max: 5 },
      '{"max":5} would leave no value; still allowed: {"absent":true}',
    ],
  ])("%s", (_, token, hop, message) => {
    expect(lint(token, hop).map((one) => one.message)).toEqual([`"${RULE}": ${message}`]);
  });

  test("because the limit contradicts itself, if the token does not limit the argument", () => {
    const hop = limiting({ min: 2, max: 1 });
    expect(overreaches({}, hop)).toEqual([
      {
        rule: RULE,
        value: { max: 1, min: 2 },
        allowed: null,
        message: `"${RULE}": {"max":1,"min":2} would leave no value`,
      },
    ]);
  });

  test("because all its values are beyond the token, and gives a reason for each value", () => {
    expect(
      lint({ in: ["a", "b"] }, { in: ["x", "y"] }).map(({ rule, value }) => [rule, value]),
    ).toEqual([
      [`${RULE}.in`, "x"],
      [`${RULE}.in`, "y"],
    ]);
  });
});
