import type { IncomingMessage, ServerResponse } from "node:http";
import type { VerifiedCapability } from "../../capability/authorize.js";
import { PRIVATE, type RouteCheck } from "./check.js";

/**
 * Checks one request of `node:http`, or of a framework on it, and answers it if it is refused.
 *
 * @returns The capability of an allowed request; `undefined` of one that has been answered.
 * @throws What the check throws: the request must not be handled then.
 */
export async function admit<Req extends IncomingMessage>(
  check: RouteCheck<readonly [req: Req]>,
  req: Req,
  res: ServerResponse,
): Promise<VerifiedCapability | undefined> {
  // `req.headers` keeps only the first of some repeated headers.
  const checked = await check((name) => req.headersDistinct[name.toLowerCase()]?.join(","), req);
  if (checked.ok) {
    if (!res.hasHeader("Cache-Control")) res.setHeader("Cache-Control", PRIVATE);
    return checked.capability;
  }
  const { status, headers, body } = checked.refusal;
  res.writeHead(status, headers).end(JSON.stringify(body));
  return undefined;
}
