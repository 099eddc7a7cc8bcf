import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createJwtAuthenticator } from "../../../src/auth/index.js";
import { createCapabilityClient, withCapability } from "../../../src/protocols/a2a/client/index.js";
import { ERROR_CODES, ERROR_DOMAIN } from "../../../src/protocols/a2a/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from "../../support/authorization-server.js";
import {
  type Answer,
  at,
  callOf,
  failureOf,
  quietConsole,
  request,
  resultOf,
  SOME_BINDINGS,
  sdkClient,
  send,
  taskIn,
} from "./callers.js";

const HERE = "https://documents.example/";
const ELSEWHERE = "https://calendar.example/";

let login: AuthorizationServer;
let agent: TestAgent;

beforeAll(async () => {
  quietConsole();
  login = await startAuthorizationServer({
    users: ["alice", "bob"],
    clients: ["orchestrator", "calendar"],
    resource: [HERE, ELSEWHERE],
  });
  agent = await startAgent({ authenticator: await authenticator(login) });
});

afterAll(async () => {
  await agent.remove();
  await login.close();
});

function authenticator({ issuer, jwksUri }: AuthorizationServer) {
  return createJwtAuthenticator({
    issuer,
    audience: HERE,
    jwks: jwksUri,
    requiredScope: "agent",
    jwksCooldown: 0,
    clockTolerance: 0,
  });
}

/** Makes a call over each binding, with or without an `Authorization` header. */
function calls({ server }: TestAgent, authorization?: string): Promise<readonly [Answer, Answer]> {
  const headers = {
    ...(authorization === undefined ? {} : { Authorization: authorization }),
    "Content-Type": "application/json",
    "A2A-Version": "1.0",
  };
  const rpc = { jsonrpc: "2.0", id: 7, method: "ListTasks", params: {} };
  return Promise.all([
    send(server.rpcUrl, { method: "POST", headers, body: JSON.stringify(rpc) }),
    send(`${server.restUrl}/tasks`, { headers }),
  ]);
}

function expectUnauthenticated([rpc, rest]: readonly [Answer, Answer], reason: string): void {
  for (const { status, headers } of [rpc, rest]) {
    expect(status).toBe(401);
    expect(headers.get("www-authenticate")).toMatch(
      /^Bearer realm="https:\/\/documents.example\/"/,
    );
    expect(headers.get("www-authenticate")).toContain('scope="agent"');
    expect(headers.get("www-authenticate")?.includes("invalid_token")).toBe(
      reason === "token_invalid",
    );
  }
  const info = { reason, domain: ERROR_DOMAIN };
  expect(rpc.body).toMatchObject({
    jsonrpc: "2.0",
    id: null,
    error: { code: ERROR_CODES.unauthenticated, data: [info] },
  });
  expect(rest.body).toMatchObject({
    error: { code: 401, status: "UNAUTHENTICATED", details: [info] },
  });
}

test.each(SOME_BINDINGS)(
  "a call's principal and invoker are the user and the client of its access token (over %s)",
  async (binding) => {
    const { url } = agent.server;
    const alice = await sdkClient(url, binding, await login.tokenFor("alice", "orchestrator"));
    const granted = await request(alice, { grants: ["work:do"], purpose: "sign-in" });
    expect(granted.principal).toBe("alice");
    const [issued] = await agent.ledger.list({ capability: granted.id });
    expect(issued).toMatchObject({
      principal: "alice",
      invoker: "orchestrator",
      purpose: "sign-in",
    });

    // The capability's id works only for alice through the orchestrator, but its token works for any holder.
    const call = callOf("wait", { milliseconds: 0 });
    for (const [user, client] of [
      ["alice", "calendar"],
      ["bob", "orchestrator"],
    ] as const) {
      const other = await sdkClient(url, binding, await login.tokenFor(user, client));
      const byId = {
        ...call,
        metadata: { "urn:proviso:a2a:capabilities:1": { capabilities: [granted.id] } },
      };
      const extension = {
        serviceParameters: { "A2A-Extensions": "urn:proviso:a2a:capabilities:1" },
      };
      await expect(other.sendMessage(byId, extension)).rejects.toThrow("capability_unknown");
      const own = taskIn(await alice.sendMessage(byId, extension));
      expect(resultOf(own)).toEqual({ waited: 0 });
      const holder = await withCapability(other, granted.token);
      expect(resultOf(taskIn(await holder.sendMessage(call)))).toEqual({ waited: 0 });
      const [last] = (
        await agent.ledger.list({ capability: granted.id, kind: "invocation" })
      ).slice(-1);
      expect(last).toMatchObject({ principal: user, invoker: client, decision: "allowed" });
    }
  },
);

