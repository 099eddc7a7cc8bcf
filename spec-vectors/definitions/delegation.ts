import { third } from "../build/chain.js";
import { allowed, type CheckSubject, type CheckTest, EXPIRES, hop, refused } from "./check-test.js";
import type { Flag } from "./notes.js";

const PURPOSE = '{"purpose":"x"}';
const NAMES = ["operations", "resourceHandles", "constraints", "expires", "notBefore", "audience"];

/** Returns a hop with `maxFurtherHops`, followed by this many other hops. */
function followed(count: string, hops: number): { links: string[] } {
  return { links: [EXPIRES, `{"maxFurtherHops":${count}}`, ...Array<string>(hops).fill(PURPOSE)] };
}

function noCount(comment: string, value: string, flag: Flag = "NumberEdge"): CheckTest {
  return refused(
    `maxFurtherHops: ${comment}`,
    ["MalformedHop", flag],
    followed(value, 0),
    "caveat_malformed@2",
  );
}

function noNonce(comment: string, value: string): CheckTest {
  return refused(
    `nonce: ${comment}`,
    "MalformedHop",
    hop(`{"nonce":${value}}`),
    "caveat_malformed@2",
  );
}

function unknown(comment: string, text: string): CheckTest {
  return refused(comment, "UnknownRestriction", hop(text), "caveat_unknown@2");
}

const ASK = third("ask");
const ASKED = [{ of: ASK }];
const ALICE = '{"invokers":["agent:alice"]}';
const BOB = '{"invokers":["agent:bob"]}';

