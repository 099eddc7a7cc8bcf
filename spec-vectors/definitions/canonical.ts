import { bytes, concat } from "../build/bytes.js";
import {
  type Ask,
  allowed,
  type CheckSubject,
  type CheckTest,
  hop,
  refused,
} from "./check-test.js";
import type { Flag } from "./notes.js";

const GOOD = '{"operations":["retrieve","search"],"purpose":"a\\"b"}';

/** Defines a test of a hop that is not in canonical form, or is not JSON. */
function not(comment: string, text: string | Uint8Array, more: readonly Flag[] = []): CheckTest {
  return refused(comment, ["CanonicalForm", ...more], hop(text), "caveat_malformed@2");
}

function canonical(
  comment: string,
  text: string,
  more: readonly Flag[] = [],
  ask: Ask = {},
): CheckTest {
  return allowed(comment, ["CanonicalForm", ...more], hop(text, ask));
}

function unknown(
  comment: string,
  text: string | Uint8Array,
  more: readonly Flag[] = [],
): CheckTest {
  return refused(comment, ["UnknownRestriction", ...more], hop(text), "caveat_unknown@2");
}

/** Returns a hop that limits `n` to a number, written exactly as given. */
function number(text: string): string {
  return `{"constraints":{"n":${text}}}`;
}

function purpose(text: string): string {
  return `{"purpose":"${text}"}`;
}

