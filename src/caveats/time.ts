const FORM = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/;

/**
 * Milliseconds since 1970 of a time in the one form allowed, `YYYY-MM-DDTHH:MM:SSZ`; `undefined`
 * for any other text, a date that does not exist, or a leap second.
 */
export function parseTime(text: string): number | undefined {
  if (!FORM.test(text)) return undefined;
  const time = Date.parse(text);
  // Date.parse lets 30 February and 24:00 roll over; writing the result again shows it.
  return !Number.isNaN(time) && formatTime(time) === text ? time : undefined;
}

/**
 * The canonical form of a moment, in whole seconds, rounded down.
 *
 * @throws TypeError if the moment is outside the years 0000 to 9999.
 */
export function formatTime(milliseconds: number): string {
  const time = new Date(Math.floor(milliseconds / 1000) * 1000);
  if (Number.isNaN(time.getTime())) throw new TypeError("not a moment in time");
  const text = time.toISOString();
  if (text.length !== 24) throw new TypeError(`the year of ${text} does not have four digits`);
  return `${text.slice(0, 19)}Z`;
}
