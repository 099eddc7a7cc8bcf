import { describe, expect, test } from "vitest";
import type { ArgumentDomain } from "../../src/caveats/domain.js";
import type { ArgumentConstraint, Hop, UrlLimit } from "../../src/caveats/hop.js";
import { meetOf } from "../../src/caveats/meet.js";
import { authorityOver, leftOfArgument } from "../../src/caveats/operation-authority.js";
import { normalizeHop } from "../../src/caveats/write-hop.js";

/** Returns a hop that limits the argument `x` of the operation `get`. */
function limiting(x: ArgumentConstraint): Hop {
  return normalizeHop({ operationConstraints: { get: { x } } });
}

/** Returns the domain that a chain with these limits on one argument leaves for that argument. */
function left(...limits: readonly ArgumentConstraint[]): ArgumentDomain {
  return leftOfArgument(authorityOver("get", meetOf([limits.map(limiting)])), "x");
}

type Rest = Omit<ArgumentDomain, "missing">;
type Row = readonly [title: string, a: ArgumentConstraint, b: ArgumentConstraint, both: Rest];

/** Tests each row in both orders, since the order of hops does not matter. */
function meets(rows: readonly Row[]): void {
  test.each(rows)("two limits leave %s", (_, a, b, both) => {
    expect(left(a, b)).toEqual({ missing: false, ...both });
    expect(left(b, a)).toEqual({ missing: false, ...both });
  });
}

const NOTHING: Rest = { types: [] };

describe("limits on an argument:", () => {
  meets([
    [
      "the deeper of two folders",
      { path: "/data" },
      { path: "/data/a" },
      { types: ["string"], path: "/data/a" },
    ],
    ["nothing, if neither folder is in the other", { path: "/data" }, { path: "/etc" }, NOTHING],
    [
      "the longer of two prefixes",
      { prefix: "DE" },
      { prefix: "DE02" },
      { types: ["string"], prefix: "DE02" },
    ],
    [
      "the same prefix, if both are equal",
      { prefix: "DE" },
      { prefix: "DE" },
      { types: ["string"], prefix: "DE" },
    ],
    [
      "nothing, if neither prefix begins with the other",
      { prefix: "DE" },
      { prefix: "FR" },
      NOTHING,
    ],
    [
      "nothing, if one prefix only ends with the other",
      { prefix: "02" },
      { prefix: "DE02" },
      NOTHING,
    ],
    [
      "both, if one is a folder and the other one a prefix",
      { path: "data" },
      { prefix: "data/a" },
      { types: ["string"], path: "data", prefix: "data/a" },
    ],
    ["nothing, if one is a folder and the other one a bound", { path: "/a" }, { max: 5 }, NOTHING],
    [
      "nothing, if one is a folder and the other one for arrays",
      { path: "/a" },
      { each: { path: "/a" } },
      NOTHING,
    ],
    [
      "nothing, if one is a bound and the other one for arrays",
      { max: 5 },
      { items: { max: 5 } },
      NOTHING,
    ],
    [
      "nothing, if one is a URL and the other one the value null",
      { url: { schemes: ["https"], hosts: ["a.example"] } },
      null,
      NOTHING,
    ],
    [
      "the members of a list that are in the folder, in the strict form of a path",
      { path: "/data" },
      { in: ["/data/a", "/data/b", "/data/../c", "/data/d/", "/etc/a"] },
      { types: ["string"], in: ["/data/a", "/data/b"] },
    ],
    [
      "the members of a list that have the prefix",
      { prefix: "DE" },
      { in: ["02DE", "DE02", "FR14", 7, null, true] },
      { types: ["string"], in: ["DE02"] },
    ],
    [
      "the members of a list that are allowed URLs",
      { url: { schemes: ["https"], hosts: ["a.example"] } },
      { in: ["https://a.example/x", "https://a.example", "https://b.example/x"] },
      { types: ["string"], in: ["https://a.example/x"] },
    ],
    [
      "the whole list, if all its members have the prefix",
      { prefix: "DE" },
      { in: ["DE02", "DE03"] },
      { types: ["string"], in: ["DE02", "DE03"] },
    ],
    [
      "nothing, if no member of a list has the prefix",
      { prefix: "DE" },
      { in: ["FR14", "GB7"] },
      NOTHING,
    ],
    [
      "nothing, if no string of a list has the prefix",
      { prefix: "DE" },
      { in: ["FR14", 7] },
      NOTHING,
    ],
    [
      "the common members of two lists, of any type",
      { in: [null, "a", true, 7] },
      { in: [null, "b", true, 7] },
      { types: ["boolean", "null", "number"], in: [7, null, true] },
    ],
    [
      "the members of a list that are short enough to be judged",
      { in: ["a", "b".repeat(4097)] },
      { in: ["a", "b".repeat(4097), 1] },
      { types: ["string"], in: ["a"] },
    ],
    [
      "a prefix with the values that are excluded",
      { prefix: "DE" },
      { not_in: ["DE02"] },
      { types: ["string"], not_in: ["DE02"], prefix: "DE" },
    ],
  ]);
});

