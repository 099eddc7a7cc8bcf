import type { RequestHandler } from "express";

const HEADER = "a2a-version";

/**
 * Reads the requested version as A2A 1.0, section 3.6 says. The SDK deviates: it does not take the version from
 * the query if no header has it, and does not ignore the patch number.
 */
export const askedVersion: RequestHandler = (req, _res, next) => {
  const asked = req.headers[HEADER] ?? req.query["A2A-Version"];
  if (typeof asked === "string") req.headers[HEADER] = asked.trim().replace(PATCH, "$1");
  next();
};

const PATCH = /^(\d+\.\d+)\.\d+$/;
