/**
 * Authenticates callers by access tokens of an authorization server, or by fixed tokens for development. Also makes
 * the challenge in the answer to a request without a valid token.
 *
 * @module proviso/auth
 */
export type {
  AuthenticationDenial,
  Authenticator,
  CallerAuthentication,
  CallerRequest,
} from "../agent/caller.js";
export { type ChallengeOptions, wwwAuthenticate } from "./bearer.js";
export {
  createFixedTokens,
  type FixedToken,
  type FixedTokensOptions,
} from "./fixed-tokens.js";
export { createJwtAuthenticator } from "./jwt-authenticator.js";
export type {
  JwtAuthenticatorOptions,
  KeySourceOptions,
  PublicJwkSet,
} from "./jwt-options.js";
export { KeysUnavailableError } from "./key-source.js";
