import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { revocationId } from "../../src/index.js";
import { EXTENSION_URI } from "../../src/protocols/a2a/index.js";
import { createAgentAuthClient, generateKey } from "../../src/protocols/agent-auth/client/index.js";
import { Visitor } from "../console/visitor.js";
import { send } from "../protocols/a2a/callers.js";
import { postgresIsMissing, postgresPlace } from "../support/databases.js";
import { Bench } from "./run.js";
import { CONFIG, eventually, type Serving, serve, TOKENS, WAIT, writeAgent } from "./serving.js";

// The answers of an agent while its PostgreSQL server refuses writes or connections. The server process keeps
// running, so no broken connection reveals the failure.

/**
 * Runs statements in another session of the database's owner. `$name` in a statement becomes the name of the
 * database.
 */
async function administer(address: string, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: address });
  await client.connect();
  const name = new URL(address).pathname.slice(1);
  for (const one of statements) await client.query(one.replaceAll("$name", name));
  await client.end();
}

/** Ends the other sessions, and waits up to 20 seconds for their end. */
const END_OTHERS = `SELECT pg_terminate_backend(pid, 20000) FROM pg_stat_activity
  WHERE datname = current_database() AND pid <> pg_backend_pid()`;

async function served(place: string): Promise<Serving> {
  const bench = new Bench();
  const env = { PROVISO_DATABASE: place };
  const made = await bench.run(["init", "--issuer", "documents-agent"], { env });
  expect(made.status, made.stderr).toBe(0);
  writeAgent(bench);
  const protocols = ["a2a", "agent-auth", "approvals", "delegation"];
  const delegation = { allowEqual: true, agents: [{ id: "assistant" }, { id: "worker" }] };
  const serving = await serve(bench, { ...CONFIG, protocols, delegation }, ["--database", place]);
  onTestFinished(() => serving.running.stop());
  return serving;
}

/** The parts of an answer that a load balancer uses. */
const seen = ({ status, headers }: { readonly status: number; readonly headers: Headers }) =>
  `${status} after ${headers.get("Retry-After")}`;

/** Returns the answers of the protocols to requests that must write. */
async function writes({ url, rpc }: Serving, token: string): Promise<readonly string[]> {
  const bearer = { Authorization: `Bearer ${TOKENS.alice}`, "Content-Type": "application/json" };
  const headers = { ...bearer, "A2A-Version": "1.0", "A2A-Extensions": EXTENSION_URI };
  const message = {
    messageId: crypto.randomUUID(),
    role: "ROLE_USER",
    parts: [{ data: { skill: "wait", arguments: { ms: 1 } } }],
  };
  const registered = async (): Promise<string> => {
    let last = "none";
    const client = await createAgentAuthClient({
      provider: url,
      insecure: true,
      hostKey: await generateKey(),
      fetch: async (...asked) => {
        const response = await fetch(...asked);
        last = seen(response);
        return response;
      },
    });
    await client.register({ name: "agent", mode: "autonomous" }).catch(() => {});
    return last;
  };
  const params = { message, metadata: { [EXTENSION_URI]: { capabilities: [{ token }] } } };
  const again = { ...params, message: { ...message, messageId: crypto.randomUUID() } };
  const call = (method: string, given: object): RequestInit => ({
    method: "POST",
    headers,
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params: given }),
  });
  const rest = await send(`${url}/a2a/rest/message:send`, {
    method: "POST",
    headers,
    body: JSON.stringify(again),
  });
  const delegated = await send(`${url}/api/v1/oauth2/token/delegate`, {
    method: "POST",
    headers: { ...bearer, Authorization: `Bearer ${token}` },
    body: JSON.stringify({ delegateeAgentId: "worker", scopes: ["notes:wait"], ttlSeconds: 600 }),
  });
  return [
    `request ${seen(await rpc("a2a/capabilities/request", WAIT))}`,
    `message ${seen(await send(`${url}/a2a/jsonrpc`, call("SendMessage", params)))}`,
    `message by HTTP ${seen(rest)}`,
    `register ${await registered()}`,
    `delegate ${seen(delegated)}`,
    `revoke ${seen(await rpc("a2a/capabilities/revoke", { token }))}`,
  ];
}

