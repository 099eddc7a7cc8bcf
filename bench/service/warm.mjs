// Before anything is measured: calls until the runtime has compiled what each of them runs.

/** @import { startChild, startLoad } from "./children.mjs" */

/** Calls that a server answers before it is measured, and milliseconds after which it is measured anyway. */
const CALLS = 12_000;
const LONGEST = 60_000;
/** Milliseconds of one stretch. */
const STRETCH = 1000;

/**
 * Calls one server until it is warm. Returns the calls that it answered, so that a figure of a server which
 * was not warm can be recognized.
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
