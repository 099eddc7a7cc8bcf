/**
 * Capability checks for routes of a server with Fetch's requests: Hono, Workers, Deno, Bun. They run in every
 * JavaScript runtime.
 *
 * @module proviso/fetch
 */
import type { VerifiedCapability } from "../capability/authorize.js";
import { CAPABILITY_HEADER } from "../http/headers.js";
import {
  type Awaitable,
  type CapabilityAuthority,
  createCheck,
  PRIVATE,
  type ResourceServerOptions,
  type RouteRequirement,
} from "./check.js";

export type { CapabilityAuthority, ResourceServerOptions, RouteRequirement } from "./check.js";
export type { RefusalBody, RefusalError } from "./refusal.js";

/**
 * Adds a requirement to a handler. The server may pass further arguments after the request, such as Hono's
 * context. The handler and the requirement's functions get them too. In TypeScript, write `requires<[context:
 * Context]>(…)`.
 *
 * @throws TypeError if the requirement is wrong.
 */
export type FetchRequires = <Rest extends readonly unknown[], Req extends Request = Request>(
  requirement: RouteRequirement<readonly [request: Req, ...rest: Rest]>,
  handler: (request: Req, capability: VerifiedCapability, ...rest: Rest) => Awaitable<Response>,
) => (request: Req, ...rest: Rest) => Promise<Response>;

/**
 * Returns a function that makes checks for a server with Fetch's `Request` and `Response` (Hono, Workers, Deno,
 * Bun). If the capability does not allow a request, the check answers it with 400, 401, 403 or 503 and every
 * reason, and does not call the handler. If the authority or a function of the requirement throws, the promise
 * is rejected.
 *
 * @param authority - An `Issuer`, or another object that checks capabilities.
 * @throws TypeError if an option is wrong.
 *
 * @example
 * ```ts
 * import { createCapabilityMiddleware } from "proviso/fetch";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 *
 * const revocations = createRevocationList();
 * const issuer = createIssuer({ name: "documents", keys: createKeyring(), revocations });
 * const requires = createCapabilityMiddleware(issuer);
 *
 * const idOf = (request) => new URL(request.url).pathname.slice(1);
 * const read = requires(
 *   { grant: "documents:read", operation: "retrieve", resourceHandles: (req) => [idOf(req)] },
 *   (request, capability) => new Response(`${idOf(request)} for ${capability.principal}`),
 * );
 *
 * const { token } = issuer.mint({
 *   grant: "documents:read",
 *   operations: ["retrieve"],
 *   resourceHandles: ["rh_1"],
 *   principal: "alice",
 * });
 * const headers = { "Proviso-Capability": token };
 * const allowed = await read(new Request("https://documents.example/rh_1", { headers }));
 * await allowed.text(); // => "rh_1 for alice"
 * (await read(new Request("https://documents.example/rh_2", { headers }))).status; // => 403
 * (await read(new Request("https://documents.example/rh_1"))).status; // => 401
 * ```
 */
export function createCapabilityMiddleware(
  authority: CapabilityAuthority,
  options: ResourceServerOptions = {},
): FetchRequires {
  const checkOf = createCheck(authority, options);
  return (requirement, handler) => {
    const check = checkOf(requirement);
    return async (request, ...rest) => {
      const checked = await check((name) => request.headers.get(name), request, ...rest);
      if (checked.ok) return forCaches(await handler(request, checked.capability, ...rest));
      const { status, headers, body } = checked.refusal;
      return new Response(JSON.stringify(body), { status, headers });
    };
  };
}

function forCaches(response: Response): Response {
  // A response with a status below 200, such as a WebSocket upgrade, cannot be copied.
  if (response.status < 200) return response;
  // A response that the handler has itself fetched has immutable headers, so headers are added to a copy.
  const copy = new Response(response.body, response);
  copy.headers.append("Vary", CAPABILITY_HEADER);
  if (!copy.headers.has("Cache-Control")) copy.headers.set("Cache-Control", PRIVATE);
  return copy;
}
