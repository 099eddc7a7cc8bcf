import type { Json, JsonObject } from "../../../bytes/json.js";
import { type Attenuation, attenuate } from "../../../capability/attenuate.js";
import type { HopInit } from "../../../caveats/hop.js";
import { assertOptionalString, assertString } from "../../../checks/kinds.js";
import { knownMembers } from "../../../checks/members.js";
import { plainCopy, plainObject } from "../../../checks/plain.js";
import { ClientError } from "../../../client/client-error.js";
import { pause } from "../../../client/pause.js";
import { textIn } from "../../../client/received.js";
import { CAPABILITY_HEADER } from "../../../http/headers.js";
import {
  ASK_OPTIONS,
  type AskOptions,
  askedBody,
  askingBody,
  type CapabilityAsked,
} from "./asking.js";
import type { Signer } from "./keys.js";
import {
  agentIn,
  type CapabilityDefinition,
  definitionIn,
  type Listing,
  listingIn,
  type ReceivedAgent,
  type ReceivedGrant,
} from "./received.js";
import { failing } from "./schema-check.js";
import type { Wire } from "./wire.js";

/** Options of an execution. */
export interface ExecuteOptions {
  /** The token to present, for example a narrowed token; the token of the agent's grant unless given. */
  readonly token?: string;
}

/** Options of {@link AgentAuthAgent.waitForApproval}. */
export interface WaitOptions {
  /** Seconds between two status requests; the server's value unless given. */
  readonly interval?: number;
  readonly signal?: AbortSignal;
}

/** Dependencies and keys of an agent. @internal */
export interface AgentParts {
  readonly wire: Wire;
  /** Returns the host's current key. */
  readonly host: () => Signer;
  readonly key: Signer;
  readonly hostId: string;
  /** Returns the time in milliseconds since 1970. */
  readonly clock: () => number;
}

/**
 * Seconds between two status requests (`INTERVAL`) and until an approval expires (`LONGEST`), if the server does not
 * give the number.
 */
const INTERVAL = 5;
const LONGEST = 300;
/** A token is renewed this many milliseconds before it expires. */
const EARLY = 5_000;

/**
 * A registered agent. It requests capabilities, narrows them offline and executes them. Made by {@link
 * AgentAuthClient}. Methods throw an AgentAuthError if the server answers with an error, and a ClientError if
 * there is no usable answer.
 */
export class AgentAuthAgent {
  readonly #parts: AgentParts;
  readonly #definitions = new Map<string, CapabilityDefinition>();
  #state: ReceivedAgent;
  /** The time at which the pending approval expires, in milliseconds since 1970. */
  #deadline: number;

  /** @internal */
  constructor(state: ReceivedAgent, parts: AgentParts) {
    this.#state = state;
    this.#parts = parts;
    this.#deadline = this.#deadlineOf(state);
  }

  get id(): string {
    return this.#state.id;
  }

  /** The server's last answer about the agent. */
  get state(): ReceivedAgent {
    return this.#state;
  }

