import {
  type CryptoKey,
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTHeaderParameters,
  SignJWT,
} from "jose";
import { isObject } from "../../../../src/bytes/json.js";
import { DEFAULTS } from "./bank.js";
import type { AgentAuthServer, AskedOfUser } from "./server.js";

/** An Ed25519 key. Its public part has the thumbprint as `kid`. */
export interface PartyKey {
  readonly secret: CryptoKey;
  readonly public: JWK;
  readonly thumbprint: string;
}

export async function newKey(): Promise<PartyKey> {
  const pair = await generateKeyPair("EdDSA", { extractable: true });
  const { kty, crv, x } = await exportJWK(pair.publicKey);
  if (kty === undefined || crv === undefined || x === undefined) throw new TypeError("not a key");
  const thumbprint = await calculateJwkThumbprint({ kty, crv, x });
  return { secret: pair.privateKey, public: { kty, crv, x, kid: thumbprint }, thumbprint };
}

/** Claims of a JWT. A claim with the value `undefined` is omitted. */
export type Claims = Readonly<Record<string, unknown>>;

/** Signs a JWT without checking its claims, so that tests can make invalid JWTs. */
export async function signed(
  key: PartyKey,
  header: Partial<JWTHeaderParameters>,
  claims: Claims,
): Promise<string> {
  const present = Object.entries(claims).filter(([, value]) => value !== undefined);
  return new SignJWT(Object.fromEntries(present))
    .setProtectedHeader({ alg: "EdDSA", ...header })
    .sign(key.secret);
}

export interface Sending {
  readonly token?: string;
  /** The `Authorization` header to send instead of a Bearer token. */
  readonly authorization?: string;
  /** The body of the request, which is sent as JSON unless it is a string or bytes. */
  readonly body?: unknown;
  readonly contentType?: string;
}

/** Returns a body with a new key, and the proof of possession that our server requires. */
export async function keyBody(
  server: AgentAuthServer,
  path: string,
  key: PartyKey,
  agent?: string,
): Promise<{ public_key: JWK; proof: string }> {
  const typ = agent === undefined ? "host+jwt" : "agent+jwt";
  const htu = `${server.issuer}${path}`;
  const claims = { ...fresh(server), iss: key.thumbprint, sub: agent, htu };
  return { public_key: key.public, proof: await signed(key, { typ }, claims) };
}

/** The answer of a server. */
export interface Answer {
  readonly method: string;
  /** The path of the request, without origin and query. */
  readonly path: string;
  readonly status: number;
  /** The property `error` of the answer's body. */
  readonly error: string | undefined;
  /** The parsed body; its text if the body is not JSON. */
  readonly body: unknown;
  readonly headers: Headers;
}

/** Sends a request to a path below the issuer, or to a complete URL. */
export async function send(
  server: AgentAuthServer,
  method: string,
  path: string,
  { token, authorization, body, contentType }: Sending = {},
): Promise<Answer> {
  const url = new URL(path.startsWith("http") ? path : server.issuer + path);
  const headers = new Headers();
  if (token !== undefined) headers.set("Authorization", `Bearer ${token}`);
  if (authorization !== undefined) headers.set("Authorization", authorization);
  const raw = typeof body === "string" || body instanceof Uint8Array;
  if (body !== undefined) headers.set("Content-Type", contentType ?? "application/json");
  const response = await fetch(url, {
    method,
    headers,
    ...(body === undefined ? {} : { body: raw ? new Blob([body]) : JSON.stringify(body) }),
  });
  const text = await response.text();
  const parsed = parsedOr(text);
  const error = isObject(parsed) ? parsed["error"] : undefined;
  return {
    method,
    path: url.href.split("?")[0]?.replace(server.issuer, "").replace(server.origin, "") ?? "",
    status: response.status,
    error: typeof error === "string" ? error : undefined,
    body: parsed,
    headers: response.headers,
  };
}

/** A host with its agents, as one server knows them. */
export class Party {
  readonly server: AgentAuthServer;
  key: PartyKey;
  hostId: string | undefined;

  private constructor(server: AgentAuthServer, key: PartyKey) {
    this.server = server;
    this.key = key;
  }

  static async of(server: AgentAuthServer): Promise<Party> {
    return new Party(server, await newKey());
  }

  /** Returns the claims of a Host JWT that a server accepts. */
  claims(): Claims {
    return {
      ...fresh(this.server),
      // The reference accepts the thumbprint as `iss` only at some endpoints.
      iss: (this.server.name === "reference" ? this.hostId : undefined) ?? this.key.thumbprint,
      host_public_key: this.key.public,
    };
  }

  token(more: Claims = {}): Promise<string> {
    return signed(this.key, { typ: "host+jwt" }, { ...this.claims(), ...more });
  }

  /** Sends a request with a Host JWT. */
  async send(method: string, path: string, body?: unknown): Promise<Answer> {
    return send(this.server, method, path, { token: await this.token(), body });
  }

  /** Sends the registration of an agent, and sets the agent's id from the answer. */
  async register(agent: PartyAgent, body: object = {}): Promise<Answer> {
    const answer = await send(this.server, "POST", "/agent/register", {
      token: await this.token({ agent_public_key: agent.key.public }),
      body: { name: "helper", capabilities: DEFAULTS, ...body },
    });
    this.hostId ??= textMember(answer.body, "host_id");
    agent.id ??= textMember(answer.body, "agent_id");
    return answer;
  }

  async agent(): Promise<PartyAgent> {
    return new PartyAgent(this, await newKey());
  }
}

export class PartyAgent {
  readonly host: Party;
  key: PartyKey;
  id: string | undefined;

  constructor(host: Party, key: PartyKey) {
    this.host = host;
    this.key = key;
  }

  claims(): Claims {
    return { ...fresh(this.host.server), iss: this.host.hostId, sub: this.id };
  }

  token(more: Claims = {}): Promise<string> {
    return signed(this.key, { typ: "agent+jwt" }, { ...this.claims(), ...more });
  }

  /** Sends a request with an Agent JWT. */
  async send(method: string, path: string, body?: unknown, more: Claims = {}): Promise<Answer> {
    return send(this.host.server, method, path, { token: await this.token(more), body });
  }

  request(capabilities: readonly unknown[], more: object = {}): Promise<Answer> {
    return this.send("POST", "/agent/request-capability", { capabilities, ...more });
  }

  execute(capability: string, given?: unknown, more: Claims = {}): Promise<Answer> {
    return this.send("POST", "/capability/execute", { capability, arguments: given }, more);
  }

  /** Returns the approval in an answer, so that a user can decide it. */
  asked(answer: Answer): AskedOfUser {
    const approval = isObject(answer.body) ? answer.body["approval"] : undefined;
    const userCode = textMember(approval, "user_code");
    if (this.id === undefined) throw new TypeError("it is not registered");
    return { agentId: this.id, userCode };
  }
}

function fresh({ issuer, now }: AgentAuthServer): Claims {
  const iat = Math.floor(now() / 1000);
  return { aud: issuer, jti: crypto.randomUUID(), iat, exp: iat + 60 };
}

function textMember(value: unknown, name: string): string | undefined {
  const member = isObject(value) ? value[name] : undefined;
  return typeof member === "string" ? member : undefined;
}

function parsedOr(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
