import { Role, type SendMessageResult, type Task, TaskState } from "@a2a-js/sdk";
import type { Client } from "@a2a-js/sdk/client";
import type { GrantedCapability } from "../../../agent/issuance.js";
import type { Introspection } from "../../../agent/maintenance.js";
import type { RefusedGrant } from "../../../agent/refusal.js";
import type { ResourceQuery } from "../../../agent/resources/resource.js";
import { isJsonObject, type Json, type JsonObject } from "../../../bytes/json.js";
import type { Requested } from "../../../caveats/hop-rules.js";
import { plainArguments } from "../../../caveats/invocation.js";
import { assertOptionalString, assertString } from "../../../checks/kinds.js";
import { knownMembers } from "../../../checks/members.js";
import { plainCopy, plainObject } from "../../../checks/plain.js";
import { pause } from "../../../client/pause.js";
import type { AuthorityMarks } from "../authority-marks.js";
import type { PendingAnswer } from "../capability-methods.js";
import { EXTENSION_URI, METHODS } from "../extension.js";
import { dataPart, newMessage } from "../parts.js";
import { AgentCheck, type AgentCheckOptions } from "./agent-check.js";
import { presenting, speaking } from "./interceptor.js";

/** A request for capabilities, which an issuing agent answers. */
export interface CapabilityQuery extends Requested {
  readonly grants: readonly string[];
  readonly resourceQuery?: ResourceQuery;
  /**
   * Identifies the request among all requests of the party. If a party sends a request again with the same id,
   * the agent returns the same approval instead of opening a second one. Random unless given.
   */
  readonly requestId?: string;
}

/** Capabilities granted by an issuing agent. */
export interface GrantedCapabilities {
  readonly capabilities: readonly GrantedCapability[];
  /** Grants for which the agent issued no capability. */
  readonly refused?: readonly RefusedGrant[];
  /** The reason why there are no capabilities. */
  readonly reason?: string;
  /** The approval that further grants wait for; {@link CapabilityClient.collect} returns their capabilities. */
  readonly pending?: PendingAnswer;
}

/** Options of {@link CapabilityClient.waitFor}. */
export interface WaitOptions {
  /** Seconds between two `collect` calls; the agent's interval unless given. */
  readonly interval?: number;
  readonly signal?: AbortSignal;
}

/** A skill's answer. */
export interface SkillAnswer {
  readonly result: Json;
  /** The authority of the call, as stated by the agent. */
  readonly authority?: AuthorityMarks;
  readonly taskId: string;
}

/** The extension's methods as functions. Made by {@link createCapabilityClient}. */
export class CapabilityClient {
  readonly #client: Client;
  readonly #check: AgentCheck;

  /** @param client - An SDK client that authenticates its requests. */
  constructor(client: Client, options: AgentCheckOptions = {}) {
    this.#check = new AgentCheck(client, options);
    this.#client = speaking(client, this.#check.version);
  }

