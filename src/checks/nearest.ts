import { closestMatch } from "leven";

// The work for one candidate is proportional to the product of the lengths of both strings. Therefore long strings get
// no suggestion, and only the first candidates of a long list are compared.
const MAX_LENGTH = 64;
const MAX_CANDIDATES = 64;

// Limit for all suggestions in one answer, in products of lengths: some 20 microseconds of work. Thanks to the limit,
// a refusal costs little more than an allowed call, however many values the refusal names.
const MAX_ANSWER_WORK = 8192;

/** Returns the candidate that a misspelt string most likely meant; `undefined` if no candidate is similar. */
export type Suggest = (text: unknown, candidates: readonly string[]) => string | undefined;

/**
 * Returns the candidate that `text` most likely meant; `undefined` if no candidate is similar, or a candidate is
 * equal to `text`. A candidate is similar in one of these cases:
 *
 * - It differs from `text` only in case.
 * - It is the only candidate that `text` abbreviates.
 * - Two neighbouring characters of `text` are swapped in it.
 * - It is a few edits away from `text`: at most a third of the length of `text`, and one edit for a short `text`.
 */
export function nearest(text: unknown, candidates: readonly string[]): string | undefined {
  return suggestions(Number.POSITIVE_INFINITY)(text, candidates);
}

/**
 * Returns a function like {@link nearest} for all values of one answer. Once a comparison would exceed the total
 * `work`, the function suggests nothing more.
 */
export function suggestions(work: number = MAX_ANSWER_WORK): Suggest {
  let left = work;
  return (text, candidates) => {
    if (typeof text !== "string" || text.length > MAX_LENGTH || left <= 0) return undefined;
    const near = candidates.slice(0, MAX_CANDIDATES).filter((name) => name.length <= MAX_LENGTH);
    left -= near.reduce((sum, name) => sum + (name.length + 1) * (text.length + 1), 0);
    if (left < 0) return undefined;
    if (near.includes(text)) return undefined;
    const maxDistance = Math.max(1, Math.floor(text.length / 3));
    const lower = text.toLowerCase();
    return (
      near.find((name) => name.toLowerCase() === lower) ??
      abbreviated(text, near) ??
      near.find((name) => isSwapped(text, name)) ??
      closestMatch(
        text,
        near.filter((name) => maxDistance < Math.max(text.length, name.length) / 2),
        { maxDistance },
      )
    );
  };
}

/** Returns whether `name` is `text` with two neighbouring characters swapped. */
function isSwapped(text: string, name: string): boolean {
  if (text.length !== name.length) return false;
  let at = 0;
  while (at < text.length && text[at] === name[at]) at++;
  const swapped = `${text.slice(0, at)}${text.charAt(at + 1)}${text.charAt(at)}${text.slice(at + 2)}`;
  return name === swapped;
}

/** Three or more consonants, as in `cmd`. */
const ABBREVIATION = /^[b-df-hj-np-tv-xz]{3,}$/;

/** Returns the only candidate that `text` abbreviates, such as `command` for `cmd`. */
function abbreviated(text: string, candidates: readonly string[]): string | undefined {
  if (!ABBREVIATION.test(text)) return undefined;
  const [match, ...others] = candidates.filter((name) => abbreviates(text, name));
  return others.length === 0 ? match : undefined;
}

/** Returns whether `name` has the same first letter as `text`, and has all letters of `text` in the same order. */
function abbreviates(text: string, name: string): boolean {
  let left = text;
  for (const letter of name) if (left.startsWith(letter)) left = left.slice(1);
  return left === "" && text.charAt(0) === name.charAt(0);
}
