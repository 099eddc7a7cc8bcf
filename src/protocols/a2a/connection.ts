import type { Response } from "express";
import type { Caller } from "../../agent/caller.js";
import { whenClosed } from "../../http/when-closed.js";
import { endStream, setFaultHeaders } from "./answer.js";
import { type Binding, type Fault, failedWithin, fault, faultOf, throwRefused } from "./errors.js";
import { ERROR_CODES } from "./extension.js";

/** The caller of a request as an app returns it; `undefined` or `null` if the request is not authenticated. */
export type Known = Caller | null | undefined;

/** The HTTP connection of a request, for code behind the gate. */
export interface Connection {
  /** Calls `then` once the client has disconnected. */
  whenClosed(then: () => void): void;
  /**
   * Authenticates the request of an open stream again, then runs `ask`.
   *
   * @returns The result of `ask`.
   *
   * @throws Refused or A2AError, whose fault ends the stream.
   */
  askAgain<T>(ask: () => Promise<T>): Promise<T>;
  /** Sets the response headers of a fault, which the SDK's handlers do not set. */
  setHeaders(why: Fault): void;
  /** Ends a stream with a fault as its last event. */
  endStream(why: Fault): void;
}

export interface ConnectionOptions {
  readonly binding: Binding;
  readonly caller: Caller;
  /** Authenticates the request again, and returns its caller. */
  readonly callerAgain: () => Known | Promise<Known>;
  /** The id of the JSON-RPC request. */
  readonly id: unknown;
  /** Called with each internal error. The client learns only that an error occurred. */
  readonly onFailure: (error: unknown, what: string) => void;
}

/** Returns the connection of an Express request. */
export function connectionOf(res: Response, options: ConnectionOptions): Connection {
  const { binding, caller, callerAgain, id, onFailure } = options;
  return {
    whenClosed: (then) => whenClosed(res, then),
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

/** The fault of a request whose caller is not authenticated. */
export const UNKNOWN_CALLER: Fault = fault(
  ERROR_CODES.unauthenticated,
  "it is not known who calls",
  "token_missing",
);

/** Milliseconds to wait if a capability has expired by this clock but not by the issuer's clock. */
const AGAIN = 1000;
/** Longest delay of a Node timer, in milliseconds. */
const LONGEST = 2 ** 31 - 1;

/** The conditions on which a stream stays open. */
interface Allowance {
  /** Earliest expiry among the caller's capabilities, in milliseconds since 1970. */
  readonly expires: number;
  /**
   * Checks the caller's permission again.
   *
   * @returns The new value of `expires`.
   * @throws The error that ends the stream.
   */
  readonly again: () => Promise<number>;
  readonly connection: Connection;
}

/**
 * Yields events as long as the caller may see them. Checks the permission when a capability expires, and before
 * each event except the first. The first event needs no check, because the gate has just admitted the request.
 * Ends once the client has disconnected.
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
  /** Resolves when an event arrives, a capability expires, or the client disconnects. */
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
    // Neither promise is awaited, since an event may never arrive.
    coming?.catch(() => {});
    iterator.return?.().catch(() => {});
  }
}

function untilExpiry(expires: number): number {
  const left = expires - Date.now();
  return Math.min(left > 0 ? left : AGAIN, LONGEST);
}
