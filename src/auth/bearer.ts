import type { AuthenticationDenial, CallerAuthentication, CallerRequest } from "../agent/caller.js";

/** A bearer token as it came, or the reason for its absence. */
export type BearerReading = { readonly ok: true; readonly token: string } | Unauthenticated;

type Unauthenticated = Extract<CallerAuthentication, { ok: false }>;

/** In characters; what servers commonly accept for all headers together is 16 KiB. */
export const MAX_HEADER_LENGTH = 8192;
const SCHEME = /^bearer(?: |$)/i;
const CREDENTIALS = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * The token in a request's `Authorization` header: the scheme `Bearer`, in any case, spaces, one token
 * (RFC 6750, section 2.1), and nothing else. Another scheme counts as no token, as
 * RFC 6750, section 3.1, has it.
 *
 * @param advice - How to get a token, said after what is wrong.
 * @param longest - Characters that the header may have; 8 KiB unless given.
 */
export function readBearer(
  { headers: { authorization } }: Pick<CallerRequest, "headers">,
  advice: string,
  longest: number = MAX_HEADER_LENGTH,
): BearerReading {
  if (typeof authorization !== "string" || authorization === "") {
    return refused("token_missing", `there is no Authorization header; ${advice}`);
  }
  if (authorization.length > longest) {
    const message = `the Authorization header is longer than ${longest} characters`;
    return refused("token_invalid", `${message}; ${advice}`);
  }
  if (!SCHEME.test(authorization)) {
    // What stands in the place of the scheme may be a token whose scheme was forgotten.
    return refused(
      "token_missing",
      `the Authorization header does not begin with "Bearer "; ${advice}`,
    );
  }
  const token = CREDENTIALS.exec(authorization)?.[1];
  if (token !== undefined) return { ok: true, token };
  const message = 'the Authorization header is not "Bearer " and one token';
  return refused("token_invalid", `${message}; ${advice}`);
}

/** Denies a request whose credentials are absent or bad. */
export function refused(code: AuthenticationDenial["code"], message: string): Unauthenticated {
  return { ok: false, denial: { code, message } };
}
