import type { RequestHandler } from "express";

/** Every emitter of events has this member, before any other. */
interface Emitter {
  _events?: unknown;
}

/** Node 20 and 22 have V8 11 and 12. */
const isNeeded = Number.parseInt(process.versions.v8, 10) < 13;

/**
 * Gives the requests and answers of an Express app a shape that all of them share. Express changes the prototype of
 * each; up to V8 12, each member that is added afterwards makes a shape of its own, and no look-up of a member finds
 * what the engine has learned from the requests before. An object that has lost a member which was not its last is a
 * table, and tables share one shape.
 */
export const shareShapes: RequestHandler = (req, res, next) => {
  if (isNeeded) for (const one of [req, res]) makeTable(one as Emitter);
  next();
};

function makeTable(emitter: Emitter): void {
  if (!Object.hasOwn(emitter, "_events") || !Object.isExtensible(emitter)) return;
  const { _events } = emitter;
  delete emitter._events;
  emitter._events = _events;
}
