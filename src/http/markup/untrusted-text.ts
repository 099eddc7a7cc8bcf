import { escapeOf } from "../../display/printable.js";
import { html, type Markup } from "./markup.js";

/** Longest text that a page shows in full, in characters. Every stored text is shorter. */
export const MOST_SHOWN = 4000;

// Characters that are escaped in pages. Some are unsafe everywhere (src/display/printable.ts). The others could
// mislead a reader: spaces of other widths, fillers, several marks on one letter, and the quotation marks that
// the console uses.
const ODD =
  /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}|[\u201c\u201d\u115f\u1160\u2800\u3164\uffa0]|(?<=\p{M}\p{M})\p{M}/gu;

/**
 * Renders a text of another party: quoted and coloured, on one line, with its writing direction isolated and
 * its hidden characters escaped.
 */
export function untrusted(text: string, most: number = MOST_SHOWN): Markup {
  const shown = text.length > most ? `${wholeTo(text, most)}` : text;
  const cut =
    text.length > most && html`<span class="note"> (cut: ${text.length} characters)</span>`;
  const mixed = mixedWord(shown);
  const warning =
    mixed !== undefined &&
    html`<span class="note"> (letters of different alphabets in one word: ${mixed})</span>`;
  return html`<span class="untrusted">“<bdi>${[...visible(shown)]}</bdi>”</span>${cut}${warning}`;
}

/**
 * Renders a text of this server's configuration, or of the user who looks at the page, with hidden characters
 * escaped. It has no quotation marks and no colour, so it does not look like another party's text.
 */
export function trusted(text: string): Markup {
  return html`<bdi>${[...visible(text)]}</bdi>`;
}

/** Returns a text with hidden characters escaped, for an attribute or a title, where markup is not possible. */
export function plainText(text: string, most = 80): string {
  const short = text.length > most ? `${wholeTo(text, most)}…` : text;
  return short.replace(ODD, escapeOf);
}

function* visible(text: string): Iterable<Markup> {
  let from = 0;
  for (const { 0: odd, index } of text.matchAll(ODD)) {
    if (index > from) yield html`${text.slice(from, index)}`;
    yield html`<span class="escape">${escapeOf(odd)}</span>`;
    from = index + odd.length;
  }
  if (from < text.length) yield html`${text.slice(from)}`;
}

// Cuts a text, but not within a surrogate pair.
function wholeTo(text: string, length: number): string {
  return text.slice(0, length).replace(/[\ud800-\udbff]$/, "");
}

const ALPHABETS: readonly (readonly [string, RegExp])[] = [
  ["Latin", /\p{Script=Latin}/u],
  ["Cyrillic", /\p{Script=Cyrillic}/u],
  ["Greek", /\p{Script=Greek}/u],
  ["Armenian", /\p{Script=Armenian}/u],
  ["Cherokee", /\p{Script=Cherokee}/u],
];

/**
 * Finds the first word that mixes alphabets with similar letters, and returns the names of the alphabets. Returns
 * `undefined` if there is no such word.
 */
function mixedWord(text: string): string | undefined {
  for (const [word] of text.matchAll(/[\p{L}\p{M}]+/gu)) {
    const found = ALPHABETS.filter(([, letter]) => letter.test(word));
    if (found.length > 1) return found.map(([name]) => name).join(", ");
  }
  return undefined;
}
