import type { Response } from "express";
import type { Caller } from "../../agent/caller.js";
import { endStream, setFaultHeaders } from "./answer.js";
import { type Binding, type Fault, failedWithin, fault, faultOf, throwRefused } from "./errors.js";
import { ERROR_CODES } from "./extension.js";

/** Who makes a request, as an app says it: nothing for a caller that is not known. */
export type Known = Caller | null | undefined;

/** The caller's end of a request, for what comes after the gate. */
export interface Connection {
  /** Calls back once the caller listens no more. */
  whenClosed(then: () => void): void;
  /**
   * Authenticates the caller once more, and then asks, where a stream goes on.
   *
   * @throws Refused, or the A2AError to answer.
   */
  askAgain<T>(ask: () => Promise<T>): Promise<T>;
  /** Says in the answer's headers what they say of a fault: the SDK's handlers keep none of an error's. */
  setHeaders(why: Fault): void;
  /** Ends a stream with a fault as its last event. */
  endStream(why: Fault): void;
}

/** What the connection of a request rests on. */
export interface ConnectionOptions {
  readonly binding: Binding;
  readonly caller: Caller;
  /** Who makes the request now. */
  readonly callerAgain: () => Known | Promise<Known>;
  /** Of the JSON-RPC request. */
  readonly id: unknown;
  /** Called with what fails within: the caller learns only that something did. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/** The caller's end of a request of Express. */
export function connectionOf(res: Response, options: ConnectionOptions): Connection {
  const { binding, caller, callerAgain, id, onFailure } = options;
  return {
    whenClosed: (then) => {
      if (res.closed) then();
      else res.once("close", then);
    },
    askAgain: async (ask) => {
      try {
        const known = await callerAgain();
        const same = known?.principal === caller.principal && known.invoker === caller.invoker;
        if (!same) throwRefused(UNKNOWN_CALLER);
        return await ask();
      } catch (error) {
        if (faultOf(error) !== undefined) throw error;
        onFailure(error, "stream");
        return throwRefused(failedWithin(error));
      }
    },
    setHeaders: (why) => {
      if (!res.headersSent) setFaultHeaders(res, why);
    },
    endStream: (why) => endStream(res, binding, why, id),
  };
}

/** The answer to a request of which it is not known who makes it. */
export const UNKNOWN_CALLER: Fault = fault(
  ERROR_CODES.unauthenticated,
  "it is not known who calls",
  "token_missing",
);

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
