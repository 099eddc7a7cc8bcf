import { expect, test } from "vitest";
import { seenFromNow, spanInWords } from "../../src/display/time-words.js";
import { NOW } from "../caveats/support.js";

const [MINUTE, HOUR] = [60, 3600];

test.each([
  [-5, "0 s"],
  [0.4, "0 s"],
  [0.5, "1 s"],
  [109, "109 s"],
  [110, "2 min"],
  [109 * MINUTE, "109 min"],
  [109.6 * MINUTE, "2 h"],
  [110 * MINUTE, "2 h"],
  [43 * HOUR, "43 h"],
  [44 * HOUR, "2 days"],
  [30 * 24 * HOUR, "30 days"],
])("spanInWords shows %d seconds as %s", (seconds, words) => {
  expect(spanInWords(seconds * 1000)).toBe(words);
});

test.each([
  ["2030-01-01T00:12:00Z", "in 12 min"],
  ["2030-01-01T00:00:00Z", "0 s ago"],
  ["2029-12-31T23:58:00Z", "2 min ago"],
  ["tomorrow", "at an unknown time"],
])("seenFromNow shows the time %s as %s", (time, words) => {
  expect(seenFromNow(time, NOW)).toBe(words);
});
