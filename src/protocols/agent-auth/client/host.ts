import type { JsonObject } from "../../../bytes/json.js";
import { assertString, described } from "../../../checks/kinds.js";
import { assertMembers, knownMembers } from "../../../checks/members.js";
import { textIn } from "../../../client/received.js";
import { AgentAuthAgent } from "./agent.js";
import {
  ASK_OPTIONS,
  type AskOptions,
  askedBody,
  askingBody,
  type CapabilityAsked,
} from "./asking.js";
import { generateKey, type JwtClaims, type PrivateKey, type Signer, signer } from "./keys.js";
import {
  agentIn,
  type Discovery,
  type Listing,
  listingIn,
  type ReceivedAgent,
} from "./received.js";
import { discover, Wire, type WireOptions } from "./wire.js";

/** Options of a host: an environment that runs agents. */
export interface AgentAuthClientOptions extends WireOptions {
  /** The host's key, made by {@link generateKey}. Keep it as long as the server should recognize the host. */
  readonly hostKey: PrivateKey;
  /** The name that the host gives itself. */
  readonly hostName?: string | undefined;
  /** Returns the time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

/** An agent to register. */
export interface RegisterOptions extends AskOptions {
  readonly name: string;
  /** Capabilities to request; none unless given. The agent can request them later. */
  readonly capabilities?: readonly CapabilityAsked[];
  /** `delegated` unless given. */
  readonly mode?: "delegated" | "autonomous";
  /** The agent's key. Unless given, the client makes a new key, which is lost when the process ends. */
  readonly key?: PrivateKey;
}

/**
 * The connection of a host to one server, made by {@link createAgentAuthClient}. Methods throw an
 * AgentAuthError if the server answers with an error, and a ClientError if there is no usable answer.
 */
export class AgentAuthClient {
  readonly discovery: Discovery;
  readonly #wire: Wire;
  readonly #options: AgentAuthClientOptions;
  readonly #clock: () => number;
  #host: Signer;

  /** @internal */
  constructor(discovery: Discovery, host: Signer, options: AgentAuthClientOptions) {
    this.discovery = discovery;
    this.#options = options;
    this.#wire = new Wire(discovery, options);
    this.#clock = options.clock ?? Date.now;
    this.#host = host;
  }

  /** The thumbprint of the host's key, by which the server identifies the host. */
  get thumbprint(): string {
    return this.#host.thumbprint;
  }

