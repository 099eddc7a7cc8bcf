import type { ErrorRequestHandler, Request, RequestHandler } from "express";
import type { Authenticator } from "../../agent/caller.js";
import { createDelegations } from "../../agent/delegation/delegations.js";
import type { DelegationOptions } from "../../agent/delegation/options.js";
import { AUTHENTICATOR, assertParts, LOG } from "../../checks/kinds.js";
import { plainObject } from "../../checks/plain.js";
import { BODY_LIMITS, type BodyLimits } from "../../http/body.js";
import { RATE_LIMIT, type RateLimit, rateLimiter } from "../../http/callers.js";
import { fallback } from "../../http/fault.js";
import { DENIAL_HEADER } from "../../http/headers.js";
import type { ListenOptions } from "../../http/listen.js";
import { type AgentLog, failureLog } from "../../http/log.js";
import type { AgentMetrics } from "../../http/metrics.js";
import {
  front,
  type Mounted,
  type MountPoint,
  type ServeOptions,
  serve,
} from "../../http/serve.js";
import { answerFault, answerNotFound } from "./errors.js";
import { bearerIdentity } from "./identity.js";
import { routesOf } from "./routes.js";

/** Options for delegation over HTTP. */
export interface DelegationServerOptions extends DelegationOptions {
  readonly authenticator: Authenticator;
  readonly log: AgentLog;
  readonly metrics?: AgentMetrics | undefined;
  /** Prefix of all paths: empty, or with a slash before each segment; `/api/v1` unless given. */
  readonly prefix?: string;
  /** `false` to answer every request for delegation with 404; `true` unless given. */
  readonly enabled?: boolean;
  readonly body?: Partial<BodyLimits>;
  readonly rate?: RateLimit;
}

/** Options of a server that only serves delegation. */
export interface OwnDelegationServerOptions
  extends DelegationServerOptions,
    Partial<Pick<ServeOptions, "publicUrl" | "trustedProxies" | "grace" | "health">> {}

/** A running delegation server. */
export interface DelegationServer {
  /** The server's URL with the prefix, such as `http://127.0.0.1:PORT/api/v1`. */
  readonly url: string;
  /** Stops accepting requests, finishes the pending requests, and releases the port. */
  close(): Promise<void>;
}

/** Mounted delegation routes. */
export interface MountedDelegation extends Mounted {
  /** The app's URL with the prefix. */
  readonly delegationUrl: string;
}

const PREFIX = "/api/v1";
const PREFIX_FORM = /^(?:\/[A-Za-z0-9._~-]+)*$/;
const TYPES = ["application/json"];
const [TOKENS, INTROSPECTION] = ["/oauth2/token", "/token/introspect"];

/**
 * Serves delegation, with `/healthz` and `/readyz`.
 *
 * @throws TypeError naming the option that is wrong.
 * @throws Error if the port is in use.
 *
 * @example
 * ```ts
 * import { mkdtempSync } from "node:fs";
 * import { tmpdir } from "node:os";
 * import { join } from "node:path";
 * import { createIssuingAgent, createPolicyTable } from "proviso/agent";
 * import { createFixedTokens } from "proviso/auth";
 * import { serveDelegation } from "proviso/delegation";
 * import { createIssuer, createKeyring } from "proviso/issuer";
 * import { createStores, openLedger, openParties, openRevocations } from "proviso/stores";
 *
 * const database = await createStores(join(mkdtempSync(join(tmpdir(), "proviso-")), "proviso.db"));
 * const revocations = await openRevocations(database);
 * const ledger = openLedger(database);
 * const grants = [{ id: "agents", description: "Agents", operations: ["read", "write"] }];
 * const agent = await createIssuingAgent({
 *   issuer: createIssuer({ name: "agents-service", keys: createKeyring(), revocations, grants }),
 *   policy: createPolicyTable({ rules: [{ principal: "alice", grant: "agents", operations: "*" }] }),
 *   revocations,
 *   ledger,
 *   skills: [],
 *   operations: ["read", "write"].map((operation) => ({ operation, reach: "none" })),
 * });
 * const token = "a-development-token";
 * const server = await serveDelegation({
 *   agent,
 *   parties: openParties(database),
 *   revocations,
 *   ledger,
 *   agents: [{ id: "orchestrator" }, { id: "summarizer" }],
 *   authenticator: createFixedTokens(
 *     [{ token, principal: "alice", invoker: "orchestrator" }],
 *     { development: true, announce: () => {} },
 *   ),
 *   log: { info() {}, warn() {}, error() {} },
 * });
 * const caller = { principal: "alice", invoker: "orchestrator" };
 * await agent.request(caller, { grants: ["agents"], purpose: "a report" });
 *
 * const headers = { Authorization: `Bearer ${token}` };
 * const answer = await fetch(`${server.url}/token/introspect`, { headers });
 * const { agentId, scopes } = await answer.json();
 * agentId; // => "orchestrator"
 * scopes; // => ["agents"]
 *
 * await server.close();
 * await ledger.close();
 * await database.close();
 * ```
 */
