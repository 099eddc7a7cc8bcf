import type { AuthenticationDenial, Authenticator } from "../agent/caller.js";

/** What else a challenge may say. */
export interface ChallengeOptions {
  /** URL of the service's protected resource metadata (RFC 9728), if it publishes any. */
  readonly resourceMetadata?: string;
}

/**
 * The `WWW-Authenticate` header that goes with 401 (RFC 6750, section 3): what to authenticate for,
 * and, if there were credentials, why they were not good.
 *
 * @returns Printable ASCII.
 * @throws TypeError if `resourceMetadata` is not a URL.
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
  const { audience = "proviso", scope } = authenticator;
  const { resourceMetadata } = options;
  const parameters: [name: string, value: string][] = [["realm", audience]];
  if (scope !== undefined) parameters.push(["scope", scope]);
  // A request without credentials gets no error code: RFC 6750, section 3.1.
  if (denial.code === "token_invalid") {
    parameters.push(["error", "invalid_token"], ["error_description", denial.message]);
  }
  if (resourceMetadata !== undefined) {
    parameters.push(["resource_metadata", new URL(resourceMetadata).href]);
  }
  return `Bearer ${parameters.map(([name, value]) => `${name}="${quotable(value)}"`).join(", ")}`;
}

/** Only what RFC 6750 allows in a description; it knows no escapes. */
function quotable(text: string): string {
  return text
    .replaceAll('"', "'")
    .replaceAll("\\", "/")
    .replace(/[^\x20-\x7e]/gu, "?");
}
