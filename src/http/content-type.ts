import type { RequestHandler } from "express";
import { type FaultWriter, invalidRequest } from "./fault.js";

/**
 * Refuses a body that is of another type than JSON in UTF-8 before it is read.
 *
 * @param types - The content types that are taken, such as `application/json`.
 */
export function contentType(types: readonly string[], answer: FaultWriter): RequestHandler {
  const taken = [...types];
  return (req, res, next) => {
    const { "content-type": type = "", "content-length": length } = req.headers;
    const is = req.is(taken);
    // Without a body there is nothing to read; one without a type would be passed over unread.
    if (is === null || (type === "" && length === "0")) return next();
    if (is === false) {
      const message = `the body must be ${taken.join(" or ")}, not ${JSON.stringify(type.slice(0, 64))}`;
      return answer(res, { status: 415, reason: "content_type", message });
    }
    // Whatever looks like a charset, in quotes too: readers of the header may differ on which counts.
    const charsets = [...type.matchAll(CHARSET)].map(([, charset = ""]) => charset.toLowerCase());
    if (charsets.every((charset) => charset === "utf-8")) return next();
    return answer(res, invalidRequest("the body must be UTF-8"));
  };
}

const CHARSET = /charset\s*=\s*"?([^\s";]+)/gi;
