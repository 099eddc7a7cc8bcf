import { randomBytes } from "node:crypto";
import { exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { onTestFinished } from "vitest";
import type { AuthenticationDenial, Authenticator, CallerRequest } from "../../src/agent/caller.js";
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  startAuthorizationServer,
} from "../support/authorization-server.js";

export const RESOURCE = "https://documents.example/";

/** Starts an authorization server that is stopped at the end of the test. */
export async function authorizationServer(
  options: Partial<AuthorizationServerOptions> = {},
): Promise<AuthorizationServer> {
  const server = await startAuthorizationServer({
    users: ["alice", "bob"],
    clients: ["orchestrator", "calendar"],
    resource: RESOURCE,
    ...options,
  });
  onTestFinished(() => server.close());
  return server;
}

/** Returns the denial; fails the test if the token is accepted, or if the message contains the token. */
export async function denialWith(
  authenticator: Authenticator,
  token: string,
): Promise<AuthenticationDenial> {
  const result = await authenticator.authenticate(requestWith(`Bearer ${token}`));
  if (result.ok) throw new Error(`accepted, as ${JSON.stringify(result.caller)}`);
  for (const part of token.split(".")) {
    if (part.length > 8 && result.denial.message.includes(part)) throw new Error("shows the token");
  }
  return result.denial;
}

/** The claims of a valid or invalid token. */
export type Claims = Readonly<Record<string, unknown>>;

/** A key pair for tokens that no authorization server would make. */
export interface Signer {
  readonly jwk: JWK;
  /** Makes a valid access token with the given changes; `undefined` removes a claim or header property. */
  sign(claims?: Claims, header?: Readonly<Record<string, unknown>>): Promise<string>;
}

export const ISSUER = "https://login.example";

export async function signer(alg = "ES256"): Promise<Signer> {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  const kid = randomBytes(6).toString("base64url");
  return {
    jwk: { ...(await exportJWK(publicKey)), kid },
    sign(claims = {}, header = {}) {
      const now = Math.floor(Date.now() / 1000);
      return new SignJWT({
        iss: ISSUER,
        aud: RESOURCE,
        sub: "alice",
        client_id: "orchestrator",
        iat: now,
        exp: now + 300,
        ...claims,
      })
        .setProtectedHeader({ alg, typ: "at+jwt", kid, ...header })
        .sign(privateKey);
    },
  };
}

/** Returns a request with this `Authorization` header. */
export function requestWith(authorization?: string): CallerRequest {
  return { method: "POST", url: "/a2a/jsonrpc", headers: { authorization } };
}
