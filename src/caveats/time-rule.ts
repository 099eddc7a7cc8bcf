import { beyond, type HopRule, NONE, wrongValue } from "./hop-rule.js";
import { formatTime, parseMoment, parseTime } from "./time.js";

const TIME = "a time such as 2026-01-31T23:59:59Z";

// Timestamps in canonical form sort as strings. A fraction of a second in the time of a call makes no difference,
// since the times of a hop are whole seconds.

/** `expires`: a call must take place before this time. */
export const EXPIRES: HopRule<string> = {
  ...timeRule("expires", 0),
  label: "expires",
  flag: {
    kind: "moment",
    form: "--expires <when>",
    help: "when it ends: a time, or a duration from now",
  },
  failures(expires, { time }) {
    if (time < expires) return NONE;
    const message = `expired at ${expires}; it is ${time}`;
    return [{ code: "expired", rule: "expires", expected: expires, actual: time, message }];
  },
  meet: ({ expires }, value) => ({
    expires: expires !== undefined && expires < value ? expires : value,
  }),
  overreaches: (value, { expires }) =>
    expires === undefined || value <= expires
      ? NONE
      : [beyond("expires", value, expires, `it expires at ${expires}`, expires)],
  intersect: (value, { expires }) => (expires !== undefined && value > expires ? expires : value),
};

/** `notBefore`: a call must not take place before this time. */
export const NOT_BEFORE: HopRule<string> = {
  ...timeRule("notBefore", 999),
  label: "not before",
  flag: {
    kind: "moment",
    form: "--not-before <when>",
    help: "not valid until then: a time, or a duration from now",
  },
  failures(notBefore, { time }) {
    if (time >= notBefore) return NONE;
    const message = `not valid before ${notBefore}; it is ${time}`;
    return [
      { code: "not_yet_valid", rule: "notBefore", expected: notBefore, actual: time, message },
    ];
  },
  meet: ({ notBefore }, value) => ({
    notBefore: notBefore !== undefined && notBefore > value ? notBefore : value,
  }),
  empty: ({ expires, notBefore }) =>
    expires !== undefined && notBefore !== undefined && notBefore >= expires ? ["notBefore"] : NONE,
  overreaches: (value, { notBefore }) =>
    notBefore === undefined || value >= notBefore
      ? NONE
      : [beyond("notBefore", value, notBefore, `it is not valid before ${notBefore}`, notBefore)],
  intersect: (value, { notBefore }) =>
    notBefore !== undefined && value < notBefore ? notBefore : value,
};

type TimeKey = "expires" | "notBefore";
type Shared = "problems" | "canonical" | "empty" | "words" | "left";

/**
 * @param roundUp - Milliseconds added before a time is truncated to the second, so that truncation never widens
 *   the hop.
 */
function timeRule(key: TimeKey, roundUp: number): Pick<HopRule<string>, Shared> {
  return {
    problems: (value) =>
      typeof value === "string" && parseTime(value) !== undefined
        ? NONE
        : [wrongValue(key, TIME, value)],
    canonical(value) {
      const moment = value instanceof Date ? value.getTime() : parseMoment(value);
      return moment === undefined ? value : formatTime(moment + roundUp);
    },
    empty: () => NONE,
    words: (time) => ({ kind: "time", time }),
    left(authority) {
      const time = authority[key];
      return time === undefined ? undefined : { kind: "time", time };
    },
  };
}
