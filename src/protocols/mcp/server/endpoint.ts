import { Agent as HttpAgent, type IncomingMessage, request as requestHttp } from "node:http";
import { Agent as HttpsAgent, request as requestHttps } from "node:https";
import { errorCode } from "../../../system/error-code.js";
import { ServerError } from "./connection.js";

/** One HTTP request to a server. */
export interface EndpointRequest {
  readonly method: "POST" | "GET" | "DELETE";
  readonly headers: { readonly [name: string]: string };
  readonly body?: string | undefined;
  readonly signal: AbortSignal;
}

/** A request that is being sent. */
export interface Asked {
  /** Fulfilled once the request is written, or has failed. */
  readonly sent: Promise<void>;
  /** Rejected with a ServerError `server_unavailable` if there is no answer. */
  readonly response: Promise<IncomingMessage>;
}

const MOST_REDIRECTS = 3;
/** Milliseconds in which a connection must be established. */
const CONNECT = 20_000;

/** The address of a server over Streamable HTTP. Redirects are followed only within the same origin. */
export class Endpoint {
  readonly #url: URL;
  /** Headers of every request, from the configuration. */
  readonly #headers: { readonly [name: string]: string };
  readonly #log: (line: string) => void;
  readonly #agent: HttpAgent;

  /** @param log - Called with a sentence for the operator, which may contain addresses. */
  constructor(url: URL, headers: { readonly [name: string]: string }, log: (line: string) => void) {
    this.#url = url;
    this.#headers = headers;
    this.#log = log;
    const options = { keepAlive: true };
    this.#agent = url.protocol === "http:" ? new HttpAgent(options) : new HttpsAgent(options);
  }

  ask(request: EndpointRequest): Asked {
    let written = (): void => {};
    const sent = new Promise<void>((resolve) => {
      written = resolve;
    });
    const response = this.#follow(request, written);
    response.catch(written);
    return { sent, response };
  }

  close(): void {
    this.#agent.destroy();
  }

  async #follow(request: EndpointRequest, written: () => void): Promise<IncomingMessage> {
    let url = this.#url;
    for (let redirects = 0; ; redirects++) {
      const response = await this.#once(url, request, written);
      const { statusCode = 0, headers } = response;
      if (statusCode < 300 || statusCode >= 400) return response;
      response.resume();
      url = this.#target(url, statusCode, headers.location ?? "");
      if (redirects === MOST_REDIRECTS) throw unavailable("redirects too often");
    }
  }

  /** @throws ServerError unless the redirect keeps the method and stays within the origin. */
  #target(from: URL, status: number, location: string): URL {
    const target = URL.canParse(location, from.href) ? new URL(location, from) : undefined;
    const isSame =
      target?.origin === from.origin && target.username === "" && target.password === "";
    if (target !== undefined && isSame && (status === 307 || status === 308)) return target;
    const where = target === undefined ? "elsewhere" : `to ${target.origin}${target.pathname}`;
    this.#log(`${from.origin}${from.pathname} redirects ${where}; if that is right, name it`);
    throw unavailable(`redirects with HTTP ${status}, which is not followed`);
  }

  #once(
    url: URL,
    { method, headers, body, signal }: EndpointRequest,
    written: () => void,
  ): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const request = url.protocol === "http:" ? requestHttp : requestHttps;
      const all = { ...this.#headers, ...headers, "accept-encoding": "identity" };
      const sent = request(url, { method, headers: all, agent: this.#agent });
      // The signal is not passed as an option of the request: it could then destroy the socket later, while the socket
      // carries another request.
      const abort = (): void => void sent.destroy();
      signal.addEventListener("abort", abort, { once: true });
      sent.once("close", () => signal.removeEventListener("abort", abort));
      if (signal.aborted) abort();
      sent.once("socket", (socket) => {
        if (!socket.connecting) return;
        const late = setTimeout(() => sent.destroy(new Error("no connection")), CONNECT);
        socket.once(url.protocol === "http:" ? "connect" : "secureConnect", () =>
          clearTimeout(late),
        );
        sent.once("close", () => clearTimeout(late));
      });
      // A server may answer or disconnect before it has read the whole request.
      for (const event of ["finish", "response", "close"]) sent.once(event, written);
      sent.once("response", (response) => {
        // A response that is not read can still fail. Without a listener, its error would end the process.
        response.on("error", () => {});
        resolve(response);
      });
      sent.on("error", (error) => {
        reject(unavailable(`cannot be reached (${errorCode(error) || error.message})`));
      });
      sent.end(body);
    });
  }
}

function unavailable(what: string): ServerError {
  return new ServerError("server_unavailable", `it ${what}`);
}
