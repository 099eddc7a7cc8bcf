import type { IncomingMessage, ServerResponse } from "node:http";
import type { VerifiedCapability } from "../../capability/authorize.js";
import { type CapabilityAuthority, createCheck, type ResourceServerOptions } from "./check.js";
import { admit } from "./node-request.js";
import type { RouteRequirement } from "./requirement.js";

/**
 * Makes the middleware of a route. In TypeScript, annotate the request of the requirement's functions:
 * `(req: Request<{ id: string }>) => [req.params.id]`. No type of Express is needed otherwise.
 *
 * @throws TypeError on a wrong requirement.
 */
export type ExpressRequires = <Req extends IncomingMessage = IncomingMessage>(
  requirement: RouteRequirement<readonly [req: Req]>,
) => (req: Req, res: ServerResponse, next: (error?: unknown) => void) => Promise<void>;

const capabilities = new WeakMap<object, VerifiedCapability>();

/**
 * The verified capability of a request that has passed the middleware of {@link createCapabilityMiddleware}.
 *
 * @throws TypeError if the request has not.
 */
export function capabilityOf(req: object): VerifiedCapability {
  const capability = capabilities.get(req);
  if (capability !== undefined) return capability;
  throw new TypeError("this request's capability has not been checked: the route requires none");
}

/**
 * What stands before the routes of an Express app (or of any other framework whose middleware takes
 * `(req, res, next)` of `node:http`): a request whose capability the authority does not allow is
 * answered with 400, 401, 403 or 503 and every reason, and never reaches what follows. What a function
 * of a requirement or the authority throws goes to `next`, as an Error: Express answers with 500.
 *
 * @param authority - Checks capabilities: an `Issuer`.
 * @throws TypeError on wrong options.
 *
 * @example
 * ```ts
 * import express from "express";
 * import { capabilityOf, createCapabilityMiddleware } from "proviso/express";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 *
 * const revocations = createRevocationList();
 * const issuer = createIssuer({ name: "documents", keys: createKeyring(), revocations });
 * const requires = createCapabilityMiddleware(issuer);
 *
 * const app = express();
 * app.get(
 *   "/documents/:id",
 *   requires({
 *     grant: "documents:read",
 *     operation: "retrieve",
 *     resourceHandles: (req) => [req.params.id],
 *   }),
 *   (req, res) => res.send(`${req.params.id} for ${capabilityOf(req).principal}`),
 * );
 * const server = app.listen(0, "127.0.0.1");
 * await new Promise((resolve) => server.once("listening", resolve));
 * const url = `http://127.0.0.1:${server.address().port}/documents`;
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
  options: ResourceServerOptions = {},
): ExpressRequires {
  const checkOf = createCheck(authority, options);
  return (requirement) => {
    const check = checkOf(requirement);
    return async (req, res, next) => {
      let capability: VerifiedCapability | undefined;
      try {
        capability = await admit(check, req, res);
      } catch (error) {
        return next(error);
      }
      if (capability === undefined) return;
      capabilities.set(req, capability);
      next();
    };
  };
}
