/** What is searched: a capability as lists show it. */
export interface Searched {
  readonly name: string;
  readonly description: string;
}

/** Characters that a query may have. */
export const MAX_QUERY = 256;
const NAME_POINTS = 2;

/**
 * Capabilities by a query, best first; all for an empty one. A word counts twice in a name, once in a
 * description, whole or as a word's start; any suffices. Work grows with the texts alone.
 */
export function search<Of extends Searched>(all: readonly Of[], query: string): readonly Of[] {
  const words = wordsOf(query);
  if (words.length === 0) return query.trim() === "" ? all : [];
  const scored = all.map((one) => ({ one, score: scoreOf(one, words) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .map(({ one }) => one);
}

function scoreOf({ name, description }: Searched, words: readonly string[]): number {
  const [names, described] = [wordsOf(name), wordsOf(description)];
  const starts = (texts: readonly string[], word: string): boolean =>
    texts.some((text) => text.startsWith(word));
  return words.reduce((sum, word) => {
    if (starts(names, word)) return sum + NAME_POINTS;
    return sum + (starts(described, word) ? 1 : 0);
  }, 0);
}

/** Words in lower case, without what makes a plural: `transfers` is about `transfer_funds`. */
function wordsOf(text: string): readonly string[] {
  const found = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return found.map((word) => (word.length > 3 ? word.replace(/s$/, "") : word));
}
