import type { RequestHandler } from "express";
import { type FaultWriter, invalidRequest } from "./fault.js";

/** Refuses a body with half of a surrogate pair in it, which nothing could keep as it came. */
export function wellFormedBody(answer: FaultWriter): RequestHandler {
  return (req, res, next) => {
    if (isWellFormed(req.body)) return next();
    return answer(res, invalidRequest("a text in the body has half of a surrogate pair"));
  };
}

// Iterative, though the depth of a body is limited by now.
function isWellFormed(body: unknown): boolean {
  const waiting: unknown[] = [body];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === "string" && !value.isWellFormed()) return false;
    if (typeof value !== "object" || value === null) continue;
    for (const [name, inner] of Object.entries(value)) waiting.push(name, inner);
  }
  return true;
}
