import type { IncomingMessage } from "node:http";
import express, { type RequestHandler } from "express";
import { inexactPart } from "../bytes/exact-json.js";
import { isObject } from "../bytes/json.js";
import { type FaultWriter, type HttpFault, invalidRequest } from "./fault.js";

/** The limits of a body. The size is checked before the body is parsed, and the depth afterwards. */
export interface BodyLimits {
  /** Largest body, in bytes; 256 KiB by default. */
  readonly bytes: number;
  /** Maximum nesting depth of arrays and objects; 32 by default. */
  readonly depth: number;
}

export const BODY_LIMITS: BodyLimits = { bytes: 256 * 1024, depth: 32 };

/**
 * Returns middleware that reads JSON bodies up to these limits. It answers with a fault if a body exceeds a limit, is
 * not a JSON object, or has a lone surrogate, a duplicate property, or a number that a double cannot hold exactly.
 *
 * @param types - Content types to read. The middleware does not read bodies of other types.
 * @param received - Receives the bytes of each body before they are parsed.
 */
export function jsonBody(
  types: readonly string[],
  limits: BodyLimits,
  answer: FaultWriter,
  received: (req: IncomingMessage, bytes: Uint8Array) => void = () => {},
): RequestHandler {
  // The text is kept. Only the text shows duplicate properties and numbers that were rounded.
  const texts = new WeakMap<IncomingMessage, string>();
  const parse = express.json({
    limit: limits.bytes,
    // With compression, a few bytes could expand to a quarter of a megabyte.
    inflate: false,
    strict: false,
    type: [...types],
    verify: (req, _res, bytes) => {
      texts.set(req, bytes.toString());
      received(req, bytes);
    },
  });
  const inspect: RequestHandler = (req, res, next) => {
    // A request without a body is passed on.
    if (req.body !== undefined && !isObject(req.body)) {
      // If the request were passed on, the protocol's own reader could parse the body again, without limits.
      return answer(res, invalidRequest("the body must be one JSON object"));
    }
    const flaw = flawIn(req.body, limits.depth);
    if (flaw === undefined) {
      const inexact = inexactPart(texts.get(req) ?? "");
      return inexact === undefined
        ? next()
        : answer(res, invalidRequest(`in the body, ${inexact}`));
    }
    if (flaw === "half") {
      return answer(res, invalidRequest("a string in the body has a lone surrogate"));
    }
    const message = `the body is nested more than ${limits.depth} deep`;
    return answer(res, { status: 400, reason: "too_deep", message });
  };
  return (req, res, next) => {
    // The stream of the body calls this function. An error thrown from it would end the process.
    const read = (error?: { readonly type?: unknown }): void => {
      try {
        if (error === undefined) inspect(req, res, next);
        else if (res.headersSent) next(error);
        else answer(res, bodyFault(error.type, limits));
      } catch (thrown) {
        next(thrown);
      }
    };
    parse(req, res, read);
  };
}

/**
 * Returns a flaw that no protocol accepts: nesting that is too deep, or a lone surrogate, which cannot be
 * stored unchanged.
 */
function flawIn(body: unknown, depth: number): "deep" | "half" | undefined {
  let flaw: "half" | undefined;
  let level: unknown[] = [body];
  for (let deep = 0; level.length > 0; deep++) {
    const inner: unknown[] = [];
    for (const one of level) {
      if (typeof one === "string") {
        if (!one.isWellFormed()) flaw = "half";
      } else if (typeof one === "object" && one !== null) {
        if (deep >= depth) return "deep";
        if (Array.isArray(one)) for (const item of one) inner.push(item);
        else if (isObject(one)) for (const name of Object.keys(one)) inner.push(name, one[name]);
      }
    }
    level = inner;
  }
  return flaw;
}

function bodyFault(type: unknown, limits: BodyLimits): HttpFault {
  if (type === "entity.too.large") {
    const message = `the body has more than ${limits.bytes} bytes`;
    return { status: 413, reason: "too_large", message };
  }
  if (type === "encoding.unsupported") return invalidRequest("the body must not be compressed");
  if (type === "charset.unsupported") return invalidRequest("the body must be UTF-8");
  return { status: 400, reason: "parse_error", message: "the body is not JSON" };
}

/**
 * Returns middleware that refuses a body unless it is JSON in UTF-8, without reading it.
 *
 * @param types - Accepted content types, such as `application/json`.
 */
export function contentType(types: readonly string[], answer: FaultWriter): RequestHandler {
  const taken = [...types];
  return (req, res, next) => {
    const { "content-type": type = "", "content-length": length } = req.headers;
    const is = req.is(taken);
    // A request without a body is passed on. A body without a content type is refused, because `jsonBody` would
    // ignore it.
    if (is === null || (type === "" && length === "0")) return next();
    if (is === false) {
      const message = `the body must be ${taken.join(" or ")}, not ${JSON.stringify(type.slice(0, 64))}`;
      return answer(res, { status: 415, reason: "content_type", message });
    }
    // Matches everything that could be a charset, even within quotes, because two parsers of the header may choose
    // different charsets.
    const charsets = [...type.matchAll(CHARSET)].map(([, charset = ""]) => charset.toLowerCase());
    if (charsets.every((charset) => charset === "utf-8")) return next();
    return answer(res, invalidRequest("the body must be UTF-8"));
  };
}

const CHARSET = /charset\s*=\s*"?([^\s";]+)/gi;