  /** Fetches the agent's state from the server, with new tokens. */
  async status(): Promise<ReceivedAgent> {
    const waiting = this.#state.status !== "active";
    const { wire } = this.#parts;
    // Only the host may ask about an agent that is not active.
    const jwt = await (waiting ? this.#hostJwt() : this.#jwt());
    const query = { agent_id: this.id };
    const body = await wire.ask("status", "/agent/status", { jwt, query });
    this.#state = agentIn(body, wire.discovery.issuer);
    return this.#state;
  }

  /**
   * Waits until neither the agent nor a grant is pending, or until the approval has expired. An agent that is then
   * still pending can be registered again with the same key.
   *
   * @throws The reason of the option `signal`, if the signal is aborted.
   */
  async waitForApproval(options: WaitOptions = {}): Promise<ReceivedAgent> {
    const { interval, signal } = knownMembers(options, ["interval", "signal"], "options");
    if (interval !== undefined && !(interval > 0)) {
      throw new TypeError("options.interval must be a positive number of seconds");
    }
    const seconds = interval ?? this.#state.approval?.interval ?? INTERVAL;
    for (;;) {
      signal?.throwIfAborted();
      const late = this.#parts.clock() > this.#deadline;
      const state = await this.status();
      const waits = state.grants.some(({ status }) => status === "pending");
      const decided = state.status !== "pending" && !(waits && state.status === "active");
      if (decided || late) return state;
      await pause(seconds * 1000, signal);
    }
  }

  /** Lists the available capabilities. To get the next page, pass the `cursor` of the previous page. */
  async list(
    options: { readonly query?: string; readonly cursor?: string } = {},
  ): Promise<Listing> {
    const query = knownMembers(options, ["query", "cursor"], "options");
    const request = { jwt: await this.#jwt(), query };
    return listingIn(await this.#parts.wire.ask("capabilities", "/capability/list", request));
  }

  /** Describes one capability, including the schemas of its arguments and its result. */
  async describe(name: string): Promise<CapabilityDefinition> {
    assertString(name, "name");
    const { wire } = this.#parts;
    const request = { jwt: await this.#jwt(), query: { name } };
    const body = await wire.ask("describe_capability", "/capability/describe", request);
    const definition = definitionIn(body);
    if (definition?.name !== name) {
      const { origin } = new URL(wire.discovery.issuer);
      throw new ClientError("answer_malformed", `${origin} describes something else`, origin);
    }
    this.#definitions.set(name, definition);
    return definition;
  }

  /** Requests capabilities. The result has the requested grants and, if a user must approve them, the approval. */
  async request(
    capabilities: readonly CapabilityAsked[],
    options: AskOptions = {},
  ): Promise<ReceivedAgent> {
    const { wire } = this.#parts;
    const own = knownMembers(options, ASK_OPTIONS, "options");
    const { idempotencyKey: key } = own;
    const body = { capabilities: askedBody(capabilities), ...askingBody(own) };
    const answer = await wire.ask("request_capability", "/agent/request-capability", {
      jwt: await this.#jwt(),
      body,
      ...(key === undefined ? {} : { headers: { "Idempotency-Key": key } }),
    });
    const asked = agentIn(answer, wire.discovery.issuer);
    const named = new Set(asked.grants.map(({ capability }) => capability));
    const others = this.#state.grants.filter(({ capability }) => !named.has(capability));
    const { approval, grants } = asked;
    this.#deadline = Math.max(this.#deadline, this.#deadlineOf(asked));
    this.#state = {
      id: this.id,
      status: this.#state.status,
      grants: [...others, ...grants],
      ...(approval === undefined ? {} : { approval }),
    };
    return asked;
  }

  /**
   * Executes a capability at the server, or at the capability's location.
   *
   * @throws TypeError if the arguments are not plain JSON, or violate the capability's input schema.
   * @throws ClientError `answer_malformed` if the result violates the capability's output schema, or if the answer has
   *   no result. The client does not wait for a result that the server announces at a `status_url`.
   */
  async execute(
    capability: string,
    given: JsonObject = {},
    options: ExecuteOptions = {},
  ): Promise<Json> {
    const { wire } = this.#parts;
    assertString(capability, "capability");
    const own = plainCopy(plainObject(given, "given"), "given", "arguments");
    const { token } = knownMembers(options, ["token"], "options");
    assertOptionalString(token, "options.token");
    const known = this.#definitions.get(capability) ?? (await this.describe(capability));
    const { location, input, output } = known;
    const wrong = input === undefined ? undefined : await failing(own, input);
    if (wrong !== undefined) throw new TypeError(`the arguments of ${capability}: ${wrong}`);
    const presented = token ?? (await this.#token(capability));
    const aud = location ?? wire.discovery.issuer;
    const headers: Record<string, string> =
      presented === undefined ? {} : { [CAPABILITY_HEADER]: presented };
    const request = {
      jwt: await this.#jwt(aud, [capability]),
      body: { capability, arguments: own },
      headers,
    };
    const answer = await (location === undefined
      ? wire.askAt(wire.discovery.defaultLocation, request)
      : wire.askAt(location, request));
    const { origin } = new URL(location ?? wire.discovery.issuer);
    const data = resultIn(answer, capability, origin);
    const failed = output === undefined ? undefined : await failing(data, output);
    if (failed === undefined) return data;
    const message = `the result of ${capability} is not what ${origin} promises: ${failed}`;
    throw new ClientError("answer_malformed", message, origin);
  }

  /**
   * Narrows the token of a granted capability, so that the narrowed token can be passed on. Sends a request only if the
   * agent has no current token of the capability.
   *
   * @returns The narrowed token, or the parts of the hop that exceed the token.
   * @throws TypeError if the server gave no token, or the hop is invalid.
   */
  async narrow(capability: string, hop: HopInit): Promise<Attenuation> {
    assertString(capability, "capability");
    const token = await this.#token(capability);
    if (token === undefined) throw new TypeError(`${capability}: the server gave no token for it`);
    return attenuate(token, hop);
  }

  /**
   * Revokes the agent's own grants by capability name.
   *
   * @returns The names of the capabilities whose grants were revoked.
   */
  async revokeCapabilities(capabilities: readonly string[]): Promise<readonly string[]> {
    const body = { agent_id: this.id, capabilities: askedBody(capabilities) };
    const request = { jwt: await this.#jwt(), body };
    const answer = await this.#parts.wire.ask("", "/agent/revoke-capability", request);
    const { revoked } = answer;
    return Array.isArray(revoked) ? revoked.flatMap((name) => textIn(name) ?? []) : [];
  }

  /** Revokes the agent. */
  async revoke(): Promise<void> {
    const request = { jwt: await this.#jwt(), body: { agent_id: this.id } };
    await this.#parts.wire.ask("revoke", "/agent/revoke", request);
    this.#state = { ...this.#state, status: "revoked", grants: [] };
  }

  /** Returns the token of an active grant. First renews a token that is about to expire. */
  async #token(capability: string): Promise<string | undefined> {
    const kept = tokenIn(this.#state.grants, capability);
    const { tokenExpires = "" } = kept ?? {};
    const until = Date.parse(tokenExpires);
    if (kept !== undefined && until - EARLY > this.#parts.clock()) return kept.token;
    return tokenIn((await this.status()).grants, capability)?.token;
  }

  #jwt(aud?: string, capabilities?: readonly string[]): Promise<string> {
    const { wire, key, hostId } = this.#parts;
    return key.sign("agent+jwt", {
      iss: hostId,
      sub: this.id,
      aud: aud ?? wire.discovery.issuer,
      ...(capabilities === undefined ? {} : { capabilities }),
    });
  }

  #deadlineOf({ approval }: ReceivedAgent): number {
    return this.#parts.clock() + (approval?.expiresIn ?? LONGEST) * 1000;
  }

  #hostJwt(): Promise<string> {
    const { wire, host } = this.#parts;
    const key = host();
    return key.sign("host+jwt", {
      iss: key.thumbprint,
      aud: wire.discovery.issuer,
      host_public_key: key.publicKey,
    });
  }
}

function tokenIn(grants: readonly ReceivedGrant[], capability: string): ReceivedGrant | undefined {
  return grants.find(
    (grant) => grant.capability === capability && grant.status === "active" && grant.token,
  );
}

/**
 * Returns the result of an execution.
 *
 * @throws ClientError if the answer has no result.
 */
function resultIn(answer: JsonObject, capability: string, origin: string): Json {
  const { data, status, result = null } = answer;
  if (data !== undefined) return data;
  if (status === "completed") return result;
  const why =
    status === "pending"
      ? "answers later, and this client waits for no such answer"
      : status === "failed"
        ? "reports that it failed"
        : 'has no "data" in its answer';
  throw new ClientError("answer_malformed", `${capability}: ${origin} ${why}`, origin);
}
