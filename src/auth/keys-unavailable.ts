/**
 * The authenticator cannot get the keys that access tokens are checked with, and so cannot
 * authenticate any caller: a fault of the service (503), not of its callers.
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
