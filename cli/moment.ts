import { parseTime, readDuration } from "../src/caveats/time.js";
import { usageError } from "./exit.js";
import { quoted } from "./output.js";

export { seenFromNow, spanInWords } from "../src/display/time-words.js";

const TIME =
  /^(\d{4}-\d{2}-\d{2})[Tt](\d{2}:\d{2}:\d{2})(\.\d+)?(?:([Zz])|([+-])(\d{2}):(\d{2}))?$/;
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const EXAMPLES =
  "give a duration such as 90s, 15m, 2h or 1d, or a time such as 2030-01-31T23:59:59Z";

/**
 * Parses a time: a duration from now, or an RFC 3339 timestamp with a time zone.
 *
 * @param option - The name of the option.
 * @throws CliError that shows the correct form of a time.
 */
export function momentFrom(option: string, text: string, now: number): Date {
  const timeError = (problem: string, hint = EXAMPLES): Error =>
    usageError(`${option} ${quoted(text)}: ${problem}`, hint);
  const seconds = readDuration(text);
  let milliseconds: number;
  if (seconds !== undefined) milliseconds = now + seconds * 1000;
  else {
    if (DATE.test(text) && parseTime(`${text}T00:00:00Z`) !== undefined) {
      const hint = `write ${text}T00:00:00Z for the day's start in UTC, or ${text}T23:59:59Z for its end`;
      throw timeError("the time of day is missing", hint);
    }
    const match = TIME.exec(text);
    if (match === null) throw timeError("this is neither a duration nor a time");
    const [, date = "", clock = "", fraction = "", zulu, sign, hours = "", minutes = ""] = match;
    if (zulu === undefined && sign === undefined) {
      throw timeError("the time zone is missing", "add Z for UTC, or an offset such as +02:00");
    }
    const whole = parseTime(`${date}T${clock}Z`);
    if (whole === undefined || Number(hours) > 23 || Number(minutes) > 59) {
      throw timeError("there is no such time");
    }
    const offset = (Number(hours) * 60 + Number(minutes)) * 60 * 1000 * (sign === "-" ? -1 : 1);
    // The library rounds to whole seconds, so it only matters whether there is a fraction.
    milliseconds = whole - offset + (/[1-9]/.test(fraction) ? 1 : 0);
  }
  const moment = new Date(milliseconds);
  const year = moment.getUTCFullYear();
  if (year >= 0 && year <= 9998) return moment;
  throw timeError("that is beyond the years that a token can name");
}