export async function serveDelegation(
  options: OwnDelegationServerOptions,
  address: ListenOptions = {},
): Promise<DelegationServer> {
  const { publicUrl, trustedProxies, grace, health, ...own } = plainObject(options, "options");
  assertParts(own, { authenticator: AUTHENTICATOR, log: LOG });
  const onFailure = failureLog(own.log);
  const { mounted, close } = await serve(
    { publicUrl, trustedProxies, grace, health, answer: answerFault, onFailure },
    address,
    (place) => mountDelegation(own, place),
  );
  return { url: mounted.delegationUrl, close };
}

/**
 * Mounts the delegation routes on an app that may serve other protocols too.
 *
 * @throws TypeError naming the option that is wrong.
 */
export function mountDelegation(
  options: DelegationServerOptions,
  { app, url, isDraining }: MountPoint,
): MountedDelegation {
  const {
    authenticator,
    log,
    metrics,
    prefix = PREFIX,
    enabled = true,
    body,
    rate,
    ...rest
  } = options;
  assertParts({ authenticator, log }, { authenticator: AUTHENTICATOR, log: LOG });
  if (typeof prefix !== "string" || !PREFIX_FORM.test(prefix)) {
    throw new TypeError('prefix: must be empty, or begin with "/" and not end with it');
  }
  if (typeof enabled !== "boolean") throw new TypeError("enabled: must be a boolean");
  const delegations = createDelegations(rest);
  const mounted = { delegationUrl: `${url}${prefix}`, stop: async () => {} };
  const [tokens, introspection] = [`${prefix}${TOKENS}`, `${prefix}${INTROSPECTION}`];
  const addresses = [tokens, introspection];
  if (!enabled) {
    app.use(addresses, (_req, res) => {
      answerNotFound(res, "delegation_disabled", "delegation is switched off here");
    });
    return mounted;
  }
  const onFailure = failureLog(log);
  const identity = bearerIdentity(delegations, authenticator);
  app.use(
    addresses,
    noStore,
    ...front({
      binding: "delegation",
      log,
      metrics,
      denialHeader: DENIAL_HEADER,
      isDraining,
      methodOf: (req) => `${req.method} ${routeOf(req)}`,
      authenticator: identity,
      answer: answerFault,
      onFailure,
      types: TYPES,
      limited: rateLimiter(rate ?? RATE_LIMIT),
      body: { ...BODY_LIMITS, ...body },
    }),
  );
  const routes = routesOf(delegations, identity);
  app.post(`${tokens}/delegate`, routes.delegate);
  app.post(`${tokens}/verify-delegation`, routes.verify);
  app.delete(`${tokens}/delegate/:chainId`, routes.revoke);
  app.get(introspection, routes.introspect);
  const [, failed] = fallback(answerFault, onFailure);
  const last: (RequestHandler | ErrorRequestHandler)[] = [addressUnknown, failed];
  app.use(addresses, ...last);
  return mounted;
}

const addressUnknown: RequestHandler = (_req, res) => {
  answerNotFound(res, "address_unknown", "there is nothing at this address");
};

/** Forbids caching, since answers contain tokens. */
const noStore: RequestHandler = (_req, res, next) => {
  res.setHeader("Cache-Control", "no-store");
  next();
};

/** Returns the called route for the log, without the delegation's id or anything else that the caller chose. */
function routeOf({ originalUrl }: Request): string {
  const path = originalUrl.split("?")[0] ?? "";
  const known = ["/delegate", "/verify-delegation", INTROSPECTION].find((one) =>
    path.endsWith(one),
  );
  if (known !== undefined) return known;
  return path.includes("/delegate/") ? "/delegate/{chainId}" : "unknown";
}
