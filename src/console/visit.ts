import type { Request, RequestHandler, Response } from "express";
import type { Desk } from "./desk.js";
import type { Session } from "./sessions.js";

/** A request of a user that is signed in. */
export interface Visit {
  readonly req: Request;
  readonly res: Response;
  readonly session: Session;
}

/** Handles the request of a user that is signed in. */
export function visit(desk: Desk, handle: (visit: Visit) => Promise<void>): RequestHandler {
  return async (req, res) => {
    const session = desk.sessions.of(req);
    // It may have ended since it was looked at.
    if (session === undefined) return res.redirect(303, desk.base);
    return handle({ req, res, session });
  };
}

/** One parameter of the address; empty if it is absent or not one text. */
export function query(req: Request, name: string): string {
  const value: unknown = req.query[name];
  return typeof value === "string" ? value : "";
}

export function idIn({ params }: Request): string {
  const { id } = params;
  return typeof id === "string" ? id : "";
}
