import { html, type Markup, type Part } from "../markup/markup.js";
import type { Row } from "../markup/words.js";

/** Labels and what stands beside them. */
export function rowList(
  rows: readonly (readonly [label: Part, words: Part] | undefined | false)[],
): Markup {
  const shown = rows.filter((row) => row !== undefined && row !== false);
  return html`<dl>${shown.map(([label, words]) => html`<dt>${label}</dt><dd>${words}</dd>`)}</dl>`;
}

/** Limits in words, or that there are no limits. */
export function limitList(rows: readonly Row[], none: string): Markup {
  return rows.length === 0 ? html`<p>${none}</p>` : rowList(rows);
}

/** Cards below one another, or a sentence where there are no cards. */
export function cards(items: readonly Markup[], none: string): Markup {
  if (items.length === 0) return html`<p class="card">${none}</p>`;
  return html`<ul class="cards">${items.map((item) => html`<li class="card">${item}</li>`)}</ul>`;
}
