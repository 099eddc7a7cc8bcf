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
    const { "content-type": type = "", "content-length": length } = req.headers;
    const is = req.is(taken);
    // Without a body there is nothing to read; one without a type would be passed over unread.
    if (is === null || (type === "" && length === "0")) return next();
    if (is === false) {
      const message = `the body must be ${taken.join(" or ")}, not ${JSON.stringify(type.slice(0, 64))}`;
      const error = new ContentTypeNotSupportedError(message);
      return answerFault(res, binding, faultFrom(error), undefined);
    }
    // Whatever looks like a charset, in quotes too: readers of the header may differ on which counts.
    const charsets = [...type.matchAll(CHARSET)].map(([, charset = ""]) => charset.toLowerCase());
    if (charsets.every((charset) => charset === "utf-8")) return next();
    const message = "the body must be UTF-8";
    return answerFault(res, binding, fault(-32600, message, "invalid_request"), undefined);
  };
}

const CHARSET = /charset\s*=\s*"?([^\s";]+)/gi;
