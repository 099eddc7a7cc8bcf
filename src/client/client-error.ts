/**
 * Why an agent cannot be asked, or its answer cannot be used. Stable.
 *
 * - `address_invalid`: what is given as an address is not an address.
 * - `address_insecure`: the address would take tokens over the network in clear.
 * - `origin_foreign`: a request would go to an origin that was not named.
 * - `address_refused`: a place that was not named is not of the public network.
 * - `unreachable`, `tls_failed`, `not_http`, `timed_out`: there is no answer.
 * - `redirected`: the answer leads elsewhere.
 * - `not_found`: nothing is there, or it cannot be had.
 * - `not_json`, `answer_malformed`, `answer_too_large`: the answer is not an agent's.
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

/** An agent cannot be asked, or its answer cannot be used. */
export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: ClientErrorCode;
  /** Where the request went, or was to go; absent where the address is invalid. */
  readonly origin: string | undefined;
  /** The answer's HTTP status, where that is the reason. */
  readonly status: number | undefined;

  constructor(code: ClientErrorCode, message: string, origin?: string, status?: number) {
    super(message);
    this.code = code;
    this.origin = origin;
    this.status = status;
  }
}
