import { closestMatch } from "leven";

// Work grows with the product of the lengths, so long strings and long lists get no suggestion.
const MAX_LENGTH = 64;
const MAX_CANDIDATES = 64;

/** The candidate that `text` is most likely a misspelling of. */
export function nearest(text: unknown, candidates: readonly string[]): string | undefined {
  if (typeof text !== "string" || text.length > MAX_LENGTH) return undefined;
  const near = candidates.slice(0, MAX_CANDIDATES).filter((name) => name.length <= MAX_LENGTH);
  const maxDistance = Math.max(1, Math.floor(text.length / 3));
  const match = closestMatch(text, near, { maxDistance });
  return match === text ? undefined : match;
}
