const FORM = "0000-00-00T00:00:00Z";
const WITH_FRACTION = /^(.{19})\.(\d{1,9})Z$/;
const DURATION = /^(\d{1,9})([smhd])$/;
const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600, d: 86_400 };

// Cache of the last result, since a token's timestamps are read several times in one check.
let readText = "";
let readMoment: number | undefined;

/**
 * Parses a timestamp in the only accepted form, `YYYY-MM-DDTHH:MM:SSZ`, to milliseconds since 1970; `undefined`
 * for any other string, a date that does not exist, or a leap second.
 */
export function parseTime(text: string): number | undefined {
  if (text === readText) return readMoment;
  readMoment = momentOf(text);
  readText = text;
  return readMoment;
}

function momentOf(text: string): number | undefined {
  if (typeof text !== "string" || !hasForm(text)) return undefined;
  const year = 100 * twoDigits(text, 0) + twoDigits(text, 2);
  const month = twoDigits(text, 5);
  const day = twoDigits(text, 8);
  const hour = twoDigits(text, 11);
  const minute = twoDigits(text, 14);
  const second = twoDigits(text, 17);
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  return (((daysBefore(year, month) + day - 1) * 24 + hour) * 60 + minute) * 60_000 + second * 1000;
}

function hasForm(text: string): boolean {
  if (text.length !== FORM.length) return false;
  for (let at = 0; at < FORM.length; at++) {
    const wanted = FORM.charCodeAt(at);
    const beyond = text.charCodeAt(at) - wanted;
    if (wanted === 0x30 ? beyond < 0 || beyond > 9 : beyond !== 0) return false;
  }
  return true;
}

function twoDigits(text: string, at: number): number {
  return 10 * text.charCodeAt(at) + text.charCodeAt(at + 1) - 11 * 0x30;
}

function isLeap(year: number): boolean {
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
}

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

/** Returns the days from 1970-01-01 to the first of a month, in the proleptic Gregorian calendar. */
function daysBefore(year: number, month: number): number {
  const before = year - 1;
  const leaps = Math.floor(before / 4) - Math.floor(before / 100) + Math.floor(before / 400);
  const inYear = Math.floor((367 * month - 362) / 12) - (month <= 2 ? 0 : isLeap(year) ? 1 : 2);
  return 365 * before + leaps + inYear - 719_162;
}

// Cache of the last result, since most times are in the same second as the time that was formatted before.
let written: { readonly second: number; readonly text: string } | undefined;

/**
 * Formats a time in canonical form, rounded down to the second.
 *
 * @throws TypeError if the time is outside the years 0000 to 9999.
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
 * Parses a timestamp with or without a fraction of a second to milliseconds since 1970; `undefined` for anything
 * else. A fraction other than zero becomes one millisecond, since a fraction only matters for rounding to a second.
 */
export function parseMoment(text: unknown): number | undefined {
  if (typeof text !== "string") return undefined;
  const [, seconds, fraction = ""] = WITH_FRACTION.exec(text) ?? [];
  if (seconds === undefined) return parseTime(text);
  const whole = parseTime(`${seconds}Z`);
  return whole === undefined ? undefined : whole + (/[1-9]/.test(fraction) ? 1 : 0);
}

/** Parses a duration such as `90s`, `15m`, `2h` or `1d` to whole seconds; `undefined` for anything else. */
export function readDuration(text: string): number | undefined {
  const [, count, unit = ""] = DURATION.exec(text) ?? [];
  const seconds = UNIT_SECONDS[unit];
  return count === undefined || seconds === undefined ? undefined : Number(count) * seconds;
}

/** Copies a `Date` of any realm, valid or not; `undefined` for anything else. */
export function copyOfDate(value: unknown): Date | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  try {
    // The value's class may have another `getTime`.
    return new Date(Date.prototype.getTime.call(value));
  } catch {
    return undefined;
  }
}
