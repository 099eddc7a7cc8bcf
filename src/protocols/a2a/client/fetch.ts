import { assertMembers } from "../../../checks/members.js";
import { ClientError } from "../../../client/client-error.js";

/** Options of {@link createAgentFetch}. */
export interface AgentFetchOptions {
  /**
   * Access token, sent with each request as `Authorization: Bearer`. Without it, `fetch` must authenticate the
   * requests.
   */
  readonly accessToken?: string;
  /** Sends the requests; the platform's `fetch` unless given. */
  readonly fetch?: typeof fetch;
}

/**
 * Returns a `fetch` function for the SDK's transports that follows no redirects. The SDK's default function
 * follows redirects, and so sends capabilities to a server that was not judged: on a redirect, the platform
 * removes the `Authorization` header, but nothing from the body.
 *
 * The returned function rejects with a ClientError of `code` `redirected` if an agent answers with a redirect.
 *
 * @throws TypeError if an option is invalid.
 * @example
 * ```ts
 * import { JsonRpcTransportFactory } from "@a2a-js/sdk/client";
 * import { createAgentFetch } from "proviso/a2a/client";
 *
 * const fetchImpl = createAgentFetch({ accessToken: "a-development-token" });
 * const transport = new JsonRpcTransportFactory({ fetchImpl });
 * transport.protocolName; // => "JSONRPC"
 * ```
 */
export function createAgentFetch(options: AgentFetchOptions = {}): typeof fetch {
  assertMembers(options, ["accessToken", "fetch"], "options");
  const { accessToken, fetch: send = fetch } = options;
  if (accessToken !== undefined && (typeof accessToken !== "string" || accessToken === "")) {
    throw new TypeError("options.accessToken: must be a non-empty string");
  }
  if (typeof send !== "function") throw new TypeError("options.fetch: must be a function");
  return async (input, init) => {
    const given = init?.headers ?? (input instanceof Request ? input.headers : undefined);
    const headers = new Headers(given);
    if (accessToken !== undefined) headers.set("Authorization", `Bearer ${accessToken}`);
    const response = await send(input, { ...init, headers, redirect: "manual" });
    const { status, type } = response;
    if (type !== "opaqueredirect" && !(status >= 300 && status < 400 && status !== 304)) {
      return response;
    }
    await response.body?.cancel();
    const { origin, pathname } = new URL(input instanceof Request ? input.url : input);
    const message = `${origin}${pathname} leads elsewhere, and redirects are not followed`;
    throw new ClientError("redirected", message, origin);
  };
}
