import { A2AError, isJsonRpcError, isRestError } from "@a2a-js/sdk/errors";
import { denialsIn, type ReceivedDenial } from "../../../client/refusal.js";
import { DENIAL_HEADER, ERROR_DOMAIN } from "../extension.js";

/** A refusal in a response. */
export interface ClientRefusal {
  /** The code of the first reason. */
  readonly code: string;
  readonly message: string;
  /**
   * Every reason. Over HTTP+JSON, the SDK's client keeps the message of the first reason only; the other
   * reasons have their code as message.
   */
  readonly denials: readonly ReceivedDenial[];
}

/**
 * Returns the refusal in an error thrown by the SDK's client; `undefined` if the error is not a refusal.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { ClientFactory, JsonRpcTransportFactory } from "@a2a-js/sdk/client";
 * import { openTaskStore, serveAgent } from "proviso/a2a";
 * import { createAgentFetch, createCapabilityClient, refusalOf } from "proviso/a2a/client";
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
 * let code;
 * await clock.invoke("tell_time", {}).catch((error) => {
 *   code = refusalOf(error)?.code;
 * });
 * code; // => "capability_missing"
 *
 * await server.close();
 * await tasks.close();
 * await ledger.close();
 * await database.close();
 * ```
 */
export function refusalOf(error: unknown): ClientRefusal | undefined {
  if (!(error instanceof A2AError)) return undefined;
  const { message } = error;
  if (isJsonRpcError(error)) {
    const denials = denialsIn(error.data, ERROR_DOMAIN);
    const [first] = denials;
    return first === undefined ? undefined : { code: first.code, message, denials };
  }
  if (!isRestError(error)) return undefined;
  const name = Object.keys(error.headers ?? {}).find(
    (header) => header.toLowerCase() === DENIAL_HEADER.toLowerCase(),
  );
  const value = name === undefined ? undefined : error.headers?.[name];
  const codes = [value ?? []]
    .flat()
    .join(",")
    .split(",")
    .filter((code) => code !== "");
  const [code] = codes;
  if (code === undefined) return undefined;
  const denials = codes.map((one, at) => ({ code: one, message: at === 0 ? message : one }));
  return { code, message, denials };
}
