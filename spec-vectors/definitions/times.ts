import { allowed, type CheckSubject, type CheckTest, EXPIRES, NOW, refused } from "./check-test.js";
import type { Flag } from "./notes.js";

/** Defines a test of a token that expires at `expires` and is checked at `now`. */
function until(comment: string, expires: string, now = NOW): CheckTest {
  return allowed(comment, "TimeEdge", { links: [`{"expires":"${expires}"}`], now });
}

function expired(comment: string, expires: string, now = NOW): CheckTest {
  return refused(comment, "TimeEdge", { links: [`{"expires":"${expires}"}`], now }, "expired@1");
}

function from(comment: string, notBefore: string, now = NOW): CheckTest {
  return allowed(comment, "TimeEdge", { links: [EXPIRES, `{"notBefore":"${notBefore}"}`], now });
}

function early(comment: string, notBefore: string, now = NOW): CheckTest {
  const links = [EXPIRES, `{"notBefore":"${notBefore}"}`];
  return refused(comment, "TimeEdge", { links, now }, "not_yet_valid@2");
}

/** Defines a test for each of the two keys with a time. The value is not a time. */
function noTime(comment: string, value: string, more: readonly Flag[] = []): CheckTest[] {
  const flags = ["MalformedHop", "TimeEdge", ...more] as const;
  return ["expires", "notBefore"].map((key) =>
    refused(
      `${key}: ${comment}`,
      flags,
      { links: [EXPIRES, `{"${key}":${value}}`] },
      "caveat_malformed@2",
    ),
  );
}

const LATE = '{"expires":"9999-12-31T23:59:59Z"}';

