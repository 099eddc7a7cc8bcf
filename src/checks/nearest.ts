import { closestMatch } from "leven";

// The work is proportional to the product of the lengths, so long strings and long lists get no suggestion.
const MAX_LENGTH = 64;
const MAX_CANDIDATES = 64;

// Limit for all suggestions in one answer, in products of lengths; some 20 microseconds. With it, a refusal
// costs little more than an allowance, however many values it names.
const MAX_ANSWER_WORK = 8192;

/** Returns the candidate of which a string is most likely a misspelling. */
export type Suggest = (text: unknown, candidates: readonly string[]) => string | undefined;

/** Returns the candidate of which `text` is most likely a misspelling. */
export function nearest(text: unknown, candidates: readonly string[]): string | undefined {
  return suggestions(Number.POSITIVE_INFINITY)(text, candidates);
}

/**
 * Returns {@link nearest} for the many values of one answer. Their total work is limited; after that, nothing
 * more is suggested.
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
