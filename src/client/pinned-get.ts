import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { isLoopback } from "./address.js";
import type { AllowedOrigins } from "./address-rules.js";
import { ClientError, networkError } from "./client-error.js";
import { pinnedAddresses, pinnedLookup, type Resolve } from "./pinned-addresses.js";

/** Limits of a request for a document. */
export interface GetAccess extends AllowedOrigins {
  /** Milliseconds for resolving the name, the redirects and the whole body. */
  readonly timeout: number;
  /** Longest body, in bytes. */
  readonly maxBytes: number;
  /** Allows plain HTTP to other machines. */
  readonly insecure?: boolean | undefined;
  /** Headers to send in addition to `Accept` and `Accept-Encoding`. No credentials are sent. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Resolves host names; by default, the system's resolver. */
  readonly resolve?: Resolve | undefined;
  /** PEM certificates to trust instead of the default certificates of Node. */
  readonly ca?: string | undefined;
}

/** A document, or the answer that the document has not changed. */
export interface GetAnswer {
  /** 200, or 304 for a conditional request. */
  readonly status: 200 | 304;
  /** The body; empty if the status is 304. */
  readonly text: string;
  readonly header: (name: string) => string | undefined;
}

const MOST_REDIRECTS = 3;
const JSON_TYPE = /^application\/([\w.-]+\+)?json$/i;

/**
 * Gets JSON from a URL that another party may have chosen. The IP address must be public, unless the calling code
 * named the host. The connection goes to the checked address, redirects must stay within the origin, and size and
 * time are limited. No secrets are sent.
 *
 * @throws ClientError if there is no usable answer.
 */
export async function pinnedGet(url: URL, access: GetAccess): Promise<GetAnswer> {
  assertScheme(url, access);
  const signal = AbortSignal.timeout(access.timeout);
  try {
    const agent = await agentFor(url, access, signal);
    try {
      return await follow(url, agent, access, signal);
    } finally {
      agent.destroy();
    }
  } catch (error) {
    if (error instanceof ClientError) throw error;
    if (!signal.aborted) throw networkError(error, url);
    const message = `${url.origin} did not answer in full within ${access.timeout / 1000} s`;
    throw new ClientError("timed_out", message, url.origin);
  }
}

function assertScheme(url: URL, { insecure = false }: GetAccess): void {
  if (url.protocol === "https:") return;
  if (url.protocol === "http:" && (insecure || isLoopback(url.hostname))) return;
  const message = `${url.origin} is not asked: over ${url.protocol}// any machine on the way could answer`;
  throw new ClientError("address_insecure", message, url.origin);
}

/** Returns a connection pool for a request and its redirects, which stay within the origin. */
async function agentFor(
  url: URL,
  access: GetAccess,
  signal: AbortSignal,
): Promise<HttpAgent | HttpsAgent> {
  const addresses = await before(signal, pinnedAddresses(url, access, access.resolve));
  const options = { lookup: pinnedLookup(addresses), keepAlive: false };
  if (url.protocol === "http:") return new HttpAgent(options);
  return new HttpsAgent({ ...options, ca: access.ca });
}

/** Rejects when the signal is aborted. The system's resolver cannot be stopped, so a late result is ignored. */
function before<T>(signal: AbortSignal, found: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    found.then(resolve, reject);
  });
}

async function follow(
  start: URL,
  agent: HttpAgent | HttpsAgent,
  access: GetAccess,
  signal: AbortSignal,
): Promise<GetAnswer> {
  const been = new Set<string>();
  let url = start;
  for (;;) {
    been.add(url.href);
    const response = await ask(url, agent, access, signal);
    try {
      const target = redirectIn(url, response);
      if (target === undefined) {
        const answer = await answerIn(url, response, access);
        // A body without a length ends when the connection closes, even if the time limit closed it.
        signal.throwIfAborted();
        return answer;
      }
      assertRedirect(url, target, been);
      url = target;
    } finally {
      response.destroy();
    }
  }
}

function ask(
  url: URL,
  agent: HttpAgent | HttpsAgent,
  { headers = {} }: GetAccess,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const request = url.protocol === "http:" ? requestHttp : requestHttps;
    const sent = request(url, {
      agent,
      signal,
      headers: { Accept: "application/json", "Accept-Encoding": "identity", ...headers },
    });
    sent.on("response", resolve);
    sent.on("error", reject);
    sent.end();
  });
}

function redirectIn(url: URL, { statusCode = 0, headers }: IncomingMessage): URL | undefined {
  if (statusCode < 300 || statusCode >= 400 || statusCode === 304) return undefined;
  const { location = "" } = headers;
  if (location !== "" && URL.canParse(location, url.href)) return new URL(location, url);
  const message = `${url.origin}${url.pathname} answered HTTP ${statusCode} without a usable Location header`;
  throw new ClientError("redirected", message, url.origin);
}

function assertRedirect(from: URL, to: URL, been: ReadonlySet<string>): void {
  const badRedirect = (why: string): ClientError =>
    new ClientError("redirected", `${from.origin}${from.pathname} leads ${why}`, from.origin);
  if (to.origin !== from.origin) {
    throw badRedirect(`to another origin, ${to.origin}, and such redirects are not followed`);
  }
  if (to.username !== "" || to.password !== "")
    throw badRedirect("to an address with a user's name");
  if (been.has(to.href)) throw badRedirect("in a ring");
  if (been.size > MOST_REDIRECTS) throw badRedirect(`on more than ${MOST_REDIRECTS} times`);
}

async function answerIn(
  url: URL,
  response: IncomingMessage,
  { maxBytes }: GetAccess,
): Promise<GetAnswer> {
  const { statusCode: status = 0, headers } = response;
  const place = `${url.origin}${url.pathname}`;
  const header = (name: string): string | undefined => {
    const value = headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(", ") : value;
  };
  if (status === 304) return { status, text: "", header };
  if (status !== 200) {
    throw new ClientError("not_found", `${place} answered HTTP ${status}`, url.origin, status);
  }
  const [type = ""] = (header("Content-Type") ?? "").split(";", 1);
  if (!JSON_TYPE.test(type.trim())) {
    const named = type === "" ? "no content type" : type.slice(0, 80);
    throw new ClientError("not_json", `${place} answered with ${named}, not with JSON`, url.origin);
  }
  const encoding = header("Content-Encoding") ?? "identity";
  if (encoding.toLowerCase() !== "identity") {
    const message = `${place} answered with ${encoding.slice(0, 80)}, which was not asked for`;
    throw new ClientError("not_json", message, url.origin);
  }
  return { status, text: await textOf(response, url, maxBytes), header };
}

async function textOf(response: IncomingMessage, url: URL, maxBytes: number): Promise<string> {
  const tooLarge = (): ClientError => {
    const message = `the answer of ${url.origin} has more than ${maxBytes} bytes`;
    return new ClientError("answer_too_large", message, url.origin);
  };
  if (Number(response.headers["content-length"] ?? 0) > maxBytes) throw tooLarge();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of response) {
    if (!(chunk instanceof Uint8Array)) throw new TypeError("a response must give bytes");
    length += chunk.length;
    if (length > maxBytes) throw tooLarge();
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks));
  } catch {
    const message = `the answer of ${url.origin} is not UTF-8`;
    throw new ClientError("answer_malformed", message, url.origin);
  }
}
