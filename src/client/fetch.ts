import { isDeeperThan, type Json } from "../bytes/json.js";
import { isWithin } from "./address.js";
import { ClientError, networkError } from "./client-error.js";
import { AgentFault, faultIn } from "./fault.js";

/** Limits of a request to an agent. */
export interface AgentAccess {
  /** Origins to which requests may go. */
  readonly origins: readonly string[];
  readonly accessToken?: string | undefined;
  /** Milliseconds to wait for the whole answer. */
  readonly timeout: number;
  /** Sends the requests; by default, the global `fetch`. */
  readonly fetch?: typeof fetch | undefined;
  /** Parses the errors of a protocol; by default, errors of JSON-RPC and `google.rpc.Status`. */
  readonly faultOf?: typeof faultIn | undefined;
}

/** Largest accepted answer, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Maximum nesting depth of arrays and objects, checked before other code walks the answer recursively. */
const MAX_DEPTH = 64;

/**
 * Returns a `fetch` that only sends requests to the given origins, follows no redirects, has a time limit, and
 * reads JSON within limits.
 *
 * @throws ClientError if there is no usable answer.
 * @throws AgentFault if the answer is an error.
 */
export function safeFetch(access: AgentAccess): typeof fetch {
  const { origins, accessToken, timeout, fetch: ask = fetch, faultOf = faultIn } = access;
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    assertWithin(url, origins);
    const headers = new Headers(init?.headers);
    if (accessToken !== undefined) headers.set("Authorization", `Bearer ${accessToken}`);
    const signal = AbortSignal.timeout(timeout);
    try {
      const response = await ask(url, { ...init, headers, signal, redirect: "manual" });
      const text = await textOf(url, response);
      // A 304 is expected only after a conditional request. After any other request, a 304 is refused like a
      // redirect.
      const unchanged = response.status === 304 && headers.has("If-None-Match");
      return unchanged ? emptied(response) : checked(url, response, text, faultOf);
    } catch (error) {
      // A bad answer that has arrived must not be reported as a timeout.
      if (error instanceof ClientError || error instanceof AgentFault) throw error;
      if (!signal.aborted) throw error instanceof TypeError ? networkError(error, url) : error;
      const message = `${url.origin} did not answer within ${timeout / 1000} s`;
      throw new ClientError("timed_out", message, url.origin);
    }
  };
}

/** @throws ClientError `origin_foreign` if an agent's card names an origin that is not allowed. */
export function assertWithin(url: URL, origins: readonly string[]): void {
  if (isWithin(url, origins)) return;
  const message = `the agent's card leads to another origin, ${url.origin}: no token is sent there`;
  throw new ClientError("origin_foreign", message, url.origin);
}

function emptied({ status, headers }: Response): Response {
  return new Response(null, { status, headers });
}

/** @param text - `undefined` if the body is not UTF-8. */
function checked(
  url: URL,
  response: Response,
  text: string | undefined,
  faultOf: typeof faultIn,
): Response {
  const { status, statusText, headers } = response;
  const { origin, pathname } = url;
  if (status >= 300 && status < 400) {
    const location = headers.get("Location") ?? "";
    const target = URL.canParse(location, url.href) ? new URL(location, url) : undefined;
    const where = target === undefined ? "elsewhere" : `to ${target.origin}${target.pathname}`;
    const message = `${origin}${pathname} leads ${where}, and redirects are not followed`;
    throw new ClientError("redirected", message, origin);
  }
  const body = text === undefined ? undefined : jsonOf(text);
  const fault = faultOf(response, body);
  if (fault !== undefined) throw fault;
  if (text === undefined) {
    throw new ClientError("answer_malformed", `the answer of ${origin} is not UTF-8`, origin);
  }
  if (body === undefined && text !== "") {
    const type = headers.get("Content-Type")?.split(";", 1)[0] ?? "no content type";
    const got = `HTTP ${status} with ${type.slice(0, 80)}`;
    const message = `${origin}${pathname} answered ${got}, not with JSON`;
    throw new ClientError("not_json", message, origin);
  }
  if (body !== undefined && isDeeperThan(body, MAX_DEPTH)) {
    const message = `the answer of ${origin} is nested more than ${MAX_DEPTH} deep`;
    throw new ClientError("answer_malformed", message, origin);
  }
  return new Response(text === "" ? null : text, { status, statusText, headers });
}

/** Decodes a body; `undefined` if it is not UTF-8. JSON must be UTF-8 (RFC 8259, section 8.1). */
async function textOf({ origin }: URL, response: Response): Promise<string | undefined> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let text: string | undefined = "";
  const add = (chunk?: Uint8Array): void => {
    try {
      if (text !== undefined) text += decoder.decode(chunk, { stream: chunk !== undefined });
    } catch {
      text = undefined;
    }
  };
  let length = 0;
  for await (const chunk of response.body ?? []) {
    length += chunk.length;
    if (length > MAX_BYTES) {
      const message = `the answer of ${origin} has more than ${MAX_BYTES} bytes`;
      throw new ClientError("answer_too_large", message, origin);
    }
    add(chunk);
  }
  add();
  return text;
}

function jsonOf(text: string): Json | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