const AGAIN = "503 after 5";

test.skipIf(postgresIsMissing)(
  "an agent answers writes with 503 while its database is read-only, as after a failover, and then recovers",
  async () => {
    const place = await postgresPlace();
    const serving = await served(place);
    const { url, rpc, running } = serving;
    const ready = () => send(`${url}/readyz`);
    const token = await serving.capability(WAIT);
    const before = await writes(serving, token);
    expect(before).toEqual([
      "request 200 after null",
      "message 200 after null",
      "message by HTTP 200 after null",
      "register 200 after null",
      "delegate 201 after null",
      "revoke 200 after null",
    ]);
    const next = await serving.capability(WAIT);

    await administer(
      place,
      "ALTER DATABASE $name SET default_transaction_read_only = on",
      END_OTHERS,
    );
    onTestFinished(() =>
      administer(
        place,
        "SET default_transaction_read_only = off",
        "ALTER DATABASE $name RESET ALL",
      ),
    );
    await eventually(async () => (await ready()).status === 503);
    expect((await ready()).body).toEqual({ status: "failing", problems: ["store_read_only"] });
    expect((await send(`${url}/healthz`)).body).toEqual({ status: "ok" });
    expect(await writes(serving, next)).toEqual(
      before.map((line) => line.replace(/20[01] after null/, AGAIN)),
    );
    const refused = await rpc("a2a/capabilities/request", WAIT);
    expect(refused.body).toMatchObject({
      error: {
        code: -31503,
        message: expect.stringContaining("try again soon"),
        data: [{ reason: "unavailable" }],
      },
    });
    expect(refused.text).not.toContain(new URL(place).pathname.slice(1));
    expect(running.stderr).toContain("the database takes no writes now, as a standby does");

    await administer(
      place,
      "SET default_transaction_read_only = off",
      "ALTER DATABASE $name RESET ALL",
      END_OTHERS,
    );
    await eventually(async () => (await ready()).status === 200);
    const after = await serving.capability(WAIT);
    expect(revocationId(after)).toMatch(/^rv_/);
  },
);

test.skipIf(postgresIsMissing)(
  "an agent answers requests with 503 while its database accepts no connections, and then recovers",
  async () => {
    const place = await postgresPlace();
    const role = `proviso_test_${crypto.randomUUID().slice(0, 8)}`;
    await administer(place, `CREATE ROLE ${role} LOGIN`, `GRANT ALL ON SCHEMA public TO ${role}`);
    onTestFinished(() =>
      administer(place, END_OTHERS, `DROP OWNED BY ${role}`, `DROP ROLE ${role}`),
    );
    const address = new URL(place);
    address.username = role;
    const serving = await served(address.href);
    const { url, rpc, running } = serving;
    const token = await serving.capability(WAIT);
    const alice = new Visitor(`${url}/approvals`);
    await alice.post("/login", { token: TOKENS.alice, to: "/" }, "/");

    await administer(place, `ALTER ROLE ${role} CONNECTION LIMIT 0`, END_OTHERS);
    const asked = await rpc("a2a/capabilities/request", WAIT);
    expect(seen(asked)).toBe(AGAIN);
    expect(
      seen(await rpc("a2a/capabilities/introspect", { capabilityId: "cap_0123456789abcdef" })),
    ).toBe(AGAIN);
    expect(seen(await alice.get("/"))).toBe(AGAIN);
    const { status, body } = await send(`${url}/readyz`);
    expect([status, body]).toMatchObject([503, { problems: ["store_too_many_connections"] }]);
    expect(running.stderr).toContain("the database takes no more connections");
    expect(running.stderr).not.toContain("cannot be reached (53300)");

    await administer(place, `ALTER ROLE ${role} CONNECTION LIMIT -1`);
    await eventually(async () => (await send(`${url}/readyz`)).status === 200);
    await eventually(async () => (await serving.outcome("wait", { ms: 1 }, token)) === "allowed");
  },
);
