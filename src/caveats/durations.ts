import type { Authority } from "./authority.js";
import type { HopInit } from "./hop.js";
import { shown } from "./scalar.js";
import { parseMoment, parseTime, readDuration } from "./time.js";

const TIMES =
  "a time such as 2026-01-31T23:59:59Z, a Date, or a duration such as 90s, 15m, 2h or 1d";

/**
 * Replaces the durations in a hop by timestamps; times that are not durations stay unchanged. A duration in `expires`
 * ends at the latest with the expiry of `authority`, unless that expiry has passed. A duration in `notBefore` ends at
 * the earliest with the `notBefore` of `authority`.
 *
 * @param now - Milliseconds since 1970.
 */
export function withoutDurations(init: HopInit, now: number, authority: Authority = {}): HopInit {
  const { expires, notBefore } = init;
  const end = momentFrom(expires, now);
  const start = momentFrom(notBefore, now);
  return {
    ...init,
    ...(end === undefined ? {} : { expires: earlier(end, authority.expires, now) }),
    ...(start === undefined ? {} : { notBefore: later(start, authority.notBefore) }),
  };
}

/**
 * Throws unless each time of a hop is a timestamp, a `Date` or a duration.
 *
 * @throws TypeError that names the key and the accepted forms.
 */
export function assertTimes({ expires, notBefore }: HopInit): void {
  for (const [key, time] of Object.entries({ expires, notBefore })) {
    if (time === undefined || time instanceof Date || parseMoment(time) !== undefined) continue;
    if (typeof time === "string" && readDuration(time) !== undefined) continue;
    throw new TypeError(`"${key}" must be ${TIMES}, not ${shown(time)}`);
  }
}

function momentFrom(time: string | Date | undefined, now: number): number | undefined {
  const seconds = typeof time === "string" ? readDuration(time) : undefined;
  return seconds === undefined ? undefined : now + seconds * 1000;
}

function earlier(moment: number, bound: string | undefined, now: number): Date {
  const most = bound === undefined ? undefined : parseTime(bound);
  return new Date(most === undefined || most <= now ? moment : Math.min(moment, most));
}

function later(moment: number, bound: string | undefined): Date {
  const least = bound === undefined ? undefined : parseTime(bound);
  return new Date(Math.max(moment, least ?? moment));
}
