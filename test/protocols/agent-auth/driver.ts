import { randomUUID } from "node:crypto";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import type { Json, JsonObject } from "../../../src/bytes/json.js";
import { objectIn, objectsIn, textIn } from "../../../src/client/received.js";
import { type Bank, DEFAULTS } from "./served-bank.js";

/** A key pair with which tests sign. */
export interface Key {
  readonly jwk: JWK;
  readonly secret: Parameters<SignJWT["sign"]>[0];
  readonly thumbprint: string;
}

export async function newKey(): Promise<Key> {
  const { publicKey, privateKey } = await generateKeyPair("EdDSA", { extractable: true });
  const jwk = await exportJWK(publicKey);
  return { jwk, secret: privateKey, thumbprint: await calculateJwkThumbprint(jwk) };
}

/** Changes to a valid JWT; `undefined` removes a property. */
export interface Odd {
  readonly header?: { readonly [name: string]: unknown };
  readonly claims?: { readonly [name: string]: unknown };
  readonly key?: Key;
}

export interface Answer {
  readonly status: number;
  readonly error: string | undefined;
  readonly body: JsonObject;
  readonly headers: Headers;
}

export async function send(
  url: string,
  init: RequestInit & { readonly jwt?: string | undefined; readonly json?: unknown } = {},
): Promise<Answer> {
  const { jwt, json, ...rest } = init;
  const response = await fetchOnce(url, {
    ...(json === undefined ? {} : { method: "POST", body: JSON.stringify(json) }),
    ...rest,
    headers: {
      ...(jwt === undefined ? {} : { Authorization: `Bearer ${jwt}` }),
      ...(json === undefined ? {} : { "Content-Type": "application/json" }),
      ...Object.fromEntries(new Headers(rest.headers)),
    },
  });
  const text = await response.text();
  const parsed: Json = text === "" ? null : JSON.parse(text);
  const body = objectIn(parsed);
  return { status: response.status, error: textIn(body["error"]), body, headers: response.headers };
}

/** Fetches a URL. Retries once if a server closed the connection because it restarted. */
async function fetchOnce(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const { cause } = error instanceof Error ? error : {};
    if (!(cause instanceof Error) || !/other side closed|ECONNRESET/.test(cause.message))
      throw error;
    return fetch(url, init);
  }
}

/** Formats an answer as `STATUS code`. */
export function said({ status, error }: Answer): string {
  return error === undefined ? String(status) : `${status} ${error}`;
}

export function grantsIn({ body }: Answer): readonly JsonObject[] {
  return objectsIn(body["agent_capability_grants"]);
}

/** Formats each grant as `name status`. */
export function grantWords(answer: Answer): readonly string[] {
  return grantsIn(answer)
    .map(({ capability, status }) => `${capability} ${status}`)
    .sort();
}

async function sign(
  { clock, url }: Bank,
  typ: string,
  key: Key,
  claims: { readonly [name: string]: unknown },
  odd: Odd = {},
): Promise<string> {
  const now = Math.floor(clock.now / 1000);
  const all = { aud: url, iat: now, exp: now + 60, jti: randomUUID(), ...claims, ...odd.claims };
  const kept = Object.entries(all).filter(([, value]) => value !== undefined);
  const signer = odd.key ?? key;
  return new SignJWT(Object.fromEntries(kept))
    .setProtectedHeader({ alg: "EdDSA", typ, ...odd.header })
    .sign(signer.secret);
}

/** Returns a proof of possession of a new key: of an agent's key if `agent` is given, otherwise of a host's key. */
export function proofOf(
  bank: Bank,
  key: Key,
  path: string,
  { agent, ...odd }: Odd & { readonly agent?: string } = {},
): Promise<string> {
  const claims = { iss: key.thumbprint, sub: agent, htu: `${bank.url}${path}` };
  return sign(bank, agent === undefined ? "host+jwt" : "agent+jwt", key, claims, odd);
}

/** A client that acts as a host, and as one agent of this host. */
export class Driver {
  readonly bank: Bank;
  readonly host: Key;
  readonly agent: Key;
  agentId = "";

  constructor(bank: Bank, host: Key, agent: Key) {
    this.bank = bank;
    this.host = host;
    this.agent = agent;
  }

  hostJwt(odd?: Odd): Promise<string> {
    const claims = { iss: this.host.thumbprint, host_public_key: this.host.jwk };
    return sign(this.bank, "host+jwt", this.host, claims, odd);
  }

