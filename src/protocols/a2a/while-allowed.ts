import type { Connection } from "./connection.js";

/** Milliseconds to wait where a capability still stands at its expiry, by a clock that is behind this one. */
const AGAIN = 1000;
/** Milliseconds of the longest timer that Node has. */
const LONGEST = 2 ** 31 - 1;

/** What a stream goes on by. */
interface Allowance {
  /** When the first of its capabilities expires: milliseconds since 1970. */
  readonly expires: number;
  /** Asks once more. @returns When the first of its capabilities expires now. @throws What the stream ends with. */
  readonly again: () => Promise<number>;
  readonly connection: Connection;
}

/**
 * Hands events on while their caller may have them. That is asked before each event but the first, for which the
 * request has just been let in, and when a capability expires. Ends once the caller has gone.
 */
export async function* whileAllowed<Event>(
  events: AsyncIterable<Event>,
  { expires: first, again, connection }: Allowance,
): AsyncGenerator<Event, void, undefined> {
  let expires = first;
  const ask = async (): Promise<void> => {
    expires = await connection.askAgain(again);
  };
  let isClosed = false;
  let notify = (): void => {};
  connection.whenClosed(() => {
    isClosed = true;
    notify();
  });
  /** Fulfilled when an event has come, a capability expires, or the caller goes. */
  const happening = (coming: Promise<unknown>): Promise<"event" | "expiry" | "end"> =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(resolve, untilExpiry(expires), "expiry").unref();
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

function untilExpiry(expires: number): number {
  const left = expires - Date.now();
  return Math.min(left > 0 ? left : AGAIN, LONGEST);
}
