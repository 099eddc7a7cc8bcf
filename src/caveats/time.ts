const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;
const WITH_FRACTION = /^(.{19})\.(\d{1,9})Z$/;
const DURATION = /^(\d{1,9})([smhd])$/;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

/**
 * Milliseconds since 1970 of a time in the one form allowed, `YYYY-MM-DDTHH:MM:SSZ`; `undefined`
 * for any other text, a date that does not exist, or a leap second.
 */
export function parseTime(text: string): number | undefined {
  if (!FORM.test(text)) return undefined;
  const time = new Date(text);
  // A Date lets 30 February and 24:00 roll over into the next day.
  const exists = time.getUTCDate() === Number(text.slice(8, 10)) && !text.startsWith("24", 11);
  return exists ? time.getTime() : undefined;
}

// Most moments that are written are in the second of the one before.
let written: { readonly second: number; readonly text: string } | undefined;

/**
 * The canonical form of a moment, in whole seconds, rounded down.
 *
 * @throws TypeError if the moment is outside the years 0000 to 9999.
 */
export function formatTime(milliseconds: number): string {
  const second = Math.floor(milliseconds / 1000);
  if (written?.second === second) return written.text;
  const time = new Date(second * 1000);
  if (Number.isNaN(time.getTime())) throw new TypeError("not a moment in time");
  const text = time.toISOString();
  if (text.length !== 24) throw new TypeError(`the year of ${text} does not have four digits`);
  written = { second, text: `${text.slice(0, 19)}Z` };
  return written.text;
}

/**
 * Milliseconds since 1970 of a time in the one form allowed or, as `Date.prototype.toISOString`
 * writes it, with a fraction of a second; `undefined` for anything else. Any fraction counts as one
 * millisecond: it only decides to which second the moment is rounded.
 */
export function parseMoment(text: unknown): number | undefined {
  if (typeof text !== "string") return undefined;
  const [, seconds, fraction = ""] = WITH_FRACTION.exec(text) ?? [];
  if (seconds === undefined) return parseTime(text);
  const whole = parseTime(`${seconds}Z`);
  return whole === undefined ? undefined : whole + (/[1-9]/.test(fraction) ? 1 : 0);
}

/** Whole seconds of a duration such as `90s`, `15m`, `2h` or `1d`; `undefined` for anything else. */
export function readDuration(text: string): number | undefined {
  const [, count, unit = ""] = DURATION.exec(text) ?? [];
  const seconds = UNIT_SECONDS[unit];
  return count === undefined || seconds === undefined ? undefined : Number(count) * seconds;
}
