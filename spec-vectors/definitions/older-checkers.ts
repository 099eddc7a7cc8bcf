import { third } from "../build/chain.js";
import { closed, entry, own } from "./argument-parts.js";
import {
  type Ask,
  allowed,
  type CheckSubject,
  type CheckTest,
  EXPIRES,
  hop,
  olderAnswers,
  refused,
} from "./check-test.js";

/** Defines a test of a call that this version allows, but version 1 of the specification refuses. */
function only(comment: string, text: string, ask: Ask, older: string): CheckTest {
  return olderAnswers(allowed(comment, "OlderChecker", hop(text, ask)), older);
}

const ASKED = third("ask version 1");

export const olderCheckers: CheckSubject = {
  subject: "what a checker of version 1 answers",
  comment: "Section 11: it refuses every key and operator that it does not know, and says so",
  tests: [
    only("an exact value", own("1"), { arguments: { n: 1 } }, "caveat_unknown@2"),
    only("a bound", own('{"max":5}'), { arguments: { n: 1 } }, "caveat_unknown@2"),
    only("a folder", own('{"path":"/data"}'), { arguments: { n: "/data" } }, "caveat_unknown@2"),
    only("an absent argument", own('{"absent":true}'), {}, "caveat_unknown@2"),
    only("a pointer", entry('{"/a/b":1}'), { arguments: { a: { b: 1 } } }, "caveat_unknown@2"),
    only(
      "an entry that does not apply",
      '{"operationConstraints":{"other":{"n":1}}}',
      {},
      "caveat_unknown@2",
    ),
    only("a closed list", closed('["a"]'), { arguments: { a: 1 } }, "caveat_unknown@2"),
    only("an empty closed list", closed("[]"), {}, "caveat_unknown@2"),
    only(
      "a list, which nests five deep",
      own('{"in":["a","b"]}'),
      { arguments: { n: "a" } },
      "token_too_large",
    ),
    only(
      "each, which nests five deep",
      own('{"each":{"max":5}}'),
      { arguments: { n: [1] } },
      "token_too_large",
    ),
    only(
      "a URL, which nests six deep",
      own('{"url":{"hosts":["a.example"],"schemes":["https"]}}'),
      { arguments: { n: "https://a.example/" } },
      "token_too_large",
    ),
    only(
      "a URL of each element, which nests seven deep",
      own('{"each":{"url":{"hosts":["a.example"],"schemes":["https"]}}}'),
      { arguments: { n: ["https://a.example/"] } },
      "token_too_large",
    ),
    olderAnswers(
      refused(
        "a call that this version refuses too",
        "OlderChecker",
        hop(own("1"), { arguments: { n: 2 } }),
        "constraint_violated@2",
      ),
      "caveat_unknown@2",
    ),
    olderAnswers(
      refused(
        "a new operator in constraints, where no version has it",
        ["OlderChecker", "UnknownRestriction"],
        hop('{"constraints":{"n":{"path":"/data"}}}', { arguments: { n: "/data" } }),
        "caveat_unknown@2",
      ),
      "caveat_unknown@2",
    ),
    olderAnswers(
      allowed("a closed list in a discharge", ["OlderChecker", "Discharge"], {
        links: [EXPIRES, ASKED],
        discharges: [{ of: ASKED, links: [closed('["a"]')] }],
        ask: { arguments: { a: 1 } },
      }),
      "caveat_unknown@1/1",
    ),
  ],
};
