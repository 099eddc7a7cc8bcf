/**
 * Capability checks for routes of an Express server, and access to the capability of a request.
 *
 * @module proviso/express
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { VerifiedCapability } from "../capability/authorize.js";
import {
  type CapabilityAuthority,
  createCheck,
  type ResourceServerOptions,
  type RouteRequirement,
} from "./check.js";
import { checkOrAnswer } from "./node-request.js";

export type { CapabilityAuthority, ResourceServerOptions, RouteRequirement } from "./check.js";
export type { RefusalBody, RefusalError } from "./refusal.js";

/**
 * Returns the middleware of a route. In TypeScript, annotate the request in the functions, such as `(req: Request<{ id:
 * string }>) => [req.params.id]`.
 *
 * @throws TypeError if the requirement is wrong.
 */
export type ExpressRequires = <Req extends IncomingMessage = IncomingMessage>(
  requirement: RouteRequirement<readonly [req: Req]>,
) => (req: Req, res: ServerResponse, next: (error?: unknown) => void) => Promise<void>;

const capabilities = new WeakMap<object, VerifiedCapability>();

/**
 * Returns the capability that {@link createCapabilityMiddleware} has verified.
 *
 * @throws TypeError if there is none.
 */
export function capabilityOf(req: object): VerifiedCapability {
  const capability = capabilities.get(req);
  if (capability !== undefined) return capability;
  throw new TypeError("req: its capability has not been checked, since the route requires none");
}

/**
 * Returns a function that makes middleware for Express, and for frameworks with its `(req, res, next)`. If the
 * capability does not allow a request, the middleware answers it with 400, 401, 403 or 503 and every reason,
 * and does not call `next`. Errors of the authority or of the requirement's functions go to `next`.
 *
 * @param authority - An `Issuer`, or another object that checks capabilities.
 * @throws TypeError if an option is wrong.
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
        capability = await checkOrAnswer(check, req, res);
      } catch (error) {
        return next(error);
      }
      if (capability === undefined) return;
      capabilities.set(req, capability);
      next();
    };
  };
}
