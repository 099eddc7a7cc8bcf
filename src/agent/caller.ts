import { assertOptionalString, assertString, notA } from "../checks/kinds.js";
import { plainObject } from "../checks/plain.js";

/**
 * The party that presents capabilities. Each property was authenticated by other means than a capability, or is
 * absent.
 */
export interface Presenter {
  /** The user on whose behalf the request is made. */
  readonly principal?: string | undefined;
  /** The calling agent. If it is absent, a capability that names invokers is refused. */
  readonly invoker?: string | undefined;
}

/** The caller of a request, authenticated by other means than a capability. */
export interface Caller extends Presenter {
  /** The user on whose behalf the request is made. */
  readonly principal: string;
  /** The calling agent: an OAuth client's id. */
  readonly invoker: string;
}

/**
 * Throws unless principal and invoker are strings or absent. The object may be an instance of any class.
 *
 * @throws TypeError naming the value that is wrong, or if `caller` is a Promise or a Map.
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
 * @throws TypeError as {@link assertPresenter} does.
 */
export function assertCaller(caller: Caller): void {
  assertPresenter(caller);
  assertString(caller.principal, "caller.principal");
  assertString(caller.invoker, "caller.invoker");
}

const CALLER = "an object with principal and invoker";

/** The reason why authentication failed. Its codes are stable and never reused. */
export interface AuthenticationDenial {
  /** `token_missing`: the request has no credentials. `token_invalid`: its credentials are invalid. */
  readonly code: "token_missing" | "token_invalid";
  /** A sentence for people; never shows the credentials. */
  readonly message: string;
}

/** The authenticated caller, or the reason why authentication failed. */
export type CallerAuthentication =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly denial: AuthenticationDenial };

/** The parts of a request that identify its caller, including those covered by a proof of possession (RFC 9449). */
export interface CallerRequest {
  /** The HTTP method in upper case, such as `GET`. */
  readonly method: string;
  /** Path and query, exactly as received. */
  readonly url: string;
  /** The headers, by name in lower case, as in `node:http`. */
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

/** Authenticates the caller of a request. */
export interface Authenticator {
  /** @throws Error if no caller can be authenticated at present, for example because the keys cannot be fetched. */
  authenticate(request: CallerRequest): Promise<CallerAuthentication>;
  /** The URL where callers get credentials, such as the URL of the authorization server. */
  readonly issuer?: string;
  /** The audience that access tokens must have; absent if the audience is not checked. */
  readonly audience?: string;
  /** The scope that access tokens must have; absent if the scope is not checked. */
  readonly scope?: string;
}
