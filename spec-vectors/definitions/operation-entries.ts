import {
  accepts,
  closed,
  entry,
  every,
  own,
  rejects,
  strange,
  unreadable,
} from "./argument-parts.js";
import { type Ask, allowed, type CheckSubject, EXPIRES, hop, refused } from "./check-test.js";

const TOOLS =
  '{"arguments":{"read_file":["path"]},"operationConstraints":{"read_file":{"path":{"path":"/data"}},"send_money":{"amount":{"max":50}}}}';

function calling(operation: string, given: Ask["arguments"] = {}): Ask {
  return { operation, arguments: given };
}

export const operationEntries: CheckSubject = {
  subject: "operationConstraints: entries",
  comment: "Section 5.1: the entries that apply, and their form",
  tests: [
    allowed("the entry of one tool", "Normal", hop(TOOLS, calling("send_money", { amount: 50 }))),
    allowed(
      "the entry of another",
      "Normal",
      hop(TOOLS, calling("read_file", { path: "/data/a" })),
    ),
    refused(
      "beyond the entry of one tool",
      "Normal",
      hop(TOOLS, calling("send_money", { amount: 51 })),
      "constraint_violated@2",
    ),
    allowed("an operation without an entry", "Normal", hop(TOOLS, calling("list", { amount: 99 }))),
    allowed(
      "another case of an operation has no entry",
      "SetMembership",
      hop(TOOLS, calling("Send_money", { amount: 99 })),
    ),
    allowed(
      "a full stop in an operation separates nothing",
      "Normal",
      hop('{"operationConstraints":{"a":{"n":1}}}', calling("a.b", {})),
    ),
    allowed(
      "an operation called __proto__ without an entry",
      "ObjectPrototype",
      hop(TOOLS, calling("__proto__")),
    ),
    allowed(
      "an operation called constructor without an entry",
      "ObjectPrototype",
      hop(TOOLS, calling("constructor")),
    ),
    refused(
      "an entry of an operation called __proto__",
      "ObjectPrototype",
      hop('{"operationConstraints":{"__proto__":{"n":1}}}', calling("__proto__", { n: 2 })),
      "constraint_violated@2",
    ),
    allowed(
      "the empty string is an operation like any other",
      "Normal",
      hop('{"operationConstraints":{"":{"n":1}}}', calling("", { n: 1 })),
    ),
    accepts("* holds for an operation without an entry", every('{"n":{"max":5}}'), { n: 5 }),
    rejects("* refuses an operation without an entry", every('{"n":{"max":5}}'), { n: 6 }),
    rejects(
      "* holds beside the operation's own entry",
      '{"operationConstraints":{"*":{"n":{"max":5}},"retrieve":{"m":1}}}',
      { m: 1, n: 6 },
      "Escalation",
    ),
    rejects(
      "the operation's own entry holds beside *",
      '{"operationConstraints":{"*":{"n":{"max":9}},"retrieve":{"n":{"max":5}}}}',
      { n: 6 },
      "Escalation",
    ),
    refused(
      "an operation that is spelled * has that entry",
      "Normal",
      hop(every('{"n":1}'), calling("*", { n: 2 })),
      "constraint_violated@2",
    ),
    allowed(
      "a star in a longer name is an ordinary character",
      "Normal",
      hop('{"operationConstraints":{"get*":{"n":1}}}', calling("get_file", { n: 2 })),
    ),
    refused(
      "constraints hold for every operation, beside all entries",
      "Escalation",
      hop(
        '{"constraints":{"n":{"max":5}},"operationConstraints":{"put":{"n":{"max":9}}}}',
        calling("put", { n: 6 }),
      ),
      "constraint_violated@2",
    ),
    refused(
      "a later hop does not widen an earlier one",
      "Escalation",
      { links: [EXPIRES, own('{"max":5}'), own('{"max":50}')], ask: { arguments: { n: 6 } } },
      "constraint_violated@2",
    ),
    refused(
      "a later hop's optional does not free an earlier one's argument",
      "Escalation",
      { links: [EXPIRES, own('{"max":5}'), own('{"max":5,"optional":true}')] },
      "constraint_violated@2",
    ),
    refused(
      "absent in one hop and required in another leave nothing",
      "Escalation",
      { links: [EXPIRES, own('{"absent":true}'), own("1")], ask: { arguments: { n: 1 } } },
      "constraint_violated@2",
    ),
    rejects("a number as a string", own('{"max":50}'), { n: "50" }, "TypeConfusion"),
    rejects("a number in a list", own('{"max":50}'), { n: [50] }, "TypeConfusion"),
    rejects("an object with the value", own("50"), { n: { valueOf: 50 } }, "TypeConfusion"),
    accepts("an exact value", own('"a"'), { n: "a" }),
    accepts("an exact null", own("null"), { n: null }),
    accepts("min and max", own('{"max":5,"min":1}'), { n: 3 }),
    accepts("not in a list", own('{"not_in":["a"]}'), { n: "b" }),
    rejects("an excluded value", own('{"not_in":["a"]}'), { n: "a" }),
    rejects("not in a list of another type", own('{"not_in":["7"]}'), { n: 7 }, "TypeConfusion"),
    unreadable("no operations", '{"operationConstraints":{}}'),
    unreadable("a list of operations", '{"operationConstraints":[]}'),
    unreadable("an operation with null", '{"operationConstraints":{"retrieve":null}}'),
    unreadable("an operation without arguments", entry("{}")),
    unreadable("an operation with a list", entry('["n"]')),
    unreadable("an entry that does not apply", '{"operationConstraints":{"other":{}}}'),
    unreadable("an argument with an empty object", own("{}")),
    unreadable("an argument with a list", own("[1]")),
    unreadable("a list that is not ascending", own('{"in":["b","a"]}')),
    unreadable("an object in a list", own('{"in":[{}]}'), "TypeConfusion"),
    unreadable("max that is a string", own('{"max":"5"}'), "TypeConfusion"),
    strange("an unknown operator", own('{"matches":"^a"}')),
    strange("an operator in another case", own('{"Max":5}')),
    strange(
      "an unknown operator of an entry that does not apply",
      '{"operationConstraints":{"other":{"n":{"glob":"*"}}}}',
    ),
    strange("a new operator in constraints", '{"constraints":{"n":{"path":"/data"}}}'),
    strange("optional in constraints", '{"constraints":{"n":{"max":5,"optional":true}}}'),
  ],
};

