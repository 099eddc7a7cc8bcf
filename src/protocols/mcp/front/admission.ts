import express, { type Request, type RequestHandler } from "express";
import { whenClosed } from "../../../http/when-closed.js";
import { INVALID_REQUEST } from "../message/error-codes.js";
import { busy, refuse } from "./http-refusals.js";
import { tokensIn } from "./http-request.js";
import type { CallerOf, HttpCaller } from "./http-sessions.js";
import { Shares, STRANGERS } from "./shares.js";
import { UnfinishedBodies } from "./unfinished-bodies.js";

/** Maximum number of POST requests that are open at the same time. One caller may have a quarter of them. */
const MOST_POSTS = 512;

/** Handlers that run before a message is read. They identify the caller, and limit the open requests of each caller. */
export class Admission {
  readonly #callerOf: CallerOf;
  readonly #callers = new WeakMap<Request, HttpCaller>();
  readonly #posts = new Shares(MOST_POSTS);
  readonly #unfinished: UnfinishedBodies;

  /** @param unfinished - Maximum number of received bytes of all incomplete bodies together; 64 MiB unless given. */
  constructor(callerOf: CallerOf, unfinished: number | undefined) {
    this.#callerOf = callerOf;
    this.#unfinished = new UnfinishedBodies(unfinished);
  }

  /** Returns a handler that finds the party that sends a request, by the tokens in its headers. */
  identify(): RequestHandler {
    return async (req, res, next) => {
      const given = tokensIn(req.headers);
      if (!given.ok) return refuse(res, 400, INVALID_REQUEST, given.reason);
      const { tokens } = given;
      const name = tokens.length === 0 ? undefined : await this.#callerOf(tokens);
      this.#callers.set(req, { tokens, name: name ?? STRANGERS });
      // The client may have disconnected meanwhile.
      if (!res.closed) next();
    };
  }

  /** Returns the party that sends a request. Call {@link Admission.identify} first. */
  caller(req: Request): HttpCaller {
    const caller = this.#callers.get(req);
    if (caller === undefined) throw new TypeError("the caller of this request is not known yet");
    return caller;
  }

  /** Returns a handler that answers 503 if too many requests are open, in total or of this caller. */
  bound(): RequestHandler {
    return (req, res, next) => {
      const done = this.#posts.take(this.caller(req).name);
      if (done === undefined) return busy(res);
      whenClosed(res, done);
      next();
    };
  }

  /** Returns a handler that reads a body of at most `limit` bytes. */
  body(limit: number): RequestHandler {
    const read = express.raw({ type: () => true, limit, inflate: false });
    return (req, res, next) => {
      this.#unfinished.add(req, this.caller(req).name);
      read(req, res, (error?: { readonly type?: unknown }) => {
        if (error === undefined) return next();
        const isLarge = error.type === "entity.too.large";
        const reason = isLarge ? `the body has more than ${limit} bytes` : "the body is unreadable";
        refuse(res, isLarge ? 413 : 400, INVALID_REQUEST, reason);
      });
    };
  }
}
