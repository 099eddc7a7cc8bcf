import type { Request, RequestHandler, Response } from "express";
import type { Desk } from "./desk.js";
import type { Session } from "./sessions.js";

/** A request by a signed-in user. */
export interface Visit {
  readonly req: Request;
  readonly res: Response;
  readonly session: Session;
}

/** Wraps a handler that only takes requests of signed-in users. */
export function visit(desk: Desk, handle: (visit: Visit) => Promise<void>): RequestHandler {
  return async (req, res) => {
    const session = desk.sessions.of(req);
    // The session may have ended since `requireUser` checked it.
    if (session === undefined) return res.redirect(303, desk.base);
    return handle({ req, res, session });
  };
}

/** Returns a query parameter; an empty string if the parameter is absent or not a single string. */
export function query(req: Request, name: string): string {
  const value: unknown = req.query[name];
  return typeof value === "string" ? value : "";
}

export function idIn({ params }: Request): string {
  const { id } = params;
  return typeof id === "string" ? id : "";
}
