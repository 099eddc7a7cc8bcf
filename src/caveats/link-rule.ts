import { beyond, type HopRule, NONE, wrongValue } from "./hop-rule.js";

/** `maxFurtherHops`: at most this many links follow the hop. */
export const MAX_FURTHER_HOPS: HopRule<number> = {
  label: "further hops",
  flag: {
    kind: "count",
    form: "--max-further-hops <count>",
    help: "how often the token may be attenuated after this; 0 seals it",
  },
  problems: (value) =>
    Number.isSafeInteger(value) && Number(value) >= 0
      ? NONE
      : [wrongValue("maxFurtherHops", "a whole number of at least 0", value)],
  canonical: (value) => value,
  failures(most, _asked, furtherLinks) {
    if (furtherLinks <= most) return NONE;
    const message = `${furtherLinks} ${furtherLinks === 1 ? "link follows" : "links follow"} this hop, which allows ${most}`;
    return [
      {
        code: "too_many_hops",
        rule: "maxFurtherHops",
        expected: most,
        actual: furtherLinks,
        message,
      },
    ];
  },
  meet({ furtherHops }, most, furtherLinks) {
    const left = most - furtherLinks;
    return { furtherHops: Math.min(left, furtherHops ?? left) };
  },
  empty: ({ furtherHops }) =>
    furtherHops !== undefined && furtherHops < 0 ? ["maxFurtherHops"] : NONE,
  overreaches(most, { furtherHops }) {
    if (furtherHops === undefined || furtherHops < 1 || most <= furtherHops - 1) return NONE;
    const left = furtherHops - 1;
    return [
      beyond("maxFurtherHops", most, left, `after this hop at most ${left} may follow`, left),
    ];
  },
  intersect: (most, { furtherHops }) =>
    furtherHops !== undefined && furtherHops > 0 ? Math.min(most, furtherHops - 1) : most,
  words: (count) => ({ kind: "count", count }),
  left: ({ furtherHops }) =>
    furtherHops === undefined ? undefined : { kind: "count", count: furtherHops },
};
