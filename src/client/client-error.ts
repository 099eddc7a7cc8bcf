/**
 * The reason why a request cannot be sent, or its answer cannot be used; stable.
 *
 * - `address_invalid`: the given URL or `HOST:PORT` is malformed, or contains a user name or a password.
 * - `address_insecure`: tokens would be sent unencrypted.
 * - `origin_foreign`: a request would go to an origin that the calling code did not name.
 * - `address_refused`: the IP address is not public, and the calling code did not name the host.
 * - `unreachable`, `tls_failed`, `not_http`, `timed_out`: there is no answer.
 * - `redirected`: the answer is a redirect that is not followed.
 * - `not_found`: the answer has another HTTP status than 200, such as 404 or 500, or there is no discovery document.
 * - `not_json`, `answer_malformed`, `answer_too_large`: the answer cannot be an agent's.
 */
export type ClientErrorCode =
  | "address_invalid"
  | "address_insecure"
  | "origin_foreign"
  | "address_refused"
  | "unreachable"
  | "tls_failed"
  | "not_http"
  | "timed_out"
  | "redirected"
  | "not_found"
  | "not_json"
  | "answer_malformed"
  | "answer_too_large";

/** Thrown if a request cannot be sent, or its answer cannot be used. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: ClientErrorCode;
  /** The origin of the request; absent if its URL is invalid. */
  readonly origin: string | undefined;
  /** The HTTP status of the answer, if the status is the reason for the error. */
  readonly status: number | undefined;

  constructor(code: ClientErrorCode, message: string, origin?: string, status?: number) {
    super(message);
    this.code = code;
    this.origin = origin;
    this.status = status;
  }
}

/** Reasons why a host is unreachable, by the code of the underlying error. */
const UNREACHABLE: Readonly<Record<string, string>> = {
  ECONNREFUSED: "nothing listens there",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "the name could not be looked up",
  ECONNRESET: "it closed the connection",
  EPIPE: "it closed the connection",
  UND_ERR_SOCKET: "it closed the connection",
  ETIMEDOUT: "it does not answer",
  UND_ERR_CONNECT_TIMEOUT: "it does not answer",
  EHOSTUNREACH: "there is no way to it",
  ENETUNREACH: "there is no way to it",
};

const TLS_CODES =
  /^(ERR_TLS_|ERR_SSL_|CERT_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|EPROTO)/;
const NO_TLS = /^(ERR_SSL_|EPROTO)/;

/** Returns the ClientError for a request without a readable answer. */
export function networkError(error: unknown, { origin }: URL): ClientError {
  const [code, message] = causeOf(error);
  const where = `could not reach ${origin}`;
  if (NO_TLS.test(code)) {
    const text = `${where} over TLS (${code}); an agent on this machine may speak plain http://`;
    return new ClientError("tls_failed", text, origin);
  }
  if (TLS_CODES.test(code)) {
    const text = `${where}: its certificate is not trusted here: ${message}`;
    return new ClientError("tls_failed", text, origin);
  }
  // Some versions of Node lose the error code of the HTTP parser.
  if (code.startsWith("HPE_") || message.includes("does not match the HTTP/1.1 protocol")) {
    return new ClientError("not_http", `${origin} does not speak HTTP`, origin);
  }
  const why = message === "bad port" ? "no agent is at this port" : UNREACHABLE[code];
  return new ClientError("unreachable", `${where}: ${why ?? message}`, origin);
}

// The error of `fetch` only says that the request failed; the reason is in the chain of its causes.
function causeOf(error: unknown): readonly [code: string, message: string] {
  let found: readonly [string, string] = ["", "it failed"];
  let next = error;
  for (let depth = 0; depth < 4 && next instanceof Error; depth++) {
    const code = "code" in next && typeof next.code === "string" ? next.code : "";
    found = [code, next.message.split("\n", 1)[0] ?? ""];
    if (code !== "") return found;
    next = next.cause;
  }
  return found;
}
