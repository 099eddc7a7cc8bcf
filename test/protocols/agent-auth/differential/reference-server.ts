import { createServer, type Server } from "node:http";
import { agentAuth } from "@better-auth/agent-auth";
import { type BetterAuthPlugin, betterAuth } from "better-auth";
import { memoryAdapter } from "better-auth/adapters/memory";
import { toNodeHandler } from "better-auth/node";
import { isObject } from "../../../../src/bytes/json.js";
import { CAPABILITIES, DEFAULTS, runCapability } from "./bank.js";
import type { AgentAuthServer, Approver } from "./server.js";

const WELL_KNOWN = "/.well-known/agent-configuration";

const TABLES = ["user", "session", "account", "verification", "agent", "agentHost"].concat([
  "agentCapabilityGrant",
  "approvalRequest",
]);

/**
 * Starts the reference implementation on loopback: with its memory store, without rate limits, and with users who sign
 * up and approve through its own endpoints.
 */
export async function startReference(): Promise<AgentAuthServer> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${portOf(server)}`;
  const issuer = `${origin}/api/auth`;
  const rows: Record<string, Record<string, unknown>[]> = {};
  for (const table of TABLES) rows[table] = [];
  // The plugin reads this array again on each request, so that `offer` can change it.
  const offered = CAPABILITIES.map((capability) => ({ ...capability }));
  const plugin = agentAuth({
    providerName: "bank",
    providerDescription: "A small bank",
    capabilities: offered,
    allowDynamicHostRegistration: true,
    defaultHostCapabilities: [...DEFAULTS],
    maxAgentsPerUser: 0,
    freshSessionWindow: 0,
    resolveAutonomousUser: ({ hostId }) => ({
      id: `owner of ${hostId}`,
      name: "owner",
      email: "owner@example.com",
    }),
    onExecute: ({ capability, arguments: given }) => runCapability(capability, given ?? {}),
  });
  const auth = betterAuth({
    baseURL: issuer,
    secret: "for the differential test alone, on loopback",
    database: memoryAdapter(rows),
    emailAndPassword: { enabled: true },
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { disabled: true },
    // Throw an exception on a crash, instead of logging the crash to the console.
    onAPIError: { throw: true },
    // The two packages depend on different versions of better-call, whose types differ.
    plugins: [plugin as unknown as BetterAuthPlugin],
  });
  const handle = toNodeHandler(auth);
  server.on("request", (request, response) => {
    // By the documentation of the reference, the application must serve this document itself.
    if (request.url === WELL_KNOWN) request.url = "/api/auth/agent-configuration";
    handle(request, response).catch(() => response.writeHead(500).end());
  });
  return {
    name: "reference",
    origin,
    issuer,
    now: Date.now,
    alice: await signUp(origin, issuer, "alice"),
    bob: await signUp(origin, issuer, "bob"),
    async expire(agentId) {
      const agent = rows["agent"]?.find(({ id }) => id === agentId);
      if (agent === undefined) throw new TypeError("there is no such agent");
      agent["status"] = "expired";
      agent["expiresAt"] = new Date(Date.now() - 1_000);
    },
    async offer(name, again) {
      const at = offered.findIndex((capability) => capability.name === name);
      if (at >= 0) offered.splice(at, 1);
      const capability = CAPABILITIES.find((known) => known.name === name);
      if (again && capability !== undefined) offered.push({ ...capability });
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function signUp(origin: string, issuer: string, name: string): Promise<Approver> {
  const email = `${name}@example.com`;
  const post = (path: string, body: object, cookie = ""): Promise<Response> =>
    fetch(issuer + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", Origin: origin, Cookie: cookie },
      body: JSON.stringify(body),
    });
  const account = { name, email, password: "correct horse battery" };
  const signedUp = await answered(await post("/sign-up/email", account));
  const cookie = signedUp.headers.get("set-cookie")?.split(";")[0] ?? "";
  const decide = async (body: object): Promise<void> => {
    await answered(await post("/agent/approve-capability", body, cookie));
  };
  return {
    email,
    approve: ({ agentId, userCode }, capabilities) =>
      decide({ agent_id: agentId, user_code: userCode, action: "approve", capabilities }),
    deny: ({ agentId }) => decide({ agent_id: agentId, action: "deny" }),
    async enrolmentToken() {
      const created: unknown = await (
        await answered(await post("/host/create", { name: `${name}'s laptop` }, cookie))
      ).json();
      const token = isObject(created) ? created["enrollmentToken"] : undefined;
      if (typeof token !== "string") throw new TypeError("it gives no enrolment token");
      return token;
    },
  };
}

async function answered(response: Response): Promise<Response> {
  if (response.ok) return response;
  throw new Error(`the reference answers ${response.status}: ${await response.text()}`);
}

function portOf(server: Server): number {
  const address = server.address();
  if (typeof address !== "object" || address === null) throw new TypeError("it does not listen");
  return address.port;
}
