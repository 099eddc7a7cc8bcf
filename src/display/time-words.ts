import { parseTime } from "../caveats/time.js";

/** Formats a duration in seconds, minutes, hours or days, rounded: `12 min`, `2 h`, `3 days`. */
export function spanInWords(milliseconds: number): string {
  const seconds = Math.max(0, Math.round(milliseconds / 1000));
  if (seconds < 110) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < 110) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < 44 ? `${hours} h` : `${Math.round(hours / 24)} days`;
}

/** Describes a time relative to the present: `in 12 min` or `12 min ago`. */
export function seenFromNow(time: string, now: number): string {
  const moment = parseTime(time);
  if (moment === undefined) return "at an unknown time";
  return moment > now ? `in ${spanInWords(moment - now)}` : `${spanInWords(now - moment)} ago`;
}