  /**
   * Requests capabilities.
   *
   * @throws A2AError if the agent refuses the request. The error's `reason` is the denial code, and its
   *   metadata has the denial as JSON in `problem`.
   * @throws TypeError naming the part of the query that is not plain JSON.
   */
  async request(query: CapabilityQuery): Promise<GrantedCapabilities> {
    const own = plainObject(plainCopy(query, "query", "arguments"), "query");
    // The answer is not validated: a wrong answer grants nothing, because the agent checks the token at every
    // call.
    return (await this.#method(METHODS.request, own)) as unknown as GrantedCapabilities;
  }

  /**
   * Collects the capabilities of an approval. Only the party that made the request can collect them, and every
   * call returns the same capabilities.
   *
   * @param approvalId - The property `approvalId` of `pending`.
   * @returns The capabilities. Until people have decided, `pending` and no capabilities.
   * @throws A2AError with one of these reasons: `approval_denied` if an approver denied the request, nobody decided
   *   in time, or the approval was cancelled or became void; `approval_unknown` if the party has no such approval;
   *   `nothing_left` if no approved grant can still be granted.
   */
  async collect(approvalId: string): Promise<GrantedCapabilities> {
    assertString(approvalId, "approvalId");
    return (await this.#method(METHODS.collect, { approvalId })) as unknown as GrantedCapabilities;
  }

  /**
   * Waits until people have decided, and collects the result.
   *
   * @throws A2AError as {@link CapabilityClient.collect} does.
   * @throws The abort reason of `signal`, once it is aborted.
   * @throws TypeError if the interval is not a positive number.
   */
  async waitFor(
    pending: Pick<PendingAnswer, "approvalId" | "interval">,
    options: WaitOptions = {},
  ): Promise<GrantedCapabilities> {
    const { approvalId, interval: usual } = plainObject(pending, "pending");
    const { interval = usual, signal } = knownMembers(options, ["interval", "signal"], "options");
    const milliseconds = Math.min(interval, LONGEST_INTERVAL) * 1000;
    if (!(milliseconds > 0)) throw new TypeError("interval: must be a positive number of seconds");
    for (;;) {
      signal?.throwIfAborted();
      const answer = await this.collect(approvalId);
      if (answer.pending === undefined) return answer;
      await pause(milliseconds, signal);
    }
  }

  /**
   * Revokes a token and all tokens narrowed from it.
   *
   * @throws A2AError if the agent refuses.
   */
  async revoke(token: string, reason?: string): Promise<JsonObject> {
    assertString(token, "token");
    assertOptionalString(reason, "reason");
    return this.#method(METHODS.revoke, { token, reason });
  }

  /**
   * Returns what a token allows at present.
   *
   * @throws A2AError if the agent refuses.
   */
  async introspect(token: string): Promise<Introspection> {
    assertString(token, "token");
    return (await this.#method(METHODS.introspect, { token })) as unknown as Introspection;
  }

  /**
   * Calls a skill.
   *
   * @param token - One token or several. Without a token, the call uses ambient authority, which only some
   *   agents accept. A client made by `withAmbientAuthority` declares ambient authority.
   * @throws A2AError if the agent refuses the call.
   * @throws AgentRefusedError if the agent's card does not meet the requirements. The call is then not sent.
   * @throws UndeclaredBehaviourError if the agent does something that its card does not declare.
   * @throws Error if the skill failed, or rejected its arguments.
   * @throws TypeError if an argument of this call has the wrong type, or the skill's arguments are not plain
   *   JSON.
   */
  async invoke(
    skill: string,
    given: JsonObject,
    token?: string | readonly string[],
  ): Promise<SkillAnswer> {
    assertString(skill, "skill");
    const own = plainArguments(given, "given");
    const client = token === undefined ? this.#client : presenting(this.#client, token);
    const answer = await this.#send(client, { skill, arguments: own });
    if ("messageId" in answer)
      throw new Error("the agent answered with a message, not with a task");
    const { id: taskId, artifacts, metadata } = answer;
    const [part] = artifacts.at(-1)?.parts ?? [];
    if (part?.content?.$case !== "data") throw new Error(failureIn(answer));
    const authority: AuthorityMarks | undefined = metadata?.[EXTENSION_URI];
    const result: Json = part.content.value ?? null;
    return { result, taskId, authority };
  }

  async #method(method: string, params: object): Promise<JsonObject> {
    const answer = await this.#send(this.#client, { method, params });
    // A request that waits for an approval is answered with a task.
    const { parts: [part] = [] } = "messageId" in answer ? answer : (answer.status?.message ?? {});
    const data: Json = part?.content?.$case === "data" ? (part.content.value ?? null) : null;
    if (!isJsonObject(data)) throw new Error(`the agent's answer to ${method} is no object`);
    return data;
  }

  /** Sends a message if the agent's card meets the requirements, and checks the answer by the same card. */
  async #send(client: Client, data: object): Promise<SendMessageResult> {
    await this.#check.before();
    const answer = await client.sendMessage(messageWith(data), withExtension);
    await this.#check.after({ method: "sendMessage", value: answer });
    return answer;
  }
}

/**
 * Creates a client for an issuing agent, to request, use and revoke capabilities. To narrow a capability, use
 * `attenuate` of `proviso`, which needs no agent. The created client works with every binding of the SDK's
 * client.
 *
 * Before each call, the client judges the agent by its card. Unless `options` requires more, the card must be
 * well-formed, must not contradict itself, and must offer the client's binding and version.
 *
 * @throws TypeError if an option is invalid.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
 * import { openTaskStore, serveAgent } from "proviso/a2a";
 * import { createAgentFetch, createCapabilityClient } from "proviso/a2a/client";
 * import { createIssuingAgent, createPolicyTable } from "proviso/agent";
 * import { createFixedTokens } from "proviso/auth";
 * import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
 * import { createStores, openLedger } from "proviso/stores";
 *
 * const folder = mkdtempSync(join(tmpdir(), "proviso-"));
 * const revocations = createRevocationList();
 * const database = await createStores(join(folder, "proviso.db"));
 * const ledger = openLedger(database);
 * const tasks = await openTaskStore(database);
 * const agent = await createIssuingAgent({
 *   issuer: createIssuer({
 *     name: "clock-agent",
 *     keys: createKeyring(),
 *     revocations,
 *     grants: [{ id: "clock:read", description: "Tell the time", operations: ["tell"] }],
 *   }),
 *   revocations,
 *   ledger,
 *   policy: createPolicyTable({
 *     rules: [{ principal: "alice", grant: "clock:read", operations: "*" }],
 *   }),
 *   skills: [
 *     {
 *       id: "tell_time",
 *       name: "Tell the time",
 *       description: "The year of the agent's clock",
 *       operation: "tell",
 *       reach: "none",
 *       input: { type: "object", additionalProperties: false },
 *       run: async () => ({ year: 2026 }),
 *     },
 *   ],
 * });
 * const token = "a-development-token";
 * const authenticator = createFixedTokens(
 *   [{ token, principal: "alice", invoker: "assistant" }],
 *   { development: true, announce: () => {} },
 * );
 * const log = { info() {}, warn() {}, error() {} };
 * const card = { name: "Clock", description: "Tells the time", version: "1.0.0" };
 * const server = await serveAgent({ agent, authenticator, card, tasks, log });
 * const fetchImpl = createAgentFetch({ accessToken: token });
 * const transports = [new JsonRpcTransportFactory({ fetchImpl })];
 * const client = await new ClientFactory({ transports }).createFromUrl(server.url);
 *
 * const clock = createCapabilityClient(client);
 * const { capabilities } = await clock.request({ grants: ["clock:read"], purpose: "set a watch" });
 * const held = capabilities[0]?.token ?? "";
 * (await clock.invoke("tell_time", {}, held)).result; // => { year: 2026 }
 * (await clock.revoke(held)).revoked; // => true
 * (await clock.introspect(held)).active; // => false
 *
 * await server.close();
 * await tasks.close();
 * await ledger.close();
 * await database.close();
 * ```
 */
export function createCapabilityClient(
  client: Client,
  options: AgentCheckOptions = {},
): CapabilityClient {
  return new CapabilityClient(client, options);
}

/** Longest pause between two `collect` calls, in seconds, even if the agent asks for a longer pause. */
const LONGEST_INTERVAL = 300;

const withExtension = { serviceParameters: { "A2A-Extensions": EXTENSION_URI } };

function failureIn({ status }: Task): string {
  const [part] = status?.message?.parts ?? [];
  const text = part?.content?.$case === "text" ? part.content.value : "it has no result";
  const rejected = status?.state === TaskState.TASK_STATE_REJECTED;
  return `the skill ${rejected ? "rejects the call" : "failed"}: ${text}`;
}

function messageWith(data: object): Parameters<Client["sendMessage"]>[0] {
  const parts = [dataPart(data)];
  const message = newMessage({ role: Role.ROLE_USER, parts, extensions: [EXTENSION_URI] });
  return { tenant: "", message, configuration: undefined, metadata: undefined };
}