describe("limits on arrays:", () => {
  meets([
    [
      "the common interval of the number of elements",
      { items: { min: 1, max: 5 } },
      { items: { min: 2, max: 9 } },
      { types: ["array"], items: { min: 2, max: 5 } },
    ],
    [
      "one number of elements, if the intervals touch",
      { items: { min: 2 } },
      { items: { max: 2 } },
      { types: ["array"], items: { min: 2, max: 2 } },
    ],
    ["nothing, if the intervals are apart", { items: { min: 3 } }, { items: { max: 2 } }, NOTHING],
    [
      "at most 256 elements, if only their least number is limited",
      { items: { min: 1 } },
      { items: { min: 1 } },
      { types: ["array"], items: { min: 1, max: 256 } },
    ],
    [
      "at least 0 elements, if only their greatest number is limited",
      { items: { max: 255 } },
      { items: { max: 255 } },
      { types: ["array"], items: { min: 0, max: 255 } },
    ],
    [
      "every array, if the bounds exclude none",
      { items: { min: 0 } },
      { items: { max: 256 } },
      { types: ["array"] },
    ],
    [
      "what both allow for elements",
      { each: { max: 5 } },
      { each: { min: 1 } },
      { types: ["array"], each: { missing: false, types: ["number"], min: 1, max: 5 } },
    ],
    [
      "the limit on elements beside that on their number",
      { each: { prefix: "a" } },
      { items: { min: 1, max: 3 } },
      {
        types: ["array"],
        each: { missing: false, types: ["string"], prefix: "a" },
        items: { min: 1, max: 3 },
      },
    ],
    [
      "arrays as elements, with the common interval",
      { each: { items: { min: 1 } } },
      { each: { items: { max: 4 } } },
      {
        types: ["array"],
        each: { missing: false, types: ["array"], items: { min: 1, max: 4 } },
      },
    ],
    [
      "only the empty array, if nothing is allowed for elements",
      { each: { in: ["a"] } },
      { each: { in: ["b"] } },
      { types: ["array"], items: { min: 0, max: 0 } },
    ],
    [
      "nothing, if nothing is allowed for elements and one is required",
      { each: { in: ["a"] }, items: { min: 1 } },
      { each: { in: ["b"] } },
      NOTHING,
    ],
    [
      "only the empty array, without a limit on elements, if there must be none",
      { each: { in: ["a"] } },
      { items: { max: 0 } },
      { types: ["array"], items: { min: 0, max: 0 } },
    ],
  ]);
});

describe("limits on URLs:", () => {
  const url = (parts: Partial<UrlLimit>): ArgumentConstraint => ({
    url: { schemes: ["https"], hosts: ["a.example"], ...parts },
  });
  const both = (parts: Partial<UrlLimit>): Rest => ({
    types: ["string"],
    url: { schemes: ["https"], hosts: ["a.example"], ...parts },
  });
  meets([
    ["the same limit, if both are equal", url({}), url({}), both({})],
    [
      "the schemes that both have",
      url({ schemes: ["http", "https"] }),
      url({ schemes: ["https", "wss"] }),
      both({ schemes: ["https"] }),
    ],
    ["nothing, if they share no scheme", url({}), url({ schemes: ["http"] }), NOTHING],
    [
      "a host below the suffix of the other one",
      url({ hosts: [".example"] }),
      url({ hosts: ["a.example", "b.org"] }),
      both({ hosts: ["a.example"] }),
    ],
    [
      "the longer of two suffixes",
      url({ hosts: [".example"] }),
      url({ hosts: [".a.example"] }),
      both({ hosts: [".a.example"] }),
    ],
    [
      "every host once, in order",
      url({ hosts: [".b.example", ".example", "z.example"] }),
      url({ hosts: ["a.example", "c.b.example", "z.example"] }),
      both({ hosts: ["a.example", "c.b.example", "z.example"] }),
    ],
    ["nothing, if they share no host", url({}), url({ hosts: ["b.example"] }), NOTHING],
    [
      "nothing, if one names a host and the other one only the hosts below that host",
      url({}),
      url({ hosts: [".a.example"] }),
      NOTHING,
    ],
    [
      "the ports that both have",
      url({ ports: ["443", "8443"] }),
      url({ ports: ["8443", "9443"] }),
      both({ ports: ["8443"] }),
    ],
    ["nothing, if they share no port", url({ ports: ["8443"] }), url({ ports: ["9443"] }), NOTHING],
    [
      "the default port, if only one of them names ports, which include it",
      url({ ports: ["443", "8443"] }),
      url({}),
      both({}),
    ],
    [
      "the schemes whose default port is named, if only one of them names ports",
      url({ schemes: ["http", "https"], ports: ["443"] }),
      url({ schemes: ["http", "https"] }),
      both({}),
    ],
    [
      "nothing, if only one of them names ports, without the default one",
      url({ ports: ["8443"] }),
      url({}),
      NOTHING,
    ],
    [
      "the folder, if only one of them has one",
      url({ path: "/v1" }),
      url({}),
      both({ path: "/v1" }),
    ],
    [
      "the deeper of two folders",
      url({ path: "/v1" }),
      url({ path: "/v1/a" }),
      both({ path: "/v1/a" }),
    ],
    [
      "nothing, if neither folder is in the other",
      url({ path: "/v1" }),
      url({ path: "/v2" }),
      NOTHING,
    ],
  ]);
});
