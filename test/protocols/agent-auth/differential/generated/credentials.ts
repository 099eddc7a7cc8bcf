import { generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import type { Random } from "../../../../fuzz/random.js";
import { LOCATION } from "../bank.js";
import {
  type Claims,
  newKey,
  type Party,
  type PartyKey,
  type Sending,
  send,
  signed,
} from "../party.js";
import type { AgentAuthServer } from "../server.js";

/** The key and the default claims with which a JWT is signed. */
export interface Signer {
  readonly server: AgentAuthServer;
  readonly typ: "host+jwt" | "agent+jwt";
  readonly key: PartyKey;
  readonly claims: Claims;
  /** The signing host, or the host of the signing agent. */
  readonly host: Party;
  /**
   * Ids that the signer must not act for: another host, an agent of that host, and a revoked agent of the signer's
   * host.
   */
  readonly others: { readonly host?: string; readonly agent?: string; readonly revoked?: string };
}

export type Credential = (signer: Signer) => Promise<Sending>;

/** Draws a credential. Without `faults`, the credential is always valid. */
export function drawCredential(random: Random, faults: boolean): [about: string, Credential] {
  if (!faults) return ["good JWT", GOOD];
  return random.pick(Object.entries(CREDENTIALS));
}

/** Makes a JWT whose claims differ from the default claims. */
export function claiming(change: Claims | ((signer: Signer) => Claims)): Credential {
  return async (signer) => {
    const more = typeof change === "function" ? change(signer) : change;
    const { key, typ, claims } = signer;
    return { token: await signed(key, { typ }, { ...claims, ...more }) };
  };
}

/** Makes a JWT with additional or changed header properties. */
function headed(header: object): Credential {
  return async ({ key, typ, claims }) => ({ token: await signed(key, { typ, ...header }, claims) });
}

/** Makes a valid JWT, and then changes its text. */
function rewritten(change: (token: string, signer: Signer) => string): Credential {
  return async (signer) => {
    const { key, typ, claims } = signer;
    return { token: change(await signed(key, { typ }, claims), signer) };
  };
}

const at = ({ server }: Signer, seconds: number): number =>
  Math.floor(server.now() / 1000) + seconds;

const GOOD = claiming({});

/** Valid credentials, and invalid credentials of every kind, by name. */
export const CREDENTIALS: Readonly<Record<string, Credential>> = {
  "good JWT": GOOD,
  "no credential": async () => ({}),
  "Basic credential": async () => ({ authorization: "Basic YWxpY2U6c2VjcmV0" }),
  "Bearer in lower case": async ({ key, typ, claims }) => ({
    authorization: `bearer ${await signed(key, { typ }, claims)}`,
  }),
  "JWT of two parts": async () => ({ token: "e30.e30" }),
  "JWT of four parts": rewritten((token) => `${token}.e30`),
  "JWT of letters": async () => ({ token: "a.b.c" }),
  "JWT that is no base64url": async () => ({ token: "!!.%%.$$" }),
  "JWT, alg by its curve": headed({ alg: "Ed25519" }),
  "JWT, alg none": async ({ typ, claims }) => {
    const [, payload] = new UnsecuredJWT({ ...claims }).encode().split(".");
    const header = Buffer.from(JSON.stringify({ alg: "none", typ })).toString("base64url");
    return { token: `${header}.${payload}.` };
  },
  "JWT, HS256": async ({ typ, claims }) => ({
    token: await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: "HS256", typ })
      .sign(new Uint8Array(32)),
  }),
  "JWT, ES256": async ({ typ, claims }) => ({
    token: await new SignJWT({ ...claims })
      .setProtectedHeader({ alg: "ES256", typ })
      .sign((await generateKeyPair("ES256")).privateKey),
  }),
  "JWT, another key": async ({ typ, claims }) => ({
    token: await signed(await newKey(), { typ }, claims),
  }),
  "JWT, signature cut": rewritten((token) => token.slice(0, -4)),
  "JWT, no signature": rewritten((token) => token.slice(0, token.lastIndexOf(".") + 1)),
  "JWT, payload changed": rewritten((token, { claims }) => {
    const [header, , signature] = token.split(".");
    const payload = Buffer.from(JSON.stringify({ ...claims, more: true })).toString("base64url");
    return `${header}.${payload}.${signature}`;
  }),
  "JWT, no typ": headed({ typ: undefined }),
  "JWT, typ JWT": headed({ typ: "JWT" }),
  "JWT, typ of the other kind": async ({ key, typ, claims }) => ({
    token: await signed(key, { typ: typ === "host+jwt" ? "agent+jwt" : "host+jwt" }, claims),
  }),
  "JWT, unknown kid": headed({ kid: "unknown" }),
  "JWT, key in its header": headed({ jwk: { kty: "OKP", crv: "Ed25519", x: "AAAA" } }),
  "JWT, no aud": claiming({ aud: undefined }),
  "JWT, aud elsewhere": claiming({ aud: "https://else.example" }),
  "JWT, aud a location": claiming({ aud: LOCATION }),
  "JWT, aud a list": claiming(({ claims }) => ({ aud: ["https://else.example", claims["aud"]] })),
  "JWT, aud a list of one": claiming(({ claims }) => ({ aud: [claims["aud"]] })),
  "JWT, aud with a slash": claiming(({ server }) => ({ aud: `${server.issuer}/` })),
  "JWT, aud the origin": claiming(({ server }) => ({ aud: server.origin })),
  "JWT, aud the execute endpoint": claiming(({ server }) => ({
    aud: `${server.issuer}/capability/execute`,
  })),
  "JWT, no iat": claiming({ iat: undefined }),
  "JWT, old": claiming((signer) => ({ iat: at(signer, -120), exp: at(signer, 60) })),
  "JWT, from the future": claiming((signer) => ({ iat: at(signer, 600), exp: at(signer, 660) })),
  "JWT, expired": claiming((signer) => ({ iat: at(signer, -50), exp: at(signer, -40) })),
  "JWT, expired a moment ago": claiming((signer) => ({
    iat: at(signer, -55),
    exp: at(signer, -5),
  })),
  "JWT, of a clock that is ahead": claiming((signer) => ({ iat: at(signer, 25) })),
  "JWT, no exp": claiming({ exp: undefined }),
  "JWT, exp in a day": claiming((signer) => ({ exp: at(signer, 86_400) })),
  "JWT, not yet": claiming((signer) => ({ nbf: at(signer, 600) })),
  "JWT, no jti": claiming({ jti: undefined }),
  "JWT, used before": async ({ server, key, typ, claims }) => {
    const token = await signed(key, { typ }, claims);
    await send(server, "GET", "/agent/status", { token });
    return { token };
  },
  "JWT, no iss": claiming({ iss: undefined }),
  "JWT, iss the thumbprint": claiming(({ host }) => ({ iss: host.key.thumbprint })),
  "JWT, iss the host's id": claiming(({ host }) => ({ iss: host.hostId })),
  "JWT, iss of no host": claiming({ iss: "unknown" }),
  "JWT, iss of another host": claiming(({ others }) => ({ iss: others.host })),
  "JWT, no sub": claiming({ sub: undefined }),
  "JWT, sub of no agent": claiming({ sub: "unknown" }),
  "JWT, sub of another agent": claiming(({ others }) => ({ sub: others.agent })),
  "JWT, sub of a revoked agent": claiming(({ others }) => ({ sub: others.revoked })),
  "JWT that names capabilities": claiming({ capabilities: ["transfer_funds"] }),
  "JWT that names no capability": claiming({ capabilities: [] }),
  "JWT without its host's key": claiming({ host_public_key: undefined }),
  "JWT bound to another method": claiming({ htm: "PATCH" }),
  "JWT bound to another address": claiming(({ server }) => ({ htu: `${server.issuer}/else` })),
  "JWT bound with a query": claiming(({ server }) => ({
    htu: `${server.issuer}/agent/status?x=1`,
  })),
};
