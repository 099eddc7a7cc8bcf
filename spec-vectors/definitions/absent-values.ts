import { allowed, type CheckSubject, type CheckTest, hop, refused } from "./check-test.js";
import { limit } from "./constraint-parts.js";

/** Defines a test in which a constraint refuses an argument, which is given as JSON text. */
function refusedText(comment: string, text: string, written: string): CheckTest {
  return refused(
    comment,
    ["NumberEdge", "TypeConfusion"],
    hop(limit(text), { argumentsText: `{"n":${written}}` }),
    "constraint_violated@2",
  );
}

function allowedText(comment: string, text: string, written: string): CheckTest {
  return allowed(comment, "NumberEdge", hop(limit(text), { argumentsText: `{"n":${written}}` }));
}

function absent(comment: string, text: string, denial: string): CheckTest {
  return refused(comment, ["MissingValue", "SetMembership"], hop(text), `${denial}@2`);
}

export const absentValues: CheckSubject = {
  subject: "values that are absent or not finite",
  comment: "Section 5: absence is not the empty string, and infinity is no number",
  tests: [
    absent("no audience, and the empty string in the set", '{"audience":[""]}', "audience_denied"),
    absent("no invoker, and the empty string in the set", '{"invokers":[""]}', "invoker_denied"),
    absent(
      "no handle, and the empty string in the set",
      '{"resourceHandles":[""]}',
      "resource_denied",
    ),
    absent(
      "no audience, and the empty string and a name in the set",
      '{"audience":["","documents-agent"]}',
      "audience_denied",
    ),
    absent(
      "no invoker, and the empty string and a name in the set",
      '{"invokers":["","agent:a"]}',
      "invoker_denied",
    ),
    absent(
      "no audience and no invoker do not make one another",
      '{"audience":["undefined"]}',
      "audience_denied",
    ),
    refused(
      "an invoker that is the empty string is no audience",
      ["MissingValue", "SetMembership"],
      hop('{"audience":[""]}', { invoker: "" }),
      "audience_denied@2",
    ),
    refused(
      "an audience that is the empty string is no invoker",
      ["MissingValue", "SetMembership"],
      hop('{"invokers":[""]}', { audience: "" }),
      "invoker_denied@2",
    ),
    refusedText("1e999 is at least nothing", '{"min":0}', "1e999"),
    refusedText("-1e999 is at most nothing", '{"max":0}', "-1e999"),
    refusedText("1e999 is not within both bounds", '{"max":1e+308,"min":0}', "1e999"),
    refusedText("1e999 is not null, as which some write it", "null", "1e999"),
    refusedText("1e999 is not in a list with null", '{"in":[null]}', "1e999"),
    refusedText("1e999 is no value beside an excluded number", '{"not_in":[7]}', "1e999"),
    refusedText("1e999 is no value beside an excluded string", '{"not_in":["a"]}', "1e999"),
    refusedText("1e999 is no value beside an excluded null", '{"not_in":[null]}', "1e999"),
    refusedText("1e999 is not the largest double", "1.7976931348623157e+308", "1e999"),
    refusedText("400 digits", '{"min":0}', `1${"0".repeat(399)}`),
    refusedText("a number that rounds to infinity", '{"min":0}', "1.7976931348623159e308"),
    allowedText(
      "a number that rounds to the largest double",
      '{"min":0}',
      "1.7976931348623158e308",
    ),
    allowedText("1e-999 is 0", "0", "1e-999"),
    allowedText("-0 is 0", "0", "-0"),
    allowedText("-0.0 is at least 0", '{"min":0}', "-0.0"),
    allowedText("1.0 is 1", "1", "1.0"),
    allowedText("1E2 is 100", "100", "1E2"),
    allowedText("2^53 + 1 is 2^53, as a double", "9007199254740992", "9007199254740993"),
    refusedText(
      "2^53 + 1 is no integer of its own",
      '{"min":9007199254740994}',
      "9007199254740993",
    ),
    allowed("an argument 1e999 that no hop limits", "NumberEdge", {
      ...hop('{"constraints":{"m":1}}', { argumentsText: '{"m":1,"n":1e999}' }),
    }),
    refused(
      "1e999 one level further down is no argument of the name",
      "MissingValue",
      hop(limit('{"min":0}'), { argumentsText: '{"x":{"n":1e999}}' }),
      "constraint_violated@2",
    ),
  ],
};
