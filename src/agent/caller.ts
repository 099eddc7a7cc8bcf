/** Who makes a request, as authenticated by other means than a capability. */
export interface Caller {
  /** The user on whose behalf. */
  readonly principal: string;
  /** The agent that makes the call: an OAuth client's id. */
  readonly invoker: string;
}

/** Why a request has no caller. Codes are stable. */
export interface AuthenticationDenial {
  /** `token_missing`: there are no credentials. `token_invalid`: there are, but they are not good. */
  readonly code: "token_missing" | "token_invalid";
  /** A sentence for people; never shows the credentials. */
  readonly message: string;
}

/** Who makes a request, or why that is not known. */
export type CallerAuthentication =
  | { readonly ok: true; readonly caller: Caller }
  | { readonly ok: false; readonly denial: AuthenticationDenial };

/** Tells who makes a request from its `Authorization` header (RFC 6750). */
export interface Authenticator {
  /**
   * @param authorization - The header's value, absent if the request has none.
   * @throws Error if nobody can be authenticated now, such as when the keys can not be fetched.
   */
  authenticate(authorization: string | undefined): Promise<CallerAuthentication>;
  /** How callers get credentials: the address of the authorization server, where there is one. */
  readonly issuer?: string;
  /** The audience that access tokens must have been made for, where that is checked. */
  readonly audience?: string;
  /** The scope that access tokens must have, where that is checked. */
  readonly scope?: string;
}
