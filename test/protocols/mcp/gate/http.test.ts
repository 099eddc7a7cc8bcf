import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { serveHttp } from "../../../../src/protocols/mcp/front/http-front.js";
import { openHttpServer } from "../../../../src/protocols/mcp/server/http-server.js";
import { startStdioServer } from "../../../../src/protocols/mcp/server/stdio-server.js";
import { openTestGate, openTestGates } from "./support.js";

const SERVER = join(import.meta.dirname, "children", "modern-server.mjs");
const SILENT = { info() {}, warn() {}, error() {} };

/** Serves a gate over HTTP, without a token of its own, in front of a server made with the official SDK. */
async function serveGate() {
  const { openSession, ...gate } = await openTestGates();
  const { url, close } = await serveHttp({
    address: { host: "127.0.0.1", port: 0 },
    log: SILENT,
    opening: async () => ({ opener: "alice", credentials: [] }),
    callerOf: async () => "alice",
    open: async (stateless) => {
      const server = await startStdioServer({
        command: process.execPath,
        args: [SERVER],
        env: process.env,
        onStderr: () => {},
      });
      return { session: openSession([server], { stateless }), ended: new Promise(() => {}) };
    },
  });
  onTestFinished(close);
  return { ...gate, url };
}

/** Connects the official client with a token in a header. */
async function connect(url: string, token: string, mode: "legacy" | { readonly pin: string }) {
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode }, capabilities: { elicitation: { form: {} } } },
  );
  client.setRequestHandler("elicitation/create", async () => ({
    action: "accept",
    content: { confirm: true },
  }));
  const requestInit = { headers: { "Proviso-Capability": token } };
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit }));
  onTestFinished(() => client.close());
  return client;
}

const pay = (client: Client, amount: number) =>
  client.callTool({ name: "pay", arguments: { amount, to: "Ann" } });

const namesOf = async (client: Client) =>
  (await client.listTools()).tools.map(({ name }) => name).sort();

test("clients that share a gate over HTTP are each limited by their own tokens", async () => {
  const { url, mint } = await serveGate();
  const paying = mint({
    operations: ["client:elicitation", "pay"],
    operationConstraints: { pay: { amount: { max: 50 } } },
  });
  const looking = mint({ operations: ["reveal"] });
  const modern = { pin: "2026-07-28" };
  const [payer, reader] = [await connect(url, paying, modern), await connect(url, looking, modern)];
  expect(await namesOf(payer)).toEqual(["pay"]);
  expect(await namesOf(reader)).toEqual(["reveal"]);
  const [paid, denied, tooMuch] = await Promise.all([
    pay(payer, 50),
    pay(reader, 1),
    pay(payer, 51),
  ]);
  expect(paid).toMatchObject({ content: [{ text: "paid 50 to Ann" }] });
  expect(denied).toMatchObject({ isError: true });
  expect(tooMuch).toMatchObject({ isError: true });
});

test("in a session of the old era over HTTP, a server can ask the user only if the token allows client:elicitation", async () => {
  const { url, mint } = await serveGate();
  const asking = await connect(url, mint({ operations: ["client:elicitation", "pay"] }), "legacy");
  expect(await pay(asking, 5)).toMatchObject({ content: [{ text: "paid 5 to Ann" }] });
  const silent = await connect(url, mint({ operations: ["pay"] }), "legacy");
  expect(JSON.stringify(await pay(silent, 5).catch(String))).not.toContain("paid");
});

test("a revoked token stops only the client that presents it", async () => {
  const { url, mint, issuer, revocations } = await serveGate();
  const [first, second] = [mint({ operations: ["reveal"] }), mint({ operations: ["reveal"] })];
  const modern = { pin: "2026-07-28" };
  const [revoked, other] = [await connect(url, first, modern), await connect(url, second, modern)];
  const revocation = issuer.revocationOf(first);
  if (!revocation.ok) throw new Error("no entry");
  await revocations.add(revocation.entry);
  const reveal = { name: "reveal", arguments: {} };
  expect(await revoked.callTool(reveal)).toMatchObject({ isError: true });
  expect(await other.callTool(reveal)).toMatchObject({ content: [{ text: "look again" }] });
});

test("a call whose tool is not known yet fails with server_unavailable if nothing listens at the server's address", async () => {
  const unused = createServer().listen(0, "127.0.0.1");
  await once(unused, "listening");
  const address = unused.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  unused.close();
  const server = openHttpServer({ name: undefined, url: new URL(`http://127.0.0.1:${port}/mcp`) });
  const { host } = await openTestGate([server], { anyOperation: true });
  const unavailable = { error: { code: -31503, data: { code: "server_unavailable" } } };
  for (const [id, method] of ["tools/call", "tools/list"].entries()) {
    expect(await host.ask({ id, method, params: { name: "pay" } })).toMatchObject(unavailable);
  }
});
