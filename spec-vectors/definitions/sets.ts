import {
  type Ask,
  allowed,
  type CheckSubject,
  type CheckTest,
  hop,
  refused,
} from "./check-test.js";
import type { Flag } from "./notes.js";

/**
 * The four keys of a hop whose value is a set. Each has the part of an invocation that it limits, and its
 * denial code.
 */
const SETS = [
  {
    key: "operations",
    code: "operation_denied",
    ask: (value: string): Ask => ({ operation: value }),
  },
  {
    key: "resourceHandles",
    code: "resource_denied",
    ask: (value: string): Ask => ({ resourceHandles: [value] }),
  },
  { key: "audience", code: "audience_denied", ask: (value: string): Ask => ({ audience: value }) },
  { key: "invokers", code: "invoker_denied", ask: (value: string): Ask => ({ invoker: value }) },
] as const;

type SetKey = (typeof SETS)[number];

const CAFE = "caf\u00e9";
const CAFE_DECOMPOSED = "cafe\u0301";

function of(key: string, members: string): string {
  return `{"${key}":${members}}`;
}

/** Returns the tests for one of these keys. */
function each({ key, code, ask }: SetKey): CheckTest[] {
  const one = of(key, '["a:b"]');
  const denied = `${code}@2`;
  const other = (comment: string, value: string, more: readonly Flag[] = []): CheckTest =>
    refused(`${key}: ${comment}`, ["SetMembership", ...more], hop(one, ask(value)), denied);
  const bad = (comment: string, members: string, more: readonly Flag[] = []): CheckTest =>
    refused(
      `${key}: ${comment}`,
      ["MalformedHop", ...more],
      hop(of(key, members), ask("a:b")),
      "caveat_malformed@2",
    );
  return [
    allowed(`${key}: the only member`, ["Normal", "SetMembership"], hop(one, ask("a:b"))),
    allowed(
      `${key}: the last of three`,
      ["Normal", "SetMembership"],
      hop(of(key, '["a","a:b","b"]'), ask("b")),
    ),
    other("no member", "c"),
    other("the beginning of a member", "a"),
    other("more than a member", "a:b:c"),
    other("another case", "A:B"),
    other("a space behind it", "a:b "),
    other("the empty string", ""),
    other("the member in quotes", '"a:b"'),
    allowed(
      `${key}: the empty string, where it is a member`,
      "SetMembership",
      hop(of(key, '[""]'), ask("")),
    ),
    refused(`${key}: * is no wildcard`, "SetMembership", hop(of(key, '["*"]'), ask("a:b")), denied),
    allowed(
      `${key}: a member beyond ASCII`,
      ["SetMembership", "Unicode"],
      hop(of(key, `["${CAFE}"]`), ask(CAFE)),
    ),
    refused(
      `${key}: another normal form`,
      ["SetMembership", "Unicode"],
      hop(of(key, `["${CAFE}"]`), ask(CAFE_DECOMPOSED)),
      denied,
    ),
    refused(
      `${key}: a letter that folds to a member`,
      ["SetMembership", "Unicode"],
      hop(of(key, '["k"]'), ask("\u212a")),
      denied,
    ),
    bad("an empty set", "[]"),
    bad("the same member twice", '["a:b","a:b"]'),
    bad("members in descending order", '["b","a:b"]'),
    bad("a string in place of a set", '"a:b"', ["TypeConfusion"]),
    bad("null", "null", ["TypeConfusion"]),
    bad("an object", '{"0":"a:b"}', ["TypeConfusion"]),
    bad("a number among the members", '["a:b",1]', ["TypeConfusion"]),
    bad("null among the members", '["a:b",null]', ["TypeConfusion"]),
    bad("a set in the set", '[["a:b"]]', ["TypeConfusion"]),
  ];
}

const H = of("resourceHandles", '["rh_1","rh_2"]');

export const sets: CheckSubject = {
  subject: "sets",
  comment: "Section 5: operations, resourceHandles, audience and invokers",
  tests: [
    ...SETS.flatMap(each),
    allowed(
      "members in ascending order of UTF-16 code units",
      ["SetMembership", "Unicode"],
      hop(of("operations", '["\u{1f600}","\ufb33"]'), { operation: "\ufb33" }),
    ),
    refused(
      "members in ascending order of code points",
      ["MalformedHop", "Unicode"],
      hop(of("operations", '["\ufb33","\u{1f600}"]'), { operation: "\ufb33" }),
      "caveat_malformed@2",
    ),
    allowed(
      "upper case sorts before lower case",
      "SetMembership",
      hop(of("operations", '["B","a"]'), { operation: "a" }),
    ),
    refused(
      "sorted without regard to case",
      "MalformedHop",
      hop(of("operations", '["a","B"]'), { operation: "a" }),
      "caveat_malformed@2",
    ),
    allowed(
      "a string sorts before what begins with it",
      "SetMembership",
      hop(of("operations", '["a","a!"]'), { operation: "a" }),
    ),
    refused(
      "sorted by JSON text instead of by string",
      "MalformedHop",
      hop(of("operations", '["a!","a"]'), { operation: "a" }),
      "caveat_malformed@2",
    ),
    allowed(
      "digits sort as text",
      "SetMembership",
      hop(of("operations", '["10","9"]'), { operation: "9" }),
    ),
    refused(
      "digits sorted as numbers",
      "MalformedHop",
      hop(of("operations", '["9","10"]'), { operation: "9" }),
      "caveat_malformed@2",
    ),
    allowed(
      "both handles of two",
      ["Normal", "SetMembership"],
      hop(H, { resourceHandles: ["rh_2", "rh_1"] }),
    ),
    allowed("a handle named twice", "SetMembership", hop(H, { resourceHandles: ["rh_1", "rh_1"] })),
    refused(
      "one handle of two",
      "SetMembership",
      hop(H, { resourceHandles: ["rh_1", "rh_3"] }),
      "resource_denied@2",
    ),
    refused(
      "no handle named, where the hop names some",
      "MissingValue",
      hop(H),
      "resource_denied@2",
    ),
    refused(
      "an empty list of handles",
      "MissingValue",
      hop(H, { resourceHandles: [] }),
      "resource_denied@2",
    ),
    allowed(
      "handles named, where no hop names any",
      "SetMembership",
      hop('{"purpose":"x"}', { resourceHandles: ["rh_9"] }),
    ),
    refused(
      "no audience known",
      "MissingValue",
      hop(of("audience", '["documents-agent"]')),
      "audience_denied@2",
    ),
    refused(
      "no invoker authenticated",
      "MissingValue",
      hop(of("invokers", '["agent:a"]')),
      "invoker_denied@2",
    ),
    refused(
      "no invoker, where undefined and null are members",
      ["MissingValue", "TypeConfusion"],
      hop(of("invokers", '["null","undefined"]')),
      "invoker_denied@2",
    ),
    refused(
      "an operation named like an object's own method",
      ["SetMembership", "ObjectPrototype"],
      hop(of("operations", '["retrieve"]'), { operation: "toString" }),
      "operation_denied@2",
    ),
    refused(
      "an operation called __proto__",
      ["SetMembership", "ObjectPrototype"],
      hop(of("operations", '["retrieve"]'), { operation: "__proto__" }),
      "operation_denied@2",
    ),
  ],
};
