import type { RequestHandler } from "express";

const HEADER = "a2a-version";

/**
 * Reads the requested protocol version from the header, or from the query if there is no header, and removes
 * its patch number (A2A 1.0, section 3.6). The SDK does not read the query, and keeps the patch number.
 */
export const askedVersion: RequestHandler = (req, _res, next) => {
  const asked = req.headers[HEADER] ?? req.query["A2A-Version"];
  if (typeof asked === "string") req.headers[HEADER] = asked.trim().replace(PATCH, "$1");
  next();
};

const PATCH = /^(\d+\.\d+)\.\d+$/;
