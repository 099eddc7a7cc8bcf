import { closestMatch } from "leven";

// Work grows with the product of the lengths, so long strings and long lists get no suggestion.
const MAX_LENGTH = 64;
const MAX_CANDIDATES = 64;

// Of all suggestions in one answer, in products of lengths: some 20 microseconds. A refusal then
// costs little more than an allowance, however many values it names.
const MAX_ANSWER_WORK = 8192;

/** Gives the candidate that a text is most likely a misspelling of. */
export type Suggest = (text: unknown, candidates: readonly string[]) => string | undefined;

/** The candidate that `text` is most likely a misspelling of. */
export function nearest(text: unknown, candidates: readonly string[]): string | undefined {
  return suggestions(Number.POSITIVE_INFINITY)(text, candidates);
}

/**
 * {@link nearest} for the many values of one answer, whose work together is bounded: once it is
 * spent, nothing more is suggested.
 */
export function suggestions(work: number = MAX_ANSWER_WORK): Suggest {
  let left = work;
  return (text, candidates) => {
    if (typeof text !== "string" || text.length > MAX_LENGTH || left <= 0) return undefined;
    const near = candidates.slice(0, MAX_CANDIDATES).filter((name) => name.length <= MAX_LENGTH);
    left -= near.reduce((sum, name) => sum + (name.length + 1) * (text.length + 1), 0);
    if (left < 0) return undefined;
    const maxDistance = Math.max(1, Math.floor(text.length / 3));
    const match = closestMatch(text, near, { maxDistance });
    return match === text ? undefined : match;
  };
}