  registrationJwt(odd: Odd = {}): Promise<string> {
    return this.hostJwt({ ...odd, claims: { agent_public_key: this.agent.jwk, ...odd.claims } });
  }

  agentJwt(odd?: Odd): Promise<string> {
    const claims = { iss: this.host.thumbprint, sub: this.agentId };
    return sign(this.bank, "agent+jwt", this.agent, claims, odd);
  }

  async register(
    body: object = {},
    { odd, headers }: { odd?: Odd; headers?: Record<string, string> } = {},
  ): Promise<Answer> {
    const answer = await send(`${this.bank.url}/agent/register`, {
      jwt: await this.registrationJwt(odd),
      json: { name: "Assistant", capabilities: DEFAULTS, ...body },
      headers,
    });
    this.agentId = textIn(answer.body["agent_id"]) ?? this.agentId;
    return answer;
  }

  /** Sends a request with a JWT of the host. */
  async asHost(path: string, json?: unknown, odd?: Odd): Promise<Answer> {
    const jwt = await this.hostJwt(odd);
    return send(`${this.bank.url}${path}`, { jwt, json });
  }

  /** Sends a request with a JWT of the agent. */
  async asAgent(
    path: string,
    json?: unknown,
    odd?: Odd,
    headers: Record<string, string> = {},
  ): Promise<Answer> {
    const jwt = await this.agentJwt(odd);
    return send(`${this.bank.url}${path}`, {
      jwt,
      headers,
      json,
    });
  }

  request(capabilities: unknown, more: JsonObject = {}): Promise<Answer> {
    return this.asAgent("/agent/request-capability", { capabilities, ...more });
  }

  execute(capability: string, given: JsonObject, token?: string, odd?: Odd): Promise<Answer> {
    const headers: Record<string, string> =
      token === undefined ? {} : { "Proviso-Capability": token };
    const json = { capability, arguments: given };
    return this.asAgent("/capability/execute", json, odd, headers);
  }

  /** Returns the token of an active grant. */
  async token(capability: string): Promise<string> {
    const answer = await this.asAgent("/agent/status");
    const grant = grantsIn(answer).find((one) => one["capability"] === capability);
    const token = textIn(grant?.["token"]);
    if (token === undefined) throw new Error(`no token for ${capability}: ${said(answer)}`);
    return token;
  }

  /** Decides an approval as a user, by the user code in an answer, as the console does. */
  async decide(
    answer: Answer,
    decision: "approve" | "deny" = "approve",
    {
      principal = "alice",
      ...more
    }: { principal?: string; reason?: string; hops?: { [place: string]: object } } = {},
  ): Promise<void> {
    const { approvals } = this.bank.parties;
    const userCode = textIn(objectIn(answer.body["approval"])["user_code"]);
    const [waiting] = await approvals.waitingFor(principal);
    const found = userCode === undefined ? waiting : await approvals.byUserCode(userCode);
    if (found === undefined) throw new Error("nothing waits for a decision");
    const by = { principal, userCode };
    const { id, digest } = found;
    const outcome = await approvals.decide(id, by, { answer: decision, digest, ...more });
    if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`);
  }
}

/** Makes a host and an agent, neither of which is registered yet. */
export async function driver(bank: Bank): Promise<Driver> {
  return new Driver(bank, await newKey(), await newKey());
}

/** Makes a host that is linked to a user, and an active agent that has the default capabilities. */
export async function linked(bank: Bank, principal = "alice"): Promise<Driver> {
  const one = await driver(bank);
  const { jwk: key, thumbprint } = one.host;
  const { kty = "", crv = "", x = "" } = key;
  const made = await bank.parties.createHost({
    principal,
    key: { key: { kty, crv, x }, thumbprint },
  });
  if (!made.ok) throw new Error(made.message);
  const answer = await one.register();
  if (answer.status !== 200) throw new Error(`${said(answer)} ${answer.body["message"]}`);
  return one;
}

/** Makes an active agent with the requested capabilities. The approver can narrow them. */
export async function granted(
  bank: Bank,
  capabilities: unknown,
  hops?: { [place: string]: object },
): Promise<Driver> {
  const one = await linked(bank);
  const answer = await one.request(capabilities);
  if (answer.status !== 200) throw new Error(`${said(answer)} ${answer.body["message"]}`);
  await one.decide(answer, "approve", hops === undefined ? {} : { hops });
  return one;
}
