import { allValues, noValues, own, rejects, strange, unreadable } from "./argument-parts.js";
import {
  allowed,
  type CheckSubject,
  type CheckTest,
  EXPIRES,
  hop,
  type JsonValue,
} from "./check-test.js";

const UP_TO_FIVE = '{"each":{"max":5}}';

function many(count: number, value: JsonValue): JsonValue[] {
  return Array.from({ length: count }, () => value);
}

export const arrays: CheckSubject = {
  subject: "operationConstraints: each, items and prefix",
  comment: "Section 5.1: operators on arrays, the beginning of a string, and how much is judged",
  tests: [
    ...allValues(UP_TO_FIVE, { "each: all of them": [1, 5], "each: none": [] }),
    ...noValues(
      UP_TO_FIVE,
      {
        "each: the first": [6, 1],
        "each: the last": [1, 6],
        "each: one of another type": [1, "2"],
      },
      "Normal",
    ),
    ...noValues(
      UP_TO_FIVE,
      {
        "each: a number": 5,
        "each: a string": "5",
        "each: an object like an array": { "0": 1, length: 1 },
        "each: null": null,
        "each: an array in the array": [[1]],
      },
      ["TypeConfusion"],
    ),
    rejects("each: missing", own(UP_TO_FIVE), {}, "MissingValue"),
    ...allValues('{"each":{"max":5},"items":{"max":2,"min":1}}', { "each and items: two": [1, 2] }),
    ...noValues(
      '{"each":{"max":5},"items":{"max":2,"min":1}}',
      {
        "each and items: none": [],
        "each and items: three": [1, 2, 3],
        "each and items: one of 6": [6],
      },
      "Normal",
    ),
    ...allValues('{"items":{"max":0}}', { "items: none at most": [] }),
    ...allValues('{"items":{"min":0}}', { "items: any number": [1, "a", null, {}] }),
    ...allValues('{"items":{"max":256}}', { "items: 256": many(256, 1) }),
    ...noValues('{"items":{"max":1,"min":2}}', { "items: min above max": [1, 2] }, "Normal"),
    ...noValues('{"items":{"max":3}}', { "items: a string": "abc", "items: an object": {} }, [
      "TypeConfusion",
    ]),
    ...allValues('{"each":{"items":{"min":1}}}', {
      "each with items: arrays of arrays": [[1], [{}]],
    }),
    ...noValues('{"each":{"items":{"min":1}}}', { "each with items: an empty one": [[1], []] }, [
      "Normal",
    ]),
    ...allValues('{"each":{"path":"/data"}}', { "each with path": ["/data/a", "/data/b"] }),
    ...noValues(
      '{"each":{"path":"/data"}}',
      { "each with path: a parent": ["/data/a", "/data/.."] },
      ["PathEscape"],
    ),
    ...allValues('{"each":{"in":["a","b"]}}', { "each with in": ["b", "a", "b"] }),
    ...allValues('{"prefix":"acc_"}', { "prefix: more": "acc_1", "prefix: itself": "acc_" }),
    ...noValues(
      '{"prefix":"acc_"}',
      { "prefix: shorter": "acc", "prefix: inside": "xacc_1", "prefix: another case": "ACC_1" },
      "Normal",
    ),
    ...noValues('{"prefix":"1"}', { "prefix: digits as a number": 12, "prefix: a list": ["12"] }, [
      "TypeConfusion",
    ]),
    ...sizes(),
    ...malformed(),
  ],
};

/**
 * Defines tests of long values. Section 5.1 allows strings up to 4,096 UTF-16 code units and arrays up to 256
 * elements; longer values are refused.
 */
function sizes(): CheckTest[] {
  const at = (length: number): string => `a${"b".repeat(length - 1)}`;
  const emoji = "\u{1F511}".repeat(2048);
  return [
    ...allValues('{"prefix":"a"}', { "a string of 4,096 code units": at(4096) }, "Limit"),
    ...allValues('{"not_in":["a"]}', { "2,048 code points of two units": emoji }, "Limit"),
    ...noValues('{"prefix":"a"}', { "a string of 4,097 code units": at(4097) }, ["Limit"]),
    ...noValues(
      '{"not_in":["a"]}',
      {
        "2,049 code points of two units": `${emoji}\u{1F511}`,
        "a long string that is not excluded": at(4097),
      },
      ["Limit"],
    ),
    ...noValues('{"each":{"prefix":"a"}}', { "a long string in an array": [at(4097)] }, ["Limit"]),
    ...allValues('{"each":{"max":1}}', { "an array of 256 elements": many(256, 1) }, "Limit"),
    ...noValues('{"each":{"max":1}}', { "an array of 257 elements": many(257, 1) }, ["Limit"]),
    ...noValues('{"items":{"min":1}}', { "an array of 300 elements": many(300, 1) }, ["Limit"]),
    ...noValues('{"each":{"items":{"min":1}}}', { "a long array in an array": [many(257, 1)] }, [
      "Limit",
    ]),
    allowed(
      "constraints judge strings of any length",
      "Limit",
      hop('{"constraints":{"n":{"not_in":["a"]}}}', { arguments: { n: at(5000) } }),
    ),
    allowed("an argument that nobody limits may have any length", "Limit", {
      links: [EXPIRES, own('{"max":1}')],
      ask: { arguments: { m: at(5000), n: 1 } },
    }),
  ];
}

function malformed(): CheckTest[] {
  const wrong = {
    "each: no operators": '{"each":{}}',
    "each: a list": '{"each":[1]}',
    "each: an exact value": '{"each":"a"}',
    "each in each": '{"each":{"each":{"max":1}}}',
    "each: optional": '{"each":{"max":1,"optional":true}}',
    "each: absent": '{"each":{"absent":true}}',
    "each: a folder in another form": '{"each":{"path":"/data/"}}',
    "items: no bounds": '{"items":{}}',
    "items: a number": '{"items":3}',
    "items: a bound below 0": '{"items":{"min":-1}}',
    "items: a bound above 256": '{"items":{"max":257}}',
    "items: a bound that is not whole": '{"items":{"max":1.5}}',
    "items: a bound that is a string": '{"items":{"max":"3"}}',
    "prefix: the empty string": '{"prefix":""}',
    "prefix: a number": '{"prefix":1}',
    "prefix: null": '{"prefix":null}',
  };
  return [
    ...Object.entries(wrong).map(([comment, text]) => unreadable(comment, own(text))),
    strange("each: an unknown operator", own('{"each":{"matches":"a"}}')),
    strange("items: an unknown bound", own('{"items":{"exactly":3}}')),
  ];
}
