import type { Request, RequestHandler } from "express";
import type { Json } from "../../bytes/json.js";
import type { Issuer } from "../../issuer/issuer.js";
import { answerFault } from "./answer.js";
import { type Binding, fault } from "./errors.js";
import { membersOf, outlineOf } from "./places.js";
import { type PresentedReading, readPresented } from "./presented.js";
import { unreadIn } from "./unread.js";

const readings = new WeakMap<Request, PresentedReading>();

/**
 * Reads what a request presents, once for all that follows, and refuses a request that has a capability
 * where its method reads none. What is wrong with a presented list is for its method to answer.
 */
export function presentation(binding: Binding, issuer: Issuer): RequestHandler {
  return (req, res, next) => {
    const given: Json | undefined = req.body;
    const body = membersOf(given);
    const outline = outlineOf(binding, req.path, body);
    const problem = unreadIn(req, outline, issuer);
    if (problem !== undefined) {
      return answerFault(res, binding, fault(-32602, problem, "invalid_request"), body["id"]);
    }
    readings.set(req, readPresented(outline.params, req.headers, outline.places));
    return next();
  };
}

/** What a request presents. @throws TypeError for one that {@link presentation} has not read. */
export function presentedOf(req: Request): PresentedReading {
  const reading = readings.get(req);
  if (reading === undefined) throw new TypeError("what this request presents has not been read");
  return reading;
}