test("an agent with its own client credentials is its own principal, and gets no capability without a policy rule", async () => {
  const token = await login.clientToken("calendar");
  const client = await sdkClient(agent.server.url, "JSON-RPC", token);
  const error = await failureOf(createCapabilityClient(client).request({ grants: ["work:do"] }));
  expect(error).toMatchObject({ envelopeCode: ERROR_CODES.requestRefused });
});

test("a call without an access token, or with a scheme other than Bearer, gets 401 token_missing", async () => {
  expectUnauthenticated(await calls(agent), "token_missing");
  expectUnauthenticated(await calls(agent, "Basic YWxpY2U6c2VjcmV0"), "token_missing");
});

test("an access token for another audience, an ID token, and a forged or malformed token get 401 token_invalid", async () => {
  const elsewhere = await login.tokenFor("alice", "orchestrator", { resource: ELSEWHERE });
  const idToken = await login.idTokenFor("alice", "orchestrator");
  const good = await login.tokenFor("alice", "orchestrator");
  const forged = `${good.slice(0, -8)}AAAAAAAA`;
  for (const token of [elsewhere, idToken, forged, "abc", `${good},${good}`]) {
    expectUnauthenticated(await calls(agent, `Bearer ${token}`), "token_invalid");
  }
});

test("the SDK's client gets the reason why its access token was refused", async () => {
  const elsewhere = await login.tokenFor("alice", "orchestrator", { resource: ELSEWHERE });
  for (const binding of SOME_BINDINGS) {
    const client = await sdkClient(agent.server.url, binding, elsewhere);
    const error = await failureOf(createCapabilityClient(client).request({ grants: ["work:do"] }));
    expect(String(error)).toMatch(/audience|aud/);
  }
});

test("an access token is refused once it has expired", { timeout: 30_000 }, async () => {
  const hasty = await startAuthorizationServer({
    users: ["alice"],
    clients: ["orchestrator"],
    resource: HERE,
    lifetime: 2,
  });
  const own = await startAgent({ authenticator: await authenticator(hasty) });
  try {
    let token = "";
    // Repeated, since a pause of this process can outlast the token.
    await expect
      .poll(async () => {
        token = await hasty.tokenFor("alice", "orchestrator");
        const [before] = await calls(own, `Bearer ${token}`);
        return at(before.body, "error", "code");
      })
      .toBe(ERROR_CODES.denied);
    await pause(2200);
    expectUnauthenticated(await calls(own, `Bearer ${token}`), "token_invalid");
  } finally {
    await own.remove();
    await hasty.close();
  }
});

test("access tokens are checked with the authorization server's current keys, and a call gets 503 if a new key cannot be fetched", async () => {
  const changing = await startAuthorizationServer({
    users: ["alice"],
    clients: ["orchestrator"],
    resource: HERE,
  });
  const own = await startAgent({ authenticator: await authenticator(changing) });
  try {
    const old = await changing.tokenFor("alice", "orchestrator");
    expect((await calls(own, `Bearer ${old}`))[1].status).toBe(403);
    const unused = await changing.tokenFor("alice", "orchestrator");
    await changing.rotateKeys();
    const fresh = await changing.tokenFor("alice", "orchestrator");
    expect((await calls(own, `Bearer ${fresh}`))[1].status).toBe(403);
    expectUnauthenticated(await calls(own, `Bearer ${unused}`), "token_invalid");

    // Without the authorization server, the agent can neither accept nor reject a token that a new key signed.
    await changing.rotateKeys();
    const newest = await changing.tokenFor("alice", "orchestrator");
    await changing.close();
    const [rpc, rest] = await calls(own, `Bearer ${newest}`);
    const info = { reason: "unavailable", domain: ERROR_DOMAIN };
    expect(rpc).toMatchObject({
      status: 503,
      body: { id: null, error: { code: ERROR_CODES.unavailable, data: [info] } },
    });
    expect(rest).toMatchObject({
      status: 503,
      body: { error: { code: 503, status: "UNAVAILABLE", details: [info] } },
    });
    for (const { headers } of [rpc, rest]) expect(headers.get("retry-after")).toBe("5");
    expect(own.logged()).toContain("authentication");
  } finally {
    await own.remove();
    await changing.close();
  }
});

test("an agent that cannot fetch the authorization server's keys answers calls with 503, and still serves its card", async () => {
  const late = await startAuthorizationServer({
    users: ["alice"],
    clients: ["orchestrator"],
    resource: HERE,
  });
  const token = await late.tokenFor("alice", "orchestrator");
  const own = await startAgent({ authenticator: await authenticator(late) });
  try {
    await late.close();
    const [rpc, rest] = await calls(own, `Bearer ${token}`);
    expect([rpc.status, rest.status]).toEqual([503, 503]);
    // The card and the health endpoint need no authentication.
    expect((await send(own.server.cardUrl)).status).toBe(200);
    expect((await send(`${own.server.url}/healthz`)).status).toBe(200);
  } finally {
    await own.remove();
  }
});
