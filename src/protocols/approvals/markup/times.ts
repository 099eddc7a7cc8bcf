import { seenFromNow, spanInWords } from "../../../caveats/moment-words.js";
import { formatTime } from "../../../caveats/time.js";
import { html, type Markup } from "./markup.js";

/** A moment in words, and how far it is from now. @param at - Milliseconds since 1970. */
export function moment(at: number, now: number): Markup {
  return time(formatTime(at), now);
}

/** A time as a hop has it, in words, and how far it is from now. */
export function time(text: string, now: number): Markup {
  const [date = "", clock = ""] = text.replace("Z", "").split("T");
  return html`<time datetime="${text}">${date} ${clock} UTC</time> (${seenFromNow(text, now)})`;
}

/** So many seconds in words: `15 min`, with what the rounding leaves out. */
export function seconds(count: number): string {
  const words = spanInWords(count * 1000);
  for (const [unit, size] of UNITS) {
    if (count % size === 0 && count >= size) return `${count / size} ${unit}`;
  }
  return `${words} (${count} s)`;
}

const UNITS: readonly (readonly [string, number])[] = [
  ["days", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
];
