import { type AfterArgs, type BeforeArgs, type CallInterceptor, Client } from "@a2a-js/sdk/client";
import { described } from "../../../checks/kinds.js";
import { plainCopy } from "../../../checks/plain.js";
import { AMBIENT, AUTHORITY_HEADER, CAPABILITY_HEADER, EXTENSION_URI } from "../extension.js";
import { AgentCheck, type AgentCheckOptions } from "./agent-check.js";
import { cardOf } from "./destination.js";

const EXTENSIONS_HEADER = "A2A-Extensions";

/**
 * Adds capabilities to every call of an A2A client, and names the extension. A request that sends a message has
 * the capabilities in the metadata of the request; every other request has them in a header. Capabilities are
 * never in the message itself, because agents store messages with their task.
 */
class CapabilityInterceptor implements CallInterceptor {
  readonly #tokens: readonly string[];

  /**
   * @param token - One token, or several.
   * @throws TypeError if there is no token, or a token is not a string.
   */
  constructor(token: string | readonly string[]) {
    const tokens: unknown = typeof token === "string" ? [token] : token;
    if (!Array.isArray(tokens) || tokens.length === 0) {
      throw new TypeError(
        `token must be a capability's token, or an array of several, not ${described(token)}`,
      );
    }
    for (const [at, one] of tokens.entries()) {
      if (typeof one === "string" && one !== "") continue;
      throw new TypeError(`token[${at}] must be a capability's token, not ${described(one)}`);
    }
    this.#tokens = plainCopy(tokens, "token");
  }

  async before(args: BeforeArgs): Promise<void> {
    const capabilities = this.#tokens.map((token) => ({ token }));
    restOn(args, { capabilities }, { [CAPABILITY_HEADER]: this.#tokens.join(",") });
  }

  async after(_args: AfterArgs): Promise<void> {}
}

/**
 * Declares ambient authority with every call of an A2A client, and names the extension. Ambient authority is
 * what the policy allows the caller without a capability.
 */
class AmbientInterceptor implements CallInterceptor {
  async before(args: BeforeArgs): Promise<void> {
    restOn(args, AMBIENT, { [AUTHORITY_HEADER]: AMBIENT.authority });
  }

  async after(_args: AfterArgs): Promise<void> {}
}

/** Judges an agent's card before each call, and judges the agent's answers by that card. */
class CheckInterceptor implements CallInterceptor {
  readonly #check: AgentCheck;

  constructor(check: AgentCheck) {
    this.#check = check;
  }

  async before(_args: BeforeArgs): Promise<void> {
    await this.#check.before();
  }

  async after({ result }: AfterArgs): Promise<void> {
    if (result !== undefined) await this.#check.after(result);
  }
}

/** Requests one protocol version with every call, instead of the transport's own. */
class VersionInterceptor implements CallInterceptor {
  readonly #version: string;

  constructor(version: string) {
    this.#version = version;
  }

  async before(args: BeforeArgs): Promise<void> {
    const serviceParameters = { ...args.options?.serviceParameters, "A2A-Version": this.#version };
    args.options = { ...args.options, serviceParameters };
  }

  async after(_args: AfterArgs): Promise<void> {}
}

/**
 * Returns a client that requests the protocol version `version`. If the transport of `client` already requests
 * that version, returns `client` itself.
 */
export function speaking(client: Client, version: string): Client {
  if (version === client.transport.protocolVersion) return client;
  return intercepted(client, [], [new VersionInterceptor(version)]);
}

/** Adds the authority of a call: to the metadata of a message request, to a header of any other request. */
function restOn(args: BeforeArgs, entry: object, header: Record<string, string>): void {
  const { input } = args;
  const given = args.options?.serviceParameters ?? {};
  const extensions = (given[EXTENSIONS_HEADER] ?? "").split(",").filter((uri) => uri !== "");
  const known = [...new Set([...extensions, EXTENSION_URI])].join(",");
  const sends = input?.method === "sendMessage" || input?.method === "sendMessageStream";
  if (sends) {
    const { metadata } = input.value;
    // Keeps the existing entry, so that the agent sees and refuses a call with both capabilities and a
    // declaration.
    const merged = { ...metadata?.[EXTENSION_URI], ...entry };
    input.value.metadata = { ...metadata, [EXTENSION_URI]: merged };
  }
  const serviceParameters = { ...given, [EXTENSIONS_HEADER]: known, ...(sends ? {} : header) };
  args.options = { ...args.options, serviceParameters };
}

/**
 * Returns a client that presents capabilities with every call; the given client does not change. Before each
 * call, the returned client judges the agent by its card. If the card does not meet the requirements, the
 * client sends no token, and the call fails with an `AgentRefusedError`.
 *
 * @param token - One token or several. If there are several, the agent uses one that allows the call.
 * @param options - Requirements on the agent's card.
 * @throws TypeError if there is no token, a token is not a string, or an option is invalid.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
 * import { openTaskStore, serveAgent } from "proviso/a2a";
 * import { createAgentFetch, createCapabilityClient, withCapability } from "proviso/a2a/client";
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
 * const { capabilities } = await clock.request({ grants: ["clock:read"] });
 * const held = capabilities[0]?.token ?? "";
 * const { taskId } = await clock.invoke("tell_time", {}, held);
 *
 * const holder = await withCapability(client, held);
 * const task = await holder.getTask({ tenant: "", id: taskId });
 * task.artifacts.length; // => 1
 *
 * await server.close();
 * await tasks.close();
 * await ledger.close();
 * await database.close();
 * ```
 */
export async function withCapability(
  client: Client,
  token: string | readonly string[],
  options: AgentCheckOptions = {},
): Promise<Client> {
  const presenting = new CapabilityInterceptor(token);
  const check = new AgentCheck(client, options);
  const asking = speaking(client, check.version);
  return intercepted(asking, [new CheckInterceptor(check)], [presenting]);
}

/** Like {@link withCapability}, but does not judge the agent. */
export function presenting(client: Client, token: string | readonly string[]): Client {
  return intercepted(client, [], [new CapabilityInterceptor(token)]);
}

/**
 * Returns a client that declares ambient authority with every call; the given client does not change. Only
 * agents in the modes `advertise` and `prefer` accept ambient authority.
 */
export async function withAmbientAuthority(client: Client): Promise<Client> {
  return intercepted(client, [], [new AmbientInterceptor()]);
}

function intercepted(
  client: Client,
  first: readonly CallInterceptor[],
  last: readonly CallInterceptor[],
): Client {
  const card = cardOf(client);
  const interceptors = [...first, ...(client.config?.interceptors ?? []), ...last];
  return new Client(client.transport, card, { ...client.config, interceptors });
}
