import {
  accepts,
  allValues,
  closed,
  entry,
  noValues,
  own,
  rejects,
  unreadable,
} from "./argument-parts.js";
import { type CheckSubject, type CheckTest, hop, refused } from "./check-test.js";

const DEEP = '{"each":{"url":{"hosts":["api.example.com"],"schemes":["https"]}}}';
const API = onHost("api.example.com");
/** A name of 253 characters, the longest that section 5.3 allows. */
const LONGEST = `${"a.".repeat(121)}example.com`;

export const argumentEdges: CheckSubject = {
  subject: "operationConstraints: edges",
  comment: "Sections 4 and 5.1 to 5.3: what no other test shows of a checker with one fault",
  tests: [
    accepts("a name with a full stop", entry('{"a.b":1}'), { "a.b": 1 }),
    rejects(
      "a name with a full stop leads into no object",
      entry('{"a.b":1}'),
      { a: { b: 1 } },
      "PointerEscape",
    ),
    accepts("a listed name that begins with a slash", closed('["/a"]'), { "/a": 1 }),
    rejects("a listed name is no pointer", closed('["/a"]'), { a: 1 }, "ClosedList"),
    ...allValues("null", { "null is null": null }),
    rejects("a missing argument is not null", own("null"), {}, "MissingValue"),
    ...exactSizes(),
    ...allValues(DEEP, { "a hop that is nested 7 deep": ["https://api.example.com/"] }, "Limit"),
    refused(
      "a hop that is nested 8 deep",
      "Limit",
      hop(own(DEEP.replace('["api', '[["api').replace('com"]', 'com"]]'))),
      "token_too_large",
    ),
    ...noValues(
      '{"path":"/data"}',
      { "the folder's name further in": "/x/data/a", "the folder's name twice": "/x/data" },
      "PathEscape",
    ),
    ...noValues('{"path":"data"}', { "the relative folder's name further in": "x/data" }, [
      "PathEscape",
    ]),
    ...allValues(API, { "a URL with the shortest path": "https://api.example.com/" }),
    ...noValues(
      API,
      {
        "no path": "https://api.example.com",
        "no path before a query": "https://api.example.com?a=b",
        "no path before a fragment": "https://api.example.com#a",
        "a path that begins with a tilde": "https://api.example.com/~root",
        "a letter that is escaped twice": "https://api.example.com/%2541",
      },
      "UrlEscape",
    ),
    ...hosts(),
  ],
};

/** Returns the constraint that allows `https` on one host. `host` is an entry of `hosts`. */
function onHost(host: string): string {
  return `{"url":{"hosts":["${host}"],"schemes":["https"]}}`;
}

/** Defines tests of long exact values. Like any other string, such a value may have up to 4,096 UTF-16 code units. */
function exactSizes(): CheckTest[] {
  const [longest, tooLong] = ["a".repeat(4096), "a".repeat(4097)];
  return [
    ...allValues(`"${longest}"`, { "an exact value of 4,096 code units": longest }, "Limit"),
    ...noValues(`"${tooLong}"`, { "an exact value of 4,097 code units": tooLong }, "Limit"),
  ];
}

/**
 * Defines tests of hosts. The same names are valid in `hosts` and in URLs, so a host that is invalid in `hosts`
 * could never be allowed by name.
 */
function hosts(): CheckTest[] {
  const good = {
    "a name of 253 characters": LONGEST,
    "a last label with digits and letters": "a.1b",
    "the first of two runs of zeros": "[1::2:0:0:3:4]",
    "the longer of two runs of zeros": "[1:0:0:2::3]",
    "a run of one zero": "[1:2:3:4:5:6:0:8]",
    "the highest octets": "255.255.255.255",
  };
  const bad = {
    "a name of 254 characters": `a${LONGEST}`,
    "a last label that begins with 0x": "a.0x1",
    "a host that is 0x": "0x",
    "a suffix of a number": ".1",
    "an octet with a leading zero": "1.2.3.04",
    "an octet above 255": "1.2.3.256",
    "three octets": "127.0.1",
    "the second of two runs of zeros": "[1:0:0:2::3:4]",
    "a run of one zero that is left out": "[1:2:3:4:5:6::8]",
    "zeros that are written out": "[1:0:0:2:0:0:0:3]",
    "IPv6 in capitals": "[::A]",
    "IPv6 with a leading zero": "[::0a]",
    "IPv6 with dotted decimals": "[::ffff:1.2.3.4]",
    "IPv6 without brackets": "::1",
  };
  return [
    ...Object.entries(good).flatMap(([comment, host]) =>
      allValues(onHost(host), { [comment]: `https://${host}/` }),
    ),
    ...Object.entries(bad).map(([comment, host]) => unreadable(comment, own(onHost(host)))),
  ];
}