  /** Lists the capabilities that the server shows this host. */
  async list(
    options: { readonly query?: string; readonly cursor?: string } = {},
  ): Promise<Listing> {
    const query = knownMembers(options, ["query", "cursor"], "options");
    const request = { jwt: await this.#jwt(), query };
    return listingIn(await this.#wire.ask("capabilities", "/capability/list", request));
  }

  /** Registers an agent. If a user must approve the agent, `agent.state.approval` says how. */
  async register(options: RegisterOptions): Promise<AgentAuthAgent> {
    const own = knownMembers(options, REGISTER_OPTIONS, "options");
    const { name, capabilities, mode, idempotencyKey } = own;
    if (typeof name !== "string" || name === "") {
      throw new TypeError(`options.name must be a non-empty string, not ${described(name)}`);
    }
    const asked = {
      name,
      ...askingBody(own),
      ...(capabilities === undefined ? {} : { capabilities: askedBody(capabilities) }),
      ...(mode === undefined ? {} : { mode }),
    };
    const key = await signer(own.key ?? (await generateKey()), this.#clock, "options.key");
    // Bind the JWT to this request: a server that was found by discovery could forward the JWT (section 8.9).
    const { endpoints, issuer } = this.discovery;
    const htu = endpoints.get("register") ?? `${issuer.replace(/\/$/, "")}/agent/register`;
    const jwt = await this.#jwt({ agent_public_key: key.publicKey, htm: "POST", htu });
    const answer = await this.#wire.ask("register", "/agent/register", {
      jwt,
      body: asked,
      ...(idempotencyKey === undefined ? {} : { headers: { "Idempotency-Key": idempotencyKey } }),
    });
    return this.#agent(agentIn(answer, this.discovery.issuer), key);
  }

  /** Returns an agent that was registered before. */
  async open(agentId: string, agentKey: PrivateKey): Promise<AgentAuthAgent> {
    assertString(agentId, "agentId");
    const key = await signer(agentKey, this.#clock, "agentKey");
    return this.#agent(await this.status(agentId), key);
  }

  async status(agentId: string): Promise<ReceivedAgent> {
    assertString(agentId, "agentId");
    const request = { jwt: await this.#jwt(), query: { agent_id: agentId } };
    return agentIn(await this.#wire.ask("status", "/agent/status", request), this.discovery.issuer);
  }

  /** Reactivates an expired agent. The agent gets only the host's default capabilities. */
  async reactivate(agentId: string): Promise<ReceivedAgent> {
    assertString(agentId, "agentId");
    const answer = await this.#post("reactivate", "/agent/reactivate", { agent_id: agentId });
    return agentIn(answer, this.discovery.issuer);
  }

  async revokeAgent(agentId: string): Promise<void> {
    assertString(agentId, "agentId");
    await this.#post("revoke", "/agent/revoke", { agent_id: agentId });
  }

  /** Replaces an agent's key. From then on, open the agent with the new key. */
  async rotateAgentKey(agentId: string, agentKey: PrivateKey): Promise<void> {
    assertString(agentId, "agentId");
    const next = await signer(agentKey, this.#clock, "agentKey");
    const path = "/agent/rotate-key";
    const proof = await next.sign("agent+jwt", {
      ...this.#proving(path, this.#host.thumbprint),
      sub: agentId,
    });
    await this.#post("rotate_key", path, { agent_id: agentId, public_key: next.publicKey, proof });
  }

  /** Replaces the host's key, with immediate effect. */
  async rotateHostKey(hostKey: PrivateKey): Promise<void> {
    const next = await signer(hostKey, this.#clock, "hostKey");
    const path = "/host/rotate-key";
    const claims = this.#proving(path, next.thumbprint);
    const proof = await next.sign("host+jwt", claims);
    await this.#post("rotate_host_key", path, { public_key: next.publicKey, proof });
    this.#host = next;
  }

  /** Revokes the host and all its agents. */
  async revokeHost(): Promise<void> {
    await this.#post("revoke_host", "/host/revoke", {});
  }

  /**
   * Enrols this host with the enrolment token that its user received.
   *
   * @returns The host's id; the thumbprint of its key if the server sends no id.
   */
  async enroll(token: string): Promise<string> {
    assertString(token, "token");
    const { hostName: name } = this.#options;
    const path = "/host/enroll";
    const claims = this.#proving(path, this.#host.thumbprint);
    const proof = await this.#host.sign("host+jwt", claims);
    const body = {
      token,
      public_key: this.#host.publicKey,
      proof,
      ...(name === undefined ? {} : { name }),
    };
    const answer = await this.#wire.ask("", path, { body });
    return textIn(answer["hostId"]) ?? this.#host.thumbprint;
  }

  /** Returns the claims of a JWT that proves possession of a new key. */
  #proving(path: string, iss: string): JwtClaims {
    const { issuer } = this.discovery;
    return { iss, aud: issuer, htm: "POST", htu: `${issuer.replace(/\/$/, "")}${path}` };
  }

  async #post(name: string, path: string, body: JsonObject): Promise<JsonObject> {
    return this.#wire.ask(name, path, { jwt: await this.#jwt(), body });
  }

  #jwt(more: JsonObject = {}): Promise<string> {
    const { hostName } = this.#options;
    return this.#host.sign("host+jwt", {
      iss: this.#host.thumbprint,
      aud: this.discovery.issuer,
      host_public_key: this.#host.publicKey,
      ...(hostName === undefined ? {} : { host_name: hostName }),
      ...more,
    });
  }

  #agent(state: ReceivedAgent, key: Signer): AgentAuthAgent {
    const hostId = state.hostId ?? this.#host.thumbprint;
    return new AgentAuthAgent(state, {
      wire: this.#wire,
      host: () => this.#host,
      key,
      hostId,
      clock: this.#clock,
    });
  }
}

const REGISTER_OPTIONS = ["name", "capabilities", "mode", "key", ...ASK_OPTIONS];
const OPTIONS = ["provider", "fetch", "timeout", "insecure", "hostKey", "hostName", "clock"];

/**
 * Discovers a server, and creates a host's client for it.
 *
 * @throws TypeError if an option is wrong.
 * @throws ClientError if there is no Agent-Auth server at this URL.
 */
export async function createAgentAuthClient(
  options: AgentAuthClientOptions,
): Promise<AgentAuthClient> {
  assertMembers(options, OPTIONS, "options");
  const host = await signer(options.hostKey, options.clock ?? Date.now, "options.hostKey");
  return new AgentAuthClient(await discover(options), host, options);
}
