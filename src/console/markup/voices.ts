import { isObject } from "../../bytes/json.js";
import type { Hop } from "../../caveats/hop.js";
import type { Scalar } from "../../caveats/scalar.js";
import { html, type Markup } from "../../http/markup/markup.js";
import { ours, said } from "../../http/markup/said.js";

/** Marks texts by their origin: a stranger's are quoted and coloured, the server's and the user's are not. */
export interface Voice {
  /** The name of something, such as an argument. */
  name(text: string): Markup;
  /** A value of an argument. Values that are no texts stand as JSON has them, so that 1 and "1" differ. */
  value(one: Scalar): Markup;
}

/** @param own - The texts that the server or the user has chosen; all others are a stranger's. */
export function voiceFor(own: ReadonlySet<string>): Voice {
  return {
    name: (text) => (own.has(text) ? ours(text) : said(text)),
    value(one) {
      if (typeof one === "string" && !own.has(one)) return said(one);
      return html`<b class="value">${ours(JSON.stringify(one))}</b>`;
    },
  };
}

/** All names and texts in a hop. */
export function textsIn(hop: Hop): readonly string[] {
  const texts: string[] = [];
  const left: unknown[] = [hop];
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === "string") texts.push(value);
    else if (Array.isArray(value)) left.push(...value.filter((one) => one !== undefined));
    else if (isObject(value)) {
      texts.push(...Object.keys(value));
      left.push(...Object.values(value).filter((one) => one !== undefined));
    }
  }
  return texts;
}