export const times: CheckSubject = {
  subject: "time",
  comment: "Section 5: expires and notBefore, and what a time is (section 1)",
  tests: [
    until("one second left", "2026-01-01T00:30:01Z"),
    expired("expires is exclusive", "2026-01-01T00:30:00Z"),
    expired("one second over", "2026-01-01T00:29:59Z"),
    from("notBefore is inclusive", "2026-01-01T00:30:00Z"),
    from("begun a second ago", "2026-01-01T00:29:59Z"),
    early("one second early", "2026-01-01T00:30:01Z"),
    until("the last second of all", "9999-12-31T23:59:59Z"),
    until(
      "the last second of all, a second before",
      "9999-12-31T23:59:59Z",
      "9999-12-31T23:59:58Z",
    ),
    expired(
      "the last second of all, at that second",
      "9999-12-31T23:59:59Z",
      "9999-12-31T23:59:59Z",
    ),
    expired("the first second of all", "0000-01-01T00:00:00Z"),
    expired(
      "the first second of all, at that second",
      "0000-01-01T00:00:00Z",
      "0000-01-01T00:00:00Z",
    ),
    until("in the year 0000", "0000-01-01T00:00:01Z", "0000-01-01T00:00:00Z"),
    until("in the year 99, which is not 1999", "0099-01-02T00:00:00Z", "0099-01-01T00:00:00Z"),
    expired("in the year 99", "0099-01-01T00:00:00Z"),
    expired("before 1970", "1969-12-31T23:59:59Z"),
    until("before 1970, then", "1969-12-31T23:59:59Z", "1969-12-31T23:59:58Z"),
    until("beyond 32-bit seconds", "2038-01-19T03:14:08Z", "2038-01-19T03:14:07Z"),
    until("beyond unsigned 32-bit seconds", "2106-02-07T06:28:16Z", "2106-02-07T06:28:15Z"),
    until("a leap day", "2028-02-29T00:00:00Z"),
    until("a leap day of a century that has one", "2400-02-29T23:59:59Z"),
    until(
      "the leap day of the year 2000, the day before",
      "2000-02-29T00:00:00Z",
      "2000-02-28T23:59:59Z",
    ),
    until(
      "the leap day of the year 0000, the day before",
      "0000-02-29T00:00:00Z",
      "0000-02-28T23:59:59Z",
    ),
    until("over the turn of the year", "2026-01-01T00:00:00Z", "2025-12-31T23:59:59Z"),
    expired("over a leap day", "2028-02-29T23:59:59Z", "2028-03-01T00:00:00Z"),
    early("in the year 9999", "9999-12-31T23:59:59Z"),
    from("since the first second of all", "0000-01-01T00:00:00Z"),
    ...noTime("29 February 2027", '"2027-02-29T00:00:00Z"'),
    ...noTime("29 February 2100, no leap year", '"2100-02-29T00:00:00Z"'),
    ...noTime("31 April", '"2026-04-31T00:00:00Z"'),
    ...noTime("day 0", '"2026-01-00T00:00:00Z"'),
    ...noTime("day 32", '"2026-01-32T00:00:00Z"'),
    ...noTime("month 0", '"2026-00-01T00:00:00Z"'),
    ...noTime("month 13", '"2026-13-01T00:00:00Z"'),
    ...noTime("second 60, also where a leap second was", '"2016-12-31T23:59:60Z"', ["SpecExample"]),
    ...noTime("minute 60", '"2026-01-01T00:60:00Z"'),
    ...noTime("24:00:00", '"2026-01-01T24:00:00Z"', ["SpecExample"]),
    ...noTime("year 10000", '"10000-01-01T00:00:00Z"'),
    ...noTime("a year with a sign", '"+002026-01-01T00:00:00Z"'),
    ...noTime("a year before 0000", '"-0001-01-01T00:00:00Z"'),
    ...noTime("a year of two digits", '"26-01-01T00:00:00Z"'),
    ...noTime("milliseconds", '"2026-01-01T01:00:00.000Z"'),
    ...noTime("an offset of zero in place of Z", '"2026-01-01T01:00:00+00:00"'),
    ...noTime("no zone", '"2026-01-01T01:00:00"'),
    ...noTime("a lower-case z", '"2026-01-01T01:00:00z"'),
    ...noTime("a lower-case t", '"2026-01-01t01:00:00Z"'),
    ...noTime("a space in place of T", '"2026-01-01 01:00:00Z"'),
    ...noTime("a date alone", '"2026-01-01"'),
    ...noTime("the basic form", '"20260101T010000Z"'),
    ...noTime("a newline behind it", '"2026-01-01T01:00:00Z\\n"'),
    ...noTime("a space before it", '" 2026-01-01T01:00:00Z"'),
    ...noTime("digits in full width", '"\uff12\uff10\uff12\uff16-01-01T01:00:00Z"', ["Unicode"]),
    ...noTime("digits of another script", '"\u0662\u0660\u0662\u0666-01-01T01:00:00Z"', [
      "Unicode",
    ]),
    ...noTime("a month without its zero", '"2026-1-01T01:00:00Z"'),
    ...noTime("an empty string", '""'),
    ...noTime("seconds since 1970", "1767229200", ["TypeConfusion"]),
    ...noTime("null", "null", ["TypeConfusion"]),
    ...noTime("a list", '["2026-01-01T01:00:00Z"]', ["TypeConfusion"]),
    allowed("a later hop that expires sooner, not over yet", "TimeEdge", {
      links: [LATE, EXPIRES],
    }),
    refused(
      "a later hop that expires later: the first one counts too",
      ["TimeEdge", "Escalation"],
      { links: ['{"expires":"2026-01-01T00:00:00Z"}', LATE] },
      "expired@1",
    ),
    refused(
      "a later hop that begins sooner: the first one counts too",
      ["TimeEdge", "Escalation"],
      {
        links: [
          '{"expires":"2026-01-01T01:00:00Z","notBefore":"2026-01-01T00:45:00Z"}',
          '{"notBefore":"2026-01-01T00:00:00Z"}',
        ],
      },
      "not_yet_valid@1",
    ),
    refused(
      "a hop that begins when it expires is never valid",
      "TimeEdge",
      { links: ['{"expires":"2026-01-01T00:30:00Z","notBefore":"2026-01-01T00:30:00Z"}'] },
      "expired@1",
    ),
    allowed("only a later hop says when the token expires", "Expiry", {
      links: ['{"operations":["retrieve"]}', EXPIRES],
    }),
    refused(
      "no hop says when the token expires",
      "Expiry",
      { links: ['{"operations":["retrieve"]}'] },
      "expiry_missing",
    ),
    refused("no caveat at all", "Expiry", { links: [] }, "expiry_missing"),
    refused(
      "notBefore alone is no expiry",
      "Expiry",
      { links: ['{"notBefore":"2026-01-01T00:00:00Z"}'] },
      "expiry_missing",
    ),
  ],
};
