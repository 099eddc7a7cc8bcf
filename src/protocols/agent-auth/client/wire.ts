import type { Json, JsonObject } from "../../../bytes/json.js";
import { readUrl } from "../../../client/address.js";
import { ClientError } from "../../../client/client-error.js";
import { AgentFault } from "../../../client/fault.js";
import { safeFetch } from "../../../client/fetch.js";
import { objectIn, textIn } from "../../../client/received.js";
import { DISCOVERY_PATHS } from "../discovery.js";
import { type Discovery, discoveryIn } from "./received.js";

/** Options of requests. */
export interface WireOptions {
  /** The server's URL, such as `https://bank.example`. The client looks for the discovery document below this URL. */
  readonly provider: string;
  /** The global `fetch` unless given. */
  readonly fetch?: typeof fetch | undefined;
  /** Time limit for one answer in milliseconds; 30,000 unless given. */
  readonly timeout?: number | undefined;
  /** True to allow plain HTTP to other machines. */
  readonly insecure?: boolean | undefined;
}

interface WireRequest {
  readonly jwt?: string;
  readonly body?: JsonObject;
  readonly query?: { readonly [name: string]: string | undefined };
  readonly headers?: { readonly [name: string]: string };
}

/**
 * Sends requests to one provider. JWTs and tokens are sent only to the provider's origin, and to the locations that the
 * provider names for executions.
 */
export class Wire {
  readonly discovery: Discovery;
  readonly #options: WireOptions;
  readonly #origin: string;

  constructor(discovery: Discovery, options: WireOptions) {
    this.discovery = discovery;
    this.#options = options;
    this.#origin = readUrl(options.provider, "the provider", secure(options)).origin;
  }

  /**
   * Sends a request to an endpoint.
   *
   * @param name - The endpoint's name in the discovery document.
   * @param path - The path relative to the issuer, for endpoints that the document does not list.
   * @throws AgentAuthError if the server answers with an error.
   * @throws ClientError if there is no usable answer.
   */
  ask(name: string, path: string, request: WireRequest): Promise<JsonObject> {
    const { endpoints, issuer } = this.discovery;
    const url = new URL(endpoints.get(name) ?? `${issuer.replace(/\/$/, "")}${path}`);
    for (const [parameter, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) url.searchParams.set(parameter, value);
    }
    return this.#send(url, this.#origin, request);
  }

  /**
   * Sends a request to a location that the provider named for a capability.
   *
   * @throws As {@link Wire.ask} does.
   */
  askAt(location: string, request: WireRequest): Promise<JsonObject> {
    const url = readUrl(location, "the location", secure(this.#options));
    return this.#send(url, url.origin, request);
  }

  async #send(url: URL, origin: string, request: WireRequest): Promise<JsonObject> {
    const { jwt, body, headers } = request;
    const response = await fetchFrom(origin, this.#options)(url, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        ...headers,
        ...(jwt === undefined ? {} : { Authorization: `Bearer ${jwt}` }),
        ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return objectIn(text === "" ? {} : JSON.parse(text));
  }
}

/**
 * Fetches a provider's discovery document.
 *
 * @throws As {@link Wire.ask} does.
 */
export async function discover(options: WireOptions): Promise<Discovery> {
  const base = readUrl(options.provider, "the provider", secure(options));
  const prefix = base.pathname.replace(/\/$/, "");
  for (const path of DISCOVERY_PATHS) {
    try {
      const response = await fetchFrom(base.origin, options)(new URL(`${prefix}${path}`, base));
      const discovery = discoveryIn(objectIn(await response.json()), base.origin);
      for (const url of [discovery.issuer, ...discovery.endpoints.values()]) {
        // A document with endpoints at another origin could be used to collect JWTs.
        if (new URL(url).origin === base.origin) continue;
        const message = `the discovery document of ${base.origin} leads to ${new URL(url).origin}`;
        throw new ClientError("origin_foreign", message, base.origin);
      }
      return discovery;
    } catch (error) {
      if (!(error instanceof AgentAuthError) || error.status !== 404) throw error;
    }
  }
  const message = `${base.origin} has no discovery document of Agent-Auth`;
  throw new ClientError("not_found", message, base.origin);
}

function fetchFrom(origin: string, { fetch: ask, timeout = 30_000 }: WireOptions): typeof fetch {
  return safeFetch({ origins: [origin], timeout, fetch: ask, faultOf: agentAuthFault });
}

function secure({ insecure = false }: WireOptions): { readonly insecure: boolean } {
  return { insecure };
}

/** An error in a server's answer. Its strings are exactly those of the server: escape them before you display them. */
export class AgentAuthError extends AgentFault {
  /** The stable code, such as `constraint_violated`; `unknown` if the answer has no code. */
  readonly code: string;
  /** The whole body, including `violations`, `invalid_capabilities` and `denials`. */
  readonly body: JsonObject;

  constructor(status: number, body: JsonObject, headers: Headers) {
    super(status, textIn(body["message"]) ?? "it gives no reason", [], headers);
    this.code = (textIn(body["error"]) ?? textIn(body["code"]) ?? "unknown").slice(0, 128);
    this.body = body;
  }
}

/** Returns the error of an answer; `undefined` for a success. */
function agentAuthFault(response: Response, body: Json | undefined): AgentFault | undefined {
  if (response.ok) return undefined;
  return new AgentAuthError(response.status, objectIn(body), response.headers);
}
