// Warms a server before it is measured: calls it until the runtime has compiled the code of a call.

/** @import { startChild, startLoad } from "./children.mjs" */

/**
 * Number of calls before a server is measured, and the milliseconds after which it is measured even with fewer calls.
 */
const CALLS = 12_000;
const LONGEST = 60_000;
/** Milliseconds of one stretch. */
const STRETCH = 1000;

/**
 * Calls one server until it is warm. Returns the number of calls that it answered, which shows if a server was
 * not warm.
 * @param {Awaited<ReturnType<typeof startLoad>>} load
 * @param {Awaited<ReturnType<typeof startChild>>} server
 * @param {number} [longest] milliseconds
 */
export async function warmUp(load, { address }, longest = LONGEST) {
  const until = performance.now() + longest;
  let made = 0;
  while (made < CALLS && performance.now() < until) {
    made += (await load.calls(address, { milliseconds: STRETCH })).calls;
  }
  return made;
}
