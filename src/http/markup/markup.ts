import { formatTime } from "../../caveats/time.js";
import { seenFromNow, spanInWords } from "../../display/time-words.js";

// Only this file can make markup from a string.
let make: (text: string) => Markup;

/**
 * Markup that is safe to send. Only {@link html} makes it, from constant texts of this package and from values
 * that it escapes.
 */
export class Markup {
  readonly #text: string;

  private constructor(text: string) {
    this.#text = text;
  }

  static {
    make = (text) => new Markup(text);
  }

  toString(): string {
    return this.#text;
  }
}

/** A value that can be inserted into {@link html}. `undefined` and `false` insert nothing. */
export type Part = Markup | string | number | undefined | false | readonly Part[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/**
 * Makes markup from a template. It escapes the inserted values, so they are also safe within an attribute in
 * double quotes.
 */
export function html(strings: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  let text = strings[0] ?? "";
  for (const [at, part] of parts.entries()) text += written(part) + (strings[at + 1] ?? "");
  return make(text);
}

function written(part: Part): string {
  if (part === undefined || part === false) return "";
  if (typeof part === "string") return part.replace(/[&<>"']/g, (found) => ESCAPES[found] ?? "");
  if (typeof part === "number") return String(part);
  return part instanceof Markup ? part.toString() : part.map(written).join("");
}

/**
 * Formats a time, with its distance from the present.
 *
 * @param at - The time in milliseconds since 1970.
 */
export function moment(at: number, now: number): Markup {
  return time(formatTime(at), now);
}

/** Formats a timestamp of a hop, with its distance from the present. */
export function time(text: string, now: number): Markup {
  const [date = "", clock = ""] = text.replace("Z", "").split("T");
  return html`<time datetime="${text}">${date} ${clock} UTC</time> (${seenFromNow(text, now)})`;
}

/** Formats a number of seconds, such as `15 min`. If the result is rounded, adds the exact value. */
export function seconds(count: number): string {
  const words = spanInWords(count * 1000);
  for (const [one, many, size] of UNITS) {
    if (count === size) return `1 ${one}`;
    if (count % size === 0 && count > size) return `${count / size} ${many}`;
  }
  return `${words} (${count} s)`;
}

const UNITS: readonly (readonly [one: string, many: string, seconds: number])[] = [
  ["day", "days", 86_400],
  ["h", "h", 3600],
  ["min", "min", 60],
  ["s", "s", 1],
];
