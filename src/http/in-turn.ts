import type { RequestHandler } from "express";

/**
 * One handler that calls others in turn: Express would match the address again for each. What one throws, rejects
 * its promise with, or gives to its own `next`, goes to `next`.
 */
export function inTurn(handlers: readonly RequestHandler[]): RequestHandler {
  return (req, res, next) => {
    const fail = (error: unknown): void => next(error ?? new TypeError("a handler has failed"));
    const call = (at: number): void => {
      const handler = handlers[at];
      if (handler === undefined) {
        next();
        return;
      }
      try {
        const done: unknown = handler(req, res, (error?: unknown) => {
          if (error === undefined || error === null) call(at + 1);
          else next(error);
        });
        if (done instanceof Promise) done.catch(fail);
      } catch (error) {
        fail(error);
      }
    };
    call(0);
  };
}
