import type { IncomingMessage, ServerResponse } from "node:http";
import type { VerifiedCapability } from "../capability/authorize.js";
import { CAPABILITY_HEADER } from "../http/headers.js";
import { PRIVATE, type RouteCheck } from "./check.js";

/**
 * Checks one request of `node:http`. A refused request is answered.
 *
 * @returns The verified capability; `undefined` if the request was answered. Errors of the check are rethrown.
 */
export async function checkOrAnswer<Req extends IncomingMessage>(
  check: RouteCheck<readonly [req: Req]>,
  req: Req,
  res: ServerResponse,
): Promise<VerifiedCapability | undefined> {
  const checked = await check((name) => headerOf(req, name), req);
  if (checked.ok) {
    res.appendHeader("Vary", CAPABILITY_HEADER);
    if (!res.hasHeader("Cache-Control")) res.setHeader("Cache-Control", PRIVATE);
    return checked.capability;
  }
  const { status, headers, body } = checked.refusal;
  res.writeHead(status, headers).end(JSON.stringify(body));
  return undefined;
}

/**
 * Returns all values of a header. `req.headers` keeps only the first value of some headers, and `rawHeaders` is
 * the only complete list in HTTP/2.
 */
function headerOf({ rawHeaders }: IncomingMessage, name: string): string | undefined {
  const values = rawHeaders.filter(
    (_, at) => at % 2 === 1 && rawHeaders[at - 1]?.toLowerCase() === name.toLowerCase(),
  );
  return values.length === 0 ? undefined : values.join(",");
}
