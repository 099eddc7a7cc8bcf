import { allowed, type CheckSubject, type CheckTest, EXPIRES, NOW, refused } from "./check-test.js";
import { trusted } from "./revocation-parts.js";

// The default token expires at 01:00 (EXPIRES). The clock is at 00:30 (NOW).
const BEFORE = "2026-01-01T00:20:00Z";
const BETWEEN = "2026-01-01T00:25:00Z";
const LATER = "2026-01-01T00:40:00Z";
const AFTER = "2026-01-01T02:00:00Z";
const FROM = '{"notBefore":"2026-01-01T00:35:00Z"}';

function stale(comment: string, time: string, trustedUntil: string, now = NOW): CheckTest {
  const setup = { ask: { time }, now, ...trusted(trustedUntil) };
  return refused(comment, ["StaleList", "TimeEdge"], setup, "revocation_stale");
}

function current(comment: string, time: string, trustedUntil: string, now = NOW): CheckTest {
  const setup = { ask: { time }, now, ...trusted(trustedUntil) };
  return allowed(comment, ["StaleList", "TimeEdge"], setup);
}

export const moments: CheckSubject = {
  subject: "an invocation with a time of its own",
  comment: "Section 7: hops are judged by that time, the list by the later of it and the clock",
  tests: [
    allowed("the clock's own time", "Normal", { ask: { time: NOW } }),
    allowed("a later time, before the token expires", "TimeEdge", { ask: { time: LATER } }),
    allowed("one second before the token expires", "TimeEdge", {
      ask: { time: "2026-01-01T00:59:59Z" },
    }),
    refused(
      "the moment at which the token expires",
      "TimeEdge",
      { ask: { time: "2026-01-01T01:00:00Z" } },
      "expired@1",
    ),
    refused("after the token has expired", "TimeEdge", { ask: { time: AFTER } }, "expired@1"),
    allowed("before the token expired, at a clock behind that", "TimeEdge", {
      ask: { time: NOW },
      now: AFTER,
    }),
    allowed("before the token was issued, which nothing forbids", "TimeEdge", {
      ask: { time: "2025-12-31T23:59:59Z" },
    }),
    allowed("after notBefore, at a clock before it", "TimeEdge", {
      links: [EXPIRES, FROM],
      ask: { time: LATER },
    }),
    refused(
      "before notBefore, at a clock after it",
      "TimeEdge",
      { links: [EXPIRES, FROM], ask: { time: BEFORE }, now: LATER },
      "not_yet_valid@2",
    ),
    stale("a list that was trusted at that time, and is not by the clock", BEFORE, BETWEEN),
    stale(
      "a list that is trusted by the clock, and will not be at that time",
      LATER,
      "2026-01-01T00:35:00Z",
    ),
    stale("a list trusted until that very time", LATER, LATER),
    stale("a list trusted until the clock's very time", BEFORE, NOW),
    stale("a list that was never trusted at either", BEFORE, "2026-01-01T00:10:00Z"),
    current("a list trusted a second beyond that time", LATER, "2026-01-01T00:40:01Z"),
    current("a list trusted a second beyond the clock", BEFORE, "2026-01-01T00:30:01Z"),
    refused(
      "a time at which the token has expired and the list is stale",
      ["StaleList", "AllReported"],
      { ask: { time: AFTER }, ...trusted("2026-01-01T01:30:00Z") },
      "revocation_stale",
      "expired@1",
    ),
    refused(
      "an entry made after that time counts",
      "Revocation",
      {
        ask: { time: "2026-01-01T00:05:00Z" },
        revocations: () => ({ entries: [{ kind: "key", id: "key_a" }] }),
      },
      "revoked",
    ),
    refused(
      "an entry that could have been removed by that time counts",
      "Revocation",
      {
        ask: { time: LATER },
        revocations: () => ({ entries: [{ kind: "key", id: "key_a", until: NOW }] }),
      },
      "revoked",
    ),
  ],
};
