import type { Express } from "express";
import type { JsonObject } from "../../bytes/json.js";
import type { RateLimit } from "../../http/callers.js";
import type { MountPoint } from "../../http/serve.js";
import { type Catalogue, describeCapability, listCapabilities } from "./capabilities.js";
import { DISCOVERY_PATHS, SEARCH_PATH } from "./discovery.js";
import { fault } from "./errors.js";
import { type ExecutionContext, execute, executeBatch } from "./executing.js";
import { type Endpoint, type FrontContext, fronts } from "./front.js";
import {
  agentStatus,
  claim,
  type GrantingContext,
  reactivate,
  register,
  requestCapabilities,
} from "./granting.js";
import {
  enrollHost,
  introspect,
  revokeAgent,
  revokeCapabilities,
  revokeHost,
  rotateAgentKey,
  rotateHostKey,
} from "./managing.js";
import type { Allowed } from "./party.js";
import { directoryAnswer, type Listed } from "./search.js";
import { sendFault } from "./send-fault.js";

export interface RoutesContext
  extends FrontContext,
    Catalogue,
    ExecutionContext,
    Omit<GrantingContext, "parties"> {
  readonly document: JsonObject;
  /** Rate limit of one IP address for introspection. */
  readonly introspection: RateLimit;
  /** This server's entry in its own directory. */
  readonly listed: Listed;
}

export function mountRoutes(context: RoutesContext, { app, isDraining }: MountPoint): void {
  const { parties, document } = context;
  const front = fronts(context, isDraining);
  const mount = <By extends Allowed>(
    method: "get" | "post",
    path: string,
    endpoint: Endpoint<By>,
  ): void => {
    app[method](path, ...front(endpoint));
    refuseOthers(app, path, method, context.url);
  };
  const get = <By extends Allowed>(path: string, endpoint: Endpoint<By>): void =>
    mount("get", path, endpoint);
  const post = <By extends Allowed>(path: string, endpoint: Endpoint<By>): void =>
    mount("post", path, endpoint);

  for (const path of DISCOVERY_PATHS) {
    get(path, {
      allowed: "any",
      answer: async () => ({ ok: true, body: document, cacheControl: "public, max-age=300" }),
    });
  }
  get(SEARCH_PATH, {
    allowed: "any",
    answer: async ({ query }) => directoryAnswer(query, context.listed),
  });

  get("/capability/list", {
    allowed: "optional",
    answer: ({ query, party }) => listCapabilities(query, party, context),
  });
  get("/capability/describe", {
    allowed: "optional",
    answer: ({ query, party }) => describeCapability(query["name"], party, context),
  });
  post("/capability/execute", {
    allowed: "executing",
    kind: "invocation",
    takesToken: true,
    answer: ({ body, token, party, gone }) => execute(body, token, party, gone, context),
  });
  post("/capability/batch-execute", {
    allowed: "executing",
    kind: "invocation",
    answer: ({ body, party, gone }) => executeBatch(body, party, gone, context),
  });

  post("/agent/register", {
    allowed: "new-host",
    answer: (call) => register(call, context),
  });
  post("/agent/request-capability", {
    allowed: "agent",
    manages: true,
    answer: ({ body, party, idempotencyKey }) =>
      requestCapabilities(body, party, idempotencyKey, context),
  });
  get("/agent/status", {
    allowed: "host-or-agent",
    answer: ({ query, party }) => agentStatus(query["agent_id"], party, context),
  });
  post("/agent/reactivate", {
    allowed: "host-of-agent",
    answer: ({ body, party }) => reactivate(body, party, context),
  });
  post("/agent/claim", {
    allowed: "host-or-agent",
    manages: true,
    answer: ({ body, party }) => claim(body, party, context),
  });
  post("/agent/introspect", {
    allowed: "any",
    rate: context.introspection,
    answer: ({ body }) => introspect(body, context),
  });
  post("/agent/revoke", {
    allowed: "host-or-agent",
    manages: true,
    answer: ({ body, party }) => revokeAgent(body, party, parties),
  });
  post("/agent/revoke-capability", {
    allowed: "host-or-agent",
    manages: true,
    answer: ({ body, party }) => revokeCapabilities(body, party, parties),
  });
  post("/agent/rotate-key", {
    allowed: "host-or-agent",
    manages: true,
    answer: ({ body, party }) => rotateAgentKey(body, party, context),
  });

  post("/host/enroll", {
    allowed: "any",
    answer: ({ body }) => enrollHost(body, context),
  });
  post("/host/revoke", {
    allowed: "host-itself",
    answer: ({ body, party }) => revokeHost(body, party, parties),
  });
  post("/host/rotate-key", {
    allowed: "host-itself",
    answer: ({ body, party }) => rotateHostKey(body, party, context),
  });
}

function refuseOthers(app: Express, path: string, method: "get" | "post", url: string): void {
  const allowed = method === "get" ? "GET, HEAD" : "POST";
  app.all(path, (_req, res) => {
    res.setHeader("Allow", allowed);
    sendFault(res, fault("method_not_allowed", `this address takes ${allowed} alone`), url);
  });
}
