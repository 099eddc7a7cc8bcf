import type {
  AuthenticationDenial,
  Authenticator,
  CallerAuthentication,
  CallerRequest,
} from "../agent/caller.js";
import { isObject } from "../bytes/json.js";
import { AUTHENTICATOR, assertHas, notA } from "../checks/kinds.js";
import { knownMembers } from "../checks/members.js";

/** The bearer token of a request, or the denial of a request without a valid token. */
type BearerReading = { readonly ok: true; readonly token: string } | Unauthenticated;

type Unauthenticated = Extract<CallerAuthentication, { ok: false }>;

/** Longest `Authorization` header, in characters. Servers commonly accept 16 KiB for all headers together. */
export const MAX_HEADER_LENGTH = 8192;
const SCHEME = /^bearer(?: |$)/i;
const CREDENTIALS = /^bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/**
 * Reads the token in a request's `Authorization` header: the scheme `Bearer` in any case, spaces, and one token (RFC
 * 6750, section 2.1). If the header has another scheme, the token is missing (RFC 6750, section 3.1).
 *
 * @param advice - The end of each message: how to get a token.
 * @param longest - Longest header in characters; by default, 8 KiB.
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
    // If the scheme was forgotten, the word in its place may be a token, so do not repeat it.
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

/** Returns the denial of a request whose credentials are missing or invalid. */
export function refused(code: AuthenticationDenial["code"], message: string): Unauthenticated {
  return { ok: false, denial: { code, message } };
}

/** Optional parts of a challenge. */
export interface ChallengeOptions {
  /** URL of the service's protected resource metadata (RFC 9728), if the service publishes such metadata. */
  readonly resourceMetadata?: string;
}

/**
 * Returns the `WWW-Authenticate` header of a 401 (RFC 6750, section 3): the realm, the required scope and, if
 * the request had credentials, the reason why the credentials were refused.
 *
 * @returns The header, in printable ASCII.
 * @throws TypeError if an argument has the wrong type, or `resourceMetadata` is not a URL.
 *
 * @example
 * ```ts
 * import { createFixedTokens, wwwAuthenticate } from "proviso/auth";
 *
 * const authenticator = createFixedTokens(
 *   [{ token: "dev-alice-0123456789", principal: "alice", invoker: "orchestrator" }],
 *   { development: true, announce: () => {} },
 * );
 * const missing = await authenticator.authenticate({ method: "GET", url: "/", headers: {} });
 * missing.ok ? "" : wwwAuthenticate(missing.denial, authenticator); // => 'Bearer realm="proviso"'
 *
 * wwwAuthenticate({ code: "token_invalid", message: 'not "good"' }, authenticator);
 * // => `Bearer realm="proviso", error="invalid_token", error_description="not 'good'"`
 * ```
 */
export function wwwAuthenticate(
  denial: AuthenticationDenial,
  authenticator: Authenticator,
  options: ChallengeOptions = {},
): string {
  if (!isObject(denial) || typeof denial.code !== "string") {
    throw notA("denial", "what authenticate() gives as denial", denial);
  }
  const { code, message } = denial;
  assertHas(authenticator, AUTHENTICATOR, "authenticator");
  const { audience = "proviso", scope } = authenticator;
  const { resourceMetadata } = knownMembers(options, ["resourceMetadata"], "options");
  const parameters: [name: string, value: string][] = [["realm", audience]];
  if (scope !== undefined) parameters.push(["scope", scope]);
  // Without credentials, the challenge has no error code: RFC 6750, section 3.1.
  if (code === "token_invalid") {
    parameters.push(["error", "invalid_token"], ["error_description", message]);
  }
  if (resourceMetadata !== undefined) {
    parameters.push(["resource_metadata", new URL(resourceMetadata).href]);
  }
  return `Bearer ${parameters.map(([name, value]) => `${name}="${quotable(value)}"`).join(", ")}`;
}

/** Replaces characters that RFC 6750 does not allow in a description. A description cannot escape them. */
function quotable(text: string): string {
  return text
    .replaceAll('"', "'")
    .replaceAll("\\", "/")
    .replace(/[^\x20-\x7e]/gu, "?");
}
