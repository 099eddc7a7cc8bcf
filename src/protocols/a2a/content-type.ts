import { ContentTypeNotSupportedError } from "@a2a-js/sdk/errors";
import type { RequestHandler } from "express";
import { answerFault } from "./body.js";
import { type Binding, fault, faultFrom } from "./errors.js";

/** What a body may be in each binding (A2A 1.0, sections 9.1 and 11.1). */
const TAKEN: Readonly<Record<Binding, readonly string[]>> = {
  jsonrpc: ["application/json"],
  rest: ["application/json", "application/a2a+json"],
};

/** Refuses a body that is of another type than JSON in UTF-8 before it is read. */
export function contentType(binding: Binding): RequestHandler {
  const taken = [...TAKEN[binding]];
  return (req, res, next) => {
    const type = req.headers["content-type"];
    if (type === undefined) return next();
    if (req.is(taken) === false) {
      const message = `the body must be ${taken.join(" or ")}, not ${JSON.stringify(type.slice(0, 64))}`;
      const error = new ContentTypeNotSupportedError(message);
      return answerFault(res, binding, faultFrom(error), undefined);
    }
    const [, charset = "utf-8"] = CHARSET.exec(type) ?? [];
    if (charset.toLowerCase() === "utf-8") return next();
    const message = "the body must be UTF-8";
    return answerFault(res, binding, fault(-32600, message, "invalid_request"), undefined);
  };
}

const CHARSET = /;\s*charset\s*=\s*"?([^\s";]+)/i;