export const delegation: CheckSubject = {
  subject: "delegation",
  comment: "Section 5: maxFurtherHops, purpose and nonce; keys that are not defined",
  tests: [
    allowed("0 at the end of the chain", "Delegation", followed("0", 0)),
    refused(
      "0 with one hop behind it: sealed",
      ["Delegation", "SpecExample"],
      followed("0", 1),
      "too_many_hops@2",
    ),
    refused("0 with two hops behind it", "Delegation", followed("0", 2), "too_many_hops@2"),
    allowed("2 with two hops behind it", "Delegation", followed("2", 2)),
    refused("2 with three hops behind it", "Delegation", followed("2", 3), "too_many_hops@2"),
    allowed("31 in the first hop of 32", ["Delegation", "Limit"], {
      links: [
        '{"expires":"2026-01-01T01:00:00Z","maxFurtherHops":31}',
        ...Array<string>(31).fill(PURPOSE),
      ],
    }),
    refused(
      "30 in the first hop of 32",
      ["Delegation", "Limit"],
      {
        links: [
          '{"expires":"2026-01-01T01:00:00Z","maxFurtherHops":30}',
          ...Array<string>(31).fill(PURPOSE),
        ],
      },
      "too_many_hops@1",
    ),
    refused(
      "a later hop allows more: the first one counts too",
      ["Delegation", "Escalation"],
      { links: [EXPIRES, '{"maxFurtherHops":1}', '{"maxFurtherHops":9}', PURPOSE] },
      "too_many_hops@2",
    ),
    refused(
      "two hops that are both passed",
      ["Delegation", "AllReported"],
      { links: [EXPIRES, '{"maxFurtherHops":1}', '{"maxFurtherHops":0}', PURPOSE] },
      "too_many_hops@2",
      "too_many_hops@3",
    ),
    refused(
      "a third-party caveat is a link too",
      ["Delegation", "Discharge"],
      { links: [EXPIRES, '{"maxFurtherHops":0}', ASK], discharges: ASKED },
      "too_many_hops@2",
    ),
    allowed("hops of a discharge are not links of the token", ["Delegation", "Discharge"], {
      links: [EXPIRES, ASK, '{"maxFurtherHops":0}'],
      discharges: [{ of: ASK, links: [PURPOSE, PURPOSE] }],
    }),
    refused(
      "a discharge's own chain counts for its own hop",
      ["Delegation", "Discharge"],
      {
        links: [EXPIRES, ASK],
        discharges: [{ of: ASK, links: ['{"maxFurtherHops":0}', PURPOSE] }],
      },
      "too_many_hops@1/1",
    ),
    allowed("2^53 - 1", ["Delegation", "NumberEdge"], followed("9007199254740991", 1)),
    noCount("2^53", "9007199254740992"),
    noCount("2^53 + 2", "9007199254740994"),
    noCount("1e+21", "1e+21"),
    noCount("1e+308", "1e+308"),
    noCount("-1", "-1"),
    noCount("-0", "-0", "CanonicalForm"),
    noCount("0.5", "0.5"),
    noCount("a string", '"1"', "TypeConfusion"),
    noCount("true", "true", "TypeConfusion"),
    noCount("null", "null", "TypeConfusion"),
    noCount("a list", "[1]", "TypeConfusion"),
    noCount("a range", '{"max":1}', "TypeConfusion"),
    allowed("purpose: any text", "Normal", hop('{"purpose":"summarize \\"the\\" report"}')),
    allowed("purpose: empty", "Normal", hop('{"purpose":""}')),
    allowed(
      "purpose: looks like a hop",
      "Normal",
      hop('{"purpose":"{\\"operations\\":[\\"none\\"]}"}'),
    ),
    refused(
      "purpose: a number",
      ["MalformedHop", "TypeConfusion"],
      hop('{"purpose":1}'),
      "caveat_malformed@2",
    ),
    refused(
      "purpose: null",
      ["MalformedHop", "TypeConfusion"],
      hop('{"purpose":null}'),
      "caveat_malformed@2",
    ),
    refused(
      "purpose: a list",
      ["MalformedHop", "TypeConfusion"],
      hop('{"purpose":["x"]}'),
      "caveat_malformed@2",
    ),
    allowed("nonce: 16 characters", "Normal", hop('{"nonce":"AAAAAAAAAAAAAAAA"}')),
    allowed("nonce: every kind of character", "Normal", hop('{"nonce":"Az09-_Az09-_Az09"}')),
    allowed("nonce: the same in two hops", "Normal", {
      links: [EXPIRES, '{"nonce":"AAAAAAAAAAAAAAAA"}', '{"nonce":"AAAAAAAAAAAAAAAA"}'],
    }),
    noNonce("15 characters", '"AAAAAAAAAAAAAAA"'),
    noNonce("17 characters", '"AAAAAAAAAAAAAAAAA"'),
    noNonce("empty", '""'),
    noNonce("standard base64", '"AAAAAAAAAAAAAA+/"'),
    noNonce("padding", '"AAAAAAAAAAAAAA=="'),
    noNonce("a newline behind it", '"AAAAAAAAAAAAAAAA\\n"'),
    noNonce("letters in full width", `"${"\uff21".repeat(16)}"`),
    noNonce("a number", "1000000000000000"),
    noNonce("null", "null"),
    unknown("cnf, which is reserved", '{"cnf":{"jkt":"x"}}'),
    unknown("handover, which is reserved", '{"handover":"agent:b"}'),
    unknown("a key of another vocabulary", '{"scope":"documents:read"}'),
    unknown("a key that grants", '{"grant":"documents:write"}'),
    unknown("a key that asserts who is asking", '{"principal":"user:bob"}'),
    unknown("the version", '{"v":1}'),
    unknown("an empty key", '{"":1}'),
    unknown("__proto__", '{"__proto__":{"operations":["retrieve"]}}'),
    unknown("constructor", '{"constructor":1}'),
    unknown("a known key beside an unknown one", '{"operations":["retrieve"],"operationz":["x"]}'),
    unknown("an unknown key whose value is null", '{"note":null}'),
    ...NAMES.map((name) =>
      unknown(
        `${name} in another case`,
        `{"${name.charAt(0).toUpperCase()}${name.slice(1)}":["retrieve"]}`,
      ),
    ),
    refused(
      "an unknown key and a malformed one",
      ["UnknownRestriction", "AllReported"],
      hop('{"cnf":{},"expires":"soon"}'),
      "caveat_unknown@2",
      "caveat_malformed@2",
    ),
    refused(
      "an unreadable hop is not judged, though it would refuse",
      "UnknownRestriction",
      hop('{"cnf":{},"operations":["search"]}'),
      "caveat_unknown@2",
    ),
    refused(
      "the issuer's own hop with an unknown key: its expiry does not count",
      ["UnknownRestriction", "AllReported"],
      { links: ['{"cnf":{},"expires":"2026-01-01T01:00:00Z"}'] },
      "caveat_unknown@1",
      "expiry_missing",
    ),
    allowed("bound to an agent, and used by it", "Delegation", {
      links: [EXPIRES, ALICE],
      ask: { invoker: "agent:alice" },
    }),
    refused(
      "bound to an agent, then handed on to another: the first one is refused",
      ["Delegation", "Escalation"],
      { links: [EXPIRES, ALICE, BOB], ask: { invoker: "agent:alice" } },
      "invoker_denied@3",
    ),
    refused(
      "bound to an agent, then handed on to another: so is the second",
      ["Delegation", "Escalation"],
      { links: [EXPIRES, ALICE, BOB], ask: { invoker: "agent:bob" } },
      "invoker_denied@2",
    ),
  ],
};
