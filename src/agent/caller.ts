import { assertOptionalString, assertString, notA } from "../checks/kinds.js";
import { plainObject } from "../checks/plain.js";

/** The party that presents capabilities, as far as it is authenticated by other means. */
export interface Presenter {
  /** The user on whose behalf the request is made. */
  readonly principal?: string | undefined;
  /** The calling agent. If it is unknown, a capability that names invokers is refused. */
  readonly invoker?: string | undefined;
}

/** The caller of a request, as authenticated by other means than a capability. */
export interface Caller extends Presenter {
  /** The user on whose behalf the request is made. */
  readonly principal: string;
  /** The agent that makes the call: an OAuth client's id. */
  readonly invoker: string;
}

/**
 * Throws unless principal and invoker are strings, or not given. The object may be of the program's own class.
 *
 * @throws TypeError naming the value that is wrong; also for a Promise or a Map, which has neither.
 */
export function assertPresenter(caller: Presenter): void {
  if (typeof caller !== "object" || caller === null) throw notA("caller", CALLER, caller);
  const { principal, invoker } = caller;
  if (principal === undefined && invoker === undefined) plainObject(caller, "caller");
  assertOptionalString(principal, "caller.principal");
  assertOptionalString(invoker, "caller.invoker");
}

/**
 * Throws unless principal and invoker are strings.
 *
 * @throws TypeError as {@link assertPresenter}.
 */
export function assertCaller(caller: Caller): void {
  assertPresenter(caller);
  assertString(caller.principal, "caller.principal");
  assertString(caller.invoker, "caller.invoker");
}

const CALLER = "an object with principal and invoker";

/** Codes of failed authentication. Stable and never reused. */
export interface AuthenticationDenial {
  /** `token_missing`: the request has no credentials. `token_invalid`: it has bad ones. */
  readonly code: "token_missing" | "token_invalid";
  /** A sentence for people; never shows the credentials. */
  readonly message: string;
}

/** The authenticated caller, or the reason for its absence. */
export type CallerAuthentication =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly denial: AuthenticationDenial };

/** A request, as far as it shows who makes it: all that a proof of possession (RFC 9449) is about. */
export interface CallerRequest {
  /** `GET`, `POST`. */
  readonly method: string;
  /** Path and query, as they came. */
  readonly url: string;
  /** By name in lower case, as `node:http` has them. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

/** Finds who makes a request. */
export interface Authenticator {
  /** @throws Error if it cannot authenticate anyone now, such as when it cannot fetch the keys. */
  authenticate(request: CallerRequest): Promise<CallerAuthentication>;
  /** The address where callers get credentials: that of the authorization server, if there is one. */
  readonly issuer?: string;
  /** The audience that access tokens must have, if that is checked. */
  readonly audience?: string;
  /** The scope that access tokens must have, if that is checked. */
  readonly scope?: string;
}
