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