export const closedLists: CheckSubject = {
  subject: "arguments: closed lists",
  comment:
    "Section 5.1: a call has no argument at the top level but those of every list that applies",
  tests: [
    accepts("all that are listed", closed('["a","b"]'), { a: 1, b: 2 }),
    accepts("fewer than are listed", closed('["a","b"]'), { b: 2 }),
    accepts("none", closed('["a","b"]'), undefined),
    rejects("one more", closed('["a","b"]'), { a: 1, c: 3 }, "ClosedList"),
    rejects("one more that is null", closed('["a"]'), { b: null }, "ClosedList"),
    rejects("another case", closed('["bcc"]'), { BCC: "x" }, "ClosedList"),
    rejects("another normal form", closed('["\u00e9"]'), { "e\u0301": 1 }, [
      "ClosedList",
      "Unicode",
    ]),
    rejects("the empty name", closed('["a"]'), { "": 1 }, "ClosedList"),
    rejects("__proto__", closed('["a"]'), JSON.parse('{"__proto__":{"a":1}}'), [
      "ClosedList",
      "ObjectPrototype",
    ]),
    accepts("an empty list and no arguments", closed("[]"), {}),
    rejects("an empty list and an argument", closed("[]"), { a: 1 }, "ClosedList"),
    accepts("what is inside an argument is not closed", closed('["a"]'), { a: { b: 1, c: [2] } }),
    accepts("a name that begins with a slash is a name", closed('["/a/b"]'), { "/a/b": 1 }),
    rejects("a name that begins with a slash is no pointer", closed('["/a/b"]'), { a: { b: 1 } }, [
      "ClosedList",
    ]),
    accepts("* holds for every operation", '{"arguments":{"*":["a"]}}', { a: 1 }),
    rejects("* closes the list of every operation", '{"arguments":{"*":["a"]}}', { b: 1 }, [
      "ClosedList",
    ]),
    rejects(
      "both lists hold where both apply",
      '{"arguments":{"*":["a","b"],"retrieve":["b","c"]}}',
      { a: 1 },
      "ClosedList",
    ),
    accepts("what both lists have", '{"arguments":{"*":["a","b"],"retrieve":["b","c"]}}', { b: 1 }),
    allowed(
      "an operation without a list is open",
      "Normal",
      hop(closed('["a"]'), calling("search", { b: 1 })),
    ),
    refused(
      "an operation that is spelled *",
      "ClosedList",
      hop('{"arguments":{"*":["a"]}}', calling("*", { b: 1 })),
      "constraint_violated@2",
    ),
    refused(
      "a later list does not widen an earlier one",
      ["ClosedList", "Escalation"],
      { links: [EXPIRES, closed('["a"]'), closed('["a","b"]')], ask: { arguments: { b: 1 } } },
      "constraint_violated@2",
    ),
    rejects(
      "a required argument that is not listed",
      '{"arguments":{"retrieve":["a"]},"operationConstraints":{"retrieve":{"b":1}}}',
      { b: 1 },
      "ClosedList",
    ),
    unreadable("no operation in the lists", '{"arguments":{}}'),
    unreadable("a list in place of the object", '{"arguments":["a"]}'),
    unreadable("a string in place of a list", closed('"a"')),
    unreadable("null in place of a list", closed("null")),
    unreadable("a number in a list of names", closed("[1]"), "TypeConfusion"),
    unreadable("names that are not ascending", closed('["b","a"]')),
    unreadable("a name twice", closed('["a","a"]')),
  ],
};
