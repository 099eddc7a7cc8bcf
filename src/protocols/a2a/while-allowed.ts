import type { Call } from "./calls.js";

/** Milliseconds to wait where a capability still stands at its expiry, by a clock that is behind this one. */
const AGAIN = 1000;
/** Milliseconds of the longest timer that Node has. */
const LONGEST = 2 ** 31 - 1;

/**
 * Hands events on while their caller may have them. That is asked before each event but the first, for which the
 * request has just been let in, and when a capability expires. Ends once the caller has gone.
 *
 * @param again - Asks once more. @throws What the stream ends with.
 */
export async function* whileAllowed<Event>(
  events: AsyncIterable<Event>,
  again: () => Promise<void>,
  call: Call,
): AsyncGenerator<Event, void, undefined> {
  const ask = (): Promise<void> => call.askAgain?.(again) ?? again();
  let isClosed = false;
  let notify = (): void => {};
  call.whenClosed?.(() => {
    isClosed = true;
    notify();
  });
  /** Fulfilled when an event has come, a capability expires, or the caller goes. */
  const happening = (coming: Promise<unknown>): Promise<"event" | "expiry" | "end"> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, untilExpiry(call), "expiry").unref();
      notify = () => resolve("end");
      if (isClosed) notify();
      const come = coming.then(() => resolve("event"), reject);
      void come.finally(() => clearTimeout(timer));
    });
  const iterator = events[Symbol.asyncIterator]();
  let coming: Promise<IteratorResult<Event>> | undefined;
  let isFirst = true;
  try {
    for (;;) {
      coming ??= iterator.next();
      const happened = await happening(coming);
      if (isClosed) return;
      if (happened === "expiry") {
        await ask();
        continue;
      }
      const event = await coming;
      coming = undefined;
      if (event.done === true) return;
      if (!isFirst) await ask();
      isFirst = false;
      yield event.value;
    }
  } finally {
    // Neither is awaited: an event may never come.
    coming?.catch(() => {});
    iterator.return?.().catch(() => {});
  }
}

function untilExpiry({ expires = Number.POSITIVE_INFINITY }: Call): number {
  const left = expires - Date.now();
  return Math.min(left > 0 ? left : AGAIN, LONGEST);
}