export const canonicalForm: CheckSubject = {
  subject: "canonical form",
  comment: "Section 5: a hop's bytes are the RFC 8785 form of what they say",
  tests: [
    canonical("an ordinary hop", GOOD),
    not("a space behind a colon", GOOD.replace(":", ": "), ["ReencodingBug"]),
    not("a space behind a comma", GOOD.replace(",", ", ")),
    not("a space at the end", `${GOOD} `),
    not("a newline at the end", `${GOOD}\n`),
    not("a tab inside the object", GOOD.replace("{", "{\t")),
    not("members in another order", '{"purpose":"x","operations":["retrieve"]}'),
    not(
      "a key twice, with the same value",
      '{"operations":["retrieve"],"operations":["retrieve"]}',
    ),
    not(
      "a key twice, the last wider than the first",
      '{"operations":["search"],"operations":["retrieve","search"]}',
    ),
    not(
      "a key twice, the first wider than the last",
      '{"operations":["retrieve","search"],"operations":["retrieve"]}',
    ),
    not("an argument twice", '{"constraints":{"n":1,"n":2}}'),
    not("an operator twice", '{"constraints":{"n":{"max":1,"max":2}}}'),
    not("arguments in another order", '{"constraints":{"b":1,"a":1}}'),
    not("operators in another order", '{"constraints":{"n":{"min":1,"max":2}}}'),
    canonical(
      "argument names sorted as text, not as numbers",
      '{"constraints":{"10":1,"9":1}}',
      [],
      { arguments: { 10: 1, 9: 1 } },
    ),
    not("argument names sorted as numbers", '{"constraints":{"9":1,"10":1}}'),
    canonical(
      "argument names by UTF-16 code units, not code points",
      '{"constraints":{"\u{1f600}":1,"\ufb33":1}}',
      ["Unicode"],
      { arguments: { "\u{1f600}": 1, "\ufb33": 1 } },
    ),
    not("argument names by code points", '{"constraints":{"\ufb33":1,"\u{1f600}":1}}', ["Unicode"]),
    not("a letter written as an escape", '{"operations":["\\u0072etrieve"]}'),
    not("a key written with an escape", '{"\\u006fperations":["retrieve"]}'),
    not("an escaped slash", purpose("a\\/b")),
    canonical("a slash", purpose("a/b")),
    not("a letter beyond ASCII written as an escape", purpose("\\u00e9"), ["Unicode"]),
    canonical("a letter beyond ASCII", purpose("\u00e9"), ["Unicode"]),
    canonical("decomposed letters stay decomposed", purpose("e\u0301"), ["Unicode"]),
    not("a surrogate pair written as escapes", purpose("\\ud83d\\ude00"), ["Unicode"]),
    canonical("a letter beyond the first plane", purpose("\u{1f600}"), ["Unicode"]),
    not("a lone high surrogate", purpose("\\ud800"), ["Unicode"]),
    not("a lone low surrogate", purpose("\\udc00x"), ["Unicode"]),
    not("a lone surrogate in an argument's name", '{"constraints":{"\\ud800":1}}', ["Unicode"]),
    canonical("short escapes", purpose('\\b\\f\\n\\r\\t\\"\\\\')),
    not("a newline as \\u000a", purpose("\\u000a")),
    canonical("another control character in lower-case hex", purpose("\\u001f")),
    not("a control character in upper-case hex", purpose("\\u001F")),
    not("a raw control character", purpose("\u0001")),
    canonical("delete and line separator as they are", purpose("\u007f\u2028\u2029"), ["Unicode"]),
    not("line separator written as an escape", purpose("\\u2028"), ["Unicode"]),
    canonical("a noncharacter and a byte order mark inside a string", purpose("\uffff\ufeff"), [
      "Unicode",
    ]),
    not("cut short", GOOD.slice(0, -1)),
    not("two hops in one caveat", '{"operations":["retrieve"]}{"purpose":"x"}'),
    not("text behind the object", `${GOOD}x`),
    not("a trailing comma", '{"operations":["retrieve"],}'),
    not("single quotes", "{'purpose':'x'}"),
    not("a key without quotes", '{purpose:"x"}'),
    not("a comment", '{"purpose":"x"/* */}'),
    not("nothing but a brace", "{"),
    not("an empty object", "{}", ["MalformedHop"]),
    canonical("0", number("0"), ["NumberEdge"], { arguments: { n: 0 } }),
    not("-0", number("-0"), ["NumberEdge"]),
    not("0.0", number("0.0"), ["NumberEdge"]),
    canonical("a negative number", number("-1.5"), ["NumberEdge"], { arguments: { n: -1.5 } }),
    not("1.0", number("1.0"), ["NumberEdge"]),
    not("1e2", number("1e2"), ["NumberEdge"]),
    not("+1", number("+1"), ["NumberEdge"]),
    not("01", number("01"), ["NumberEdge"]),
    not(".5", number(".5"), ["NumberEdge"]),
    canonical("0.1", number("0.1"), ["NumberEdge"], { arguments: { n: 0.1 } }),
    not("0.10", number("0.10"), ["NumberEdge"]),
    canonical("2^53 - 1", number("9007199254740991"), ["NumberEdge"], {
      arguments: { n: 9007199254740991 },
    }),
    canonical("2^53", number("9007199254740992"), ["NumberEdge"], {
      arguments: { n: 9007199254740992 },
    }),
    not("2^53 + 1, which no double holds", number("9007199254740993"), ["NumberEdge"]),
    canonical("2^53 + 2", number("9007199254740994"), ["NumberEdge"], {
      arguments: { n: 9007199254740994 },
    }),
    canonical("-(2^53 - 1)", number("-9007199254740991"), ["NumberEdge"], {
      arguments: { n: -9007199254740991 },
    }),
    canonical("10^20 in digits", number("100000000000000000000"), ["NumberEdge"], {
      arguments: { n: 1e20 },
    }),
    not("10^20 as 1e+20", number("1e+20"), ["NumberEdge"]),
    canonical("10^21 as 1e+21", number("1e+21"), ["NumberEdge"], { arguments: { n: 1e21 } }),
    not("10^21 in digits", number("1000000000000000000000"), ["NumberEdge"]),
    not("10^21 as 1e21", number("1e21"), ["NumberEdge"]),
    canonical("0.000001", number("0.000001"), ["NumberEdge"], { arguments: { n: 0.000001 } }),
    canonical("1e-7", number("1e-7"), ["NumberEdge"], { arguments: { n: 1e-7 } }),
    not("0.0000001", number("0.0000001"), ["NumberEdge"]),
    not("1e-07, as C writes it", number("1e-07"), ["NumberEdge"]),
    not("1E-7", number("1E-7"), ["NumberEdge"]),
    canonical("1e+308", number("1e+308"), ["NumberEdge"], { arguments: { n: 1e308 } }),
    not("1e308", number("1e308"), ["NumberEdge"]),
    canonical("the largest double", number("1.7976931348623157e+308"), ["NumberEdge"], {
      arguments: { n: Number.MAX_VALUE },
    }),
    canonical("the smallest double above 0", number("5e-324"), ["NumberEdge"], {
      arguments: { n: 5e-324 },
    }),
    not("1e+309, which is not finite", number("1e+309"), ["NumberEdge"]),
    not("-1e+309", number("-1e+309"), ["NumberEdge"]),
    not("1e-400, which is 0", number("1e-400"), ["NumberEdge"]),
    not("NaN", number("NaN"), ["NumberEdge"]),
    not("Infinity", number("Infinity"), ["NumberEdge"]),
    not("more digits than a double has", number("0.1000000000000000055511151231257827"), [
      "NumberEdge",
    ]),
    not("333333333.33333329, an example of RFC 8785", number("333333333.33333329"), ["NumberEdge"]),
    canonical(
      "333333333.3333333, its canonical form",
      number("333333333.3333333"),
      ["NumberEdge"],
      { arguments: { n: 333333333.3333333 } },
    ),
    not("true in capitals", number("True")),
    unknown("a predicate of another library", "operation = retrieve", ["SkippedCaveatBug"]),
    unknown("an empty caveat", "", ["SkippedCaveatBug"]),
    unknown("a space before the brace", ` ${GOOD}`),
    unknown("a byte order mark before the brace", `\ufeff${GOOD}`),
    unknown("a hop in an array", `[${GOOD}]`),
    unknown("a JSON string", '"retrieve"'),
    unknown("null", "null"),
    unknown("bytes that are not UTF-8", concat('{"purpose":"', 0xff, '"}'), ["Unicode"]),
    unknown(
      "an encoded surrogate, which is not UTF-8",
      concat('{"purpose":"', bytes(Uint8Array.of(0xed, 0xa0, 0x80)), '"}'),
      ["Unicode"],
    ),
    unknown(
      "an overlong encoding, which is not UTF-8",
      concat('{"purpose":"', bytes(Uint8Array.of(0xc0, 0xaf)), '"}'),
      ["Unicode"],
    ),
    unknown(
      "a code point beyond U+10FFFF, which is not UTF-8",
      concat('{"purpose":"', bytes(Uint8Array.of(0xf4, 0x90, 0x80, 0x80)), '"}'),
      ["Unicode"],
    ),
    unknown(
      "UTF-16 with its byte order mark",
      concat(0xff, 0xfe, new Uint8Array(Buffer.from(GOOD, "utf16le"))),
    ),
  ],
};
