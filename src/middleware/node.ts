/**
 * Capability checks for routes of a plain `node:http` server.
 *
 * @module proviso/node
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { VerifiedCapability } from "../capability/authorize.js";
import { plainObject } from "../checks/plain.js";
import {
  type Awaitable,
  type CapabilityAuthority,
  createCheck,
  type ResourceServerOptions,
  type RouteRequirement,
} from "./check.js";
import { checkOrAnswer } from "./node-request.js";

export type { CapabilityAuthority, ResourceServerOptions, RouteRequirement } from "./check.js";
export type { RefusalBody, RefusalError } from "./refusal.js";

/** Options of all routes of a `node:http` server. */
export interface NodeOptions extends ResourceServerOptions {
  /** Receives the errors of the authority, of a handler or of a requirement's function. The client gets 500. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * Adds a requirement to a handler.
 *
 * @throws TypeError if the requirement is wrong.
 */
export type NodeRequires = <
  Req extends IncomingMessage = IncomingMessage,
  Res extends ServerResponse = ServerResponse,
>(
  requirement: RouteRequirement<readonly [req: Req]>,
  handler: (req: Req, res: Res, capability: VerifiedCapability) => Awaitable<unknown>,
) => (req: Req, res: Res) => Promise<void>;

/**
 * Returns a function that makes checks for `node:http`. If the capability does not allow a request, the check
 * answers it with 400, 401, 403 or 503 and every reason, and does not call the handler.
 *
 * @param authority - An `Issuer`, or another object that checks capabilities.
 * @throws TypeError if an option is wrong.
 *
 * @example
 * ```ts
 * import { createServer } from "node:http";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 * import { createCapabilityMiddleware } from "proviso/node";
 *
 * const revocations = createRevocationList();
 * const issuer = createIssuer({ name: "documents", keys: createKeyring(), revocations });
 * const requires = createCapabilityMiddleware(issuer, { onFailure: console.error });
 *
 * const idOf = (req) => new URL(req.url, "http://localhost").pathname.slice(1);
 * const read = requires(
 *   { grant: "documents:read", operation: "retrieve", resourceHandles: (req) => [idOf(req)] },
 *   (req, res, capability) => res.end(`${idOf(req)} for ${capability.principal}`),
 * );
 * const server = createServer(read).listen(0, "127.0.0.1");
 * await new Promise((resolve) => server.once("listening", resolve));
 * const url = `http://127.0.0.1:${server.address().port}`;
 *
 * const { token } = issuer.mint({
 *   grant: "documents:read",
 *   operations: ["retrieve"],
 *   resourceHandles: ["rh_1"],
 *   principal: "alice",
 * });
 * const headers = { "Proviso-Capability": token };
 * await (await fetch(`${url}/rh_1`, { headers })).text(); // => "rh_1 for alice"
 * (await fetch(`${url}/rh_2`, { headers })).status; // => 403
 * (await fetch(`${url}/rh_1`)).status; // => 401
 * server.close();
 * ```
 */
export function createCapabilityMiddleware(
  authority: CapabilityAuthority,
  options: NodeOptions,
): NodeRequires {
  const { onFailure, ...common } = plainObject(options, "options");
  if (typeof onFailure !== "function") {
    throw new TypeError("options.onFailure must be a function that is called with what is thrown");
  }
  const checkOf = createCheck(authority, common);
  return (requirement, handler) => {
    const check = checkOf(requirement);
    return async (req, res) => {
      try {
        const capability = await checkOrAnswer(check, req, res);
        if (capability !== undefined) await handler(req, res, capability);
      } catch (error) {
        fail(res);
        onFailure(error);
      }
    };
  };
}

function fail(res: ServerResponse): void {
  if (res.headersSent) {
    if (!res.writableEnded) res.destroy();
    return;
  }
  for (const name of res.getHeaderNames()) res.removeHeader(name);
  const headers = { "Content-Type": "application/json", "Cache-Control": "no-store" };
  res.writeHead(500, headers).end('{"error":"internal_error"}');
}
