/**
 * The keys that access tokens are checked with can not be had now, so that nobody can be
 * authenticated: a fault of the service (503), not of its callers.
 *
 * @example
 * ```ts
 * import { createJwtAuthenticator, KeysUnavailableError } from "proviso/auth";
 *
 * let caught;
 * try {
 *   await createJwtAuthenticator({
 *     issuer: "https://login.example",
 *     audience: "https://documents.example",
 *     jwks: "/nowhere/jwks.json",
 *   });
 * } catch (error) {
 *   caught = error;
 * }
 * caught instanceof KeysUnavailableError; // => true
 * caught.message;
 * // => "no keys can be had from /nowhere/jwks.json: there is no such file"
 * ```
 */
export class KeysUnavailableError extends Error {
  override readonly name = "KeysUnavailableError";
  /** The file or the URL that they should come from. */
  readonly source: string;

  constructor(source: string, reason: string, options?: ErrorOptions) {
    super(`no keys can be had from ${source}: ${reason}`, options);
    this.source = source;
  }
}
