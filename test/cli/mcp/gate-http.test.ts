import { once } from "node:events";
import { renameSync } from "node:fs";
import { createServer, request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { chromiumInstalled, startChromium } from "../../support/chromium.js";
import { FULL } from "../../support/size.js";
import { Bench } from "../run.js";
import { RunningHere } from "../running.js";
import { fickleServer } from "./gating.js";

let bench: Bench;
beforeEach(async () => {
  bench = new Bench();
  const tool = { description: "A tool", inputSchema: { type: "object" } };
  const tools = ["send", "list"].map((name) => ({ ...tool, name }));
  bench.write("tools.json", JSON.stringify(tools));
  await bench.output("mcp", "token", "-o", "sender", "--principal", "alice", "--op", "send");
  await bench.output("mcp", "token", "-o", "lister", "--principal", "bob", "--op", "list");
});

/** Starts a gate that listens, and returns its address. */
function listening(...words: readonly string[]): ReturnType<typeof listeningTo> {
  return listeningTo(fickleServer(bench.path("tools.json")), words);
}

async function listeningTo(
  server: readonly string[],
  words: readonly string[] = [],
): Promise<{ readonly url: URL; readonly gate: RunningHere }> {
  const all = ["mcp", "gate", "--listen", "127.0.0.1:0", ...words, "--", ...server];
  const env = { PROVISO_HOME: bench.home, NO_COLOR: "1" };
  const gate = new RunningHere(all, { cwd: bench.folder, env });
  const [, url = ""] = (await gate.says(/Serving MCP at \S+\n/)).split(/Serving MCP at |\n/);
  return { url: new URL(url), gate };
}

/** Connects the official client, with a token in a header. */
async function connect(url: URL, headers: Record<string, string>): Promise<Client> {
  const client = new Client({ name: "caller", version: "1" });
  onTestFinished(() => client.close());
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  return client;
}

const namesOf = async (client: Client): Promise<readonly string[]> =>
  (await client.listTools()).tools.map(({ name }) => name);

test("a gate over HTTP judges each client by the token in its headers, and the ledger names each principal", async () => {
  const { url, gate } = await listening();
  const [sender, lister] = ["sender", "lister"].map((file) => bench.read(file).trim());
  const alice = await connect(url, { "Proviso-Capability": sender ?? "" });
  const bob = await connect(url, { Authorization: `Bearer ${lister}` });
  expect(await namesOf(alice)).toEqual(["send"]);
  expect(await namesOf(bob)).toEqual(["list"]);
  const answer = await alice.callTool({ name: "send", arguments: {} });
  expect(answer).not.toHaveProperty("isError", true);
  expect(JSON.stringify(answer)).not.toContain("PROVISO");
  expect(await bob.callTool({ name: "send", arguments: {} })).toMatchObject({ isError: true });
  const both = await connect(url, {
    "Proviso-Capability": sender ?? "",
    Authorization: `Bearer ${lister}`,
  });
  expect(await namesOf(both)).toEqual([]);
  gate.stop();
  expect(await gate.ended).toBe(0);
  expect(gate.stderr).not.toContain(sender);
  const audit = await bench.output("audit");
  expect(audit).toMatch(/allowed .* alice {2}send/);
  expect(audit).toMatch(/refused .* bob {2}send/);
});

test("a gate without a token of its own says which of the caller's tokens alone would allow the call", async () => {
  await bench.output("mcp", "token", "-o", "limited", "--op", "send", "--arg", "send:to=bob");
  const { url } = await listening();
  const [sender, limited] = ["sender", "limited"].map((file) => bench.read(file).trim());
  const caller = await connect(url, { "Proviso-Capability": `${sender}, ${limited}` });
  const { capability } = await bench.json("inspect", "@sender");
  const refused = await caller.callTool({ name: "send", arguments: { to: "eve" } });
  expect(refused).toMatchObject({
    isError: true,
    _meta: { "dev.proviso/remedies": [{ kind: "use_token", capability: capability.id }] },
  });
});

test("initialize without a valid token is refused, and the error says why and how to present a token", async () => {
  const { url } = await listening();
  const clientInfo = { name: "caller", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const initialize = async (headers: Record<string, string>, _meta?: object): Promise<unknown> => {
    const types = {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
    };
    const body = { jsonrpc: "2.0", id: 1, method: "initialize", params: { ...params, _meta } };
    const sent = { method: "POST", headers: { ...types, ...headers }, body: JSON.stringify(body) };
    return (await fetch(url, sent)).json();
  };
  const token = bench.read("sender").trim();
  const refused = (message: string): object => ({
    error: { code: -31403, message: expect.stringContaining(message) },
  });
  // The number of refusals is the maximum number of sessions: if a refusal left a session open, the later openings
  // would fail.
  const strangers = await Promise.all(Array.from({ length: 64 }, () => initialize({})));
  const how = refused("with every request, initialize included, in the header Proviso-Capability");
  expect(strangers).toMatchObject(strangers.map(() => how));
  expect(await initialize({ "Proviso-Capability": `${token}A` })).toMatchObject(
    refused("bytes follow"),
  );
  await bench.output("mcp", "token", "-o", "other", "--grant", "other", "--op", "send");
  expect(await initialize({ "Proviso-Capability": bench.read("other").trim() })).toMatchObject(
    refused('the token is for "other", and this call is under "mcp"'),
  );
  const anyone = connect(url, {});
  await expect(anyone).rejects.toThrow("in the header Proviso-Capability");
  expect(await initialize({ "Proviso-Capability": token })).toHaveProperty("result");
  expect(await initialize({}, { "dev.proviso/capability": token })).toHaveProperty("result");
  await bench.output("revoke", "@sender");
  const again = (): Promise<unknown> => initialize({ "Proviso-Capability": token });
  await expect.poll(again, { interval: 200 }).toMatchObject(refused("revoked"));
});

test("revoking the token of a session over HTTP ends the session and its open stream", async () => {
  const { url } = await listening();
  const types = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
  };
  const clientInfo = { name: "caller", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const post = (headers: Record<string, string>, message: object): Promise<Response> =>
    fetch(url, {
      method: "POST",
      headers: { ...types, ...headers },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
    });
  const token = { "Proviso-Capability": bench.read("sender").trim() };
  const opened = await post(token, { method: "initialize", params });
  const session = { "Mcp-Session-Id": opened.headers.get("Mcp-Session-Id") ?? "", ...token };
  const stream = await fetch(url, { headers: { Accept: "text/event-stream", ...session } });
  expect(stream.status).toBe(200);
  expect((await post(session, { method: "ping" })).status).toBe(200);
  await bench.output("revoke", "@sender");
  await stream.text();
  expect((await post(session, { method: "ping" })).status).toBe(404);
});

test("a session over HTTP goes on after a time in which the gate could not read its keys", async () => {
  const { url } = await listening();
  const clientInfo = { name: "caller", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const headers = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "Proviso-Capability": bench.read("sender").trim(),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const opened = await fetch(url, { method: "POST", headers, body });
  const session = { ...headers, "Mcp-Session-Id": opened.headers.get("Mcp-Session-Id") ?? "" };
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
  const status = async (): Promise<number> =>
    (await fetch(url, { method: "POST", headers: session, body: ping })).status;
  expect(await status()).toBe(200);
  const keys = join(bench.home, "keyring.json");
  renameSync(keys, `${keys}.away`);
  await sleep(2500);
  await expect.poll(status, { interval: 200 }).toBe(503);
  renameSync(`${keys}.away`, keys);
  await expect.poll(status, { interval: 200 }).toBe(200);
});

test("the id of a session over HTTP is of no use without a token of the party that opened the session", async () => {
  const { url } = await listening();
  const [sender, lister] = ["sender", "lister"].map((file) => bench.read(file).trim());
  const types = {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
  };
  const clientInfo = { name: "caller", version: "1" };
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo };
  const alice = { ...types, "Proviso-Capability": sender ?? "" };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const opened = await fetch(url, { method: "POST", headers: alice, body });
  const session = { "Mcp-Session-Id": opened.headers.get("Mcp-Session-Id") ?? "" };
  const ping = JSON.stringify({ jsonrpc: "2.0", id: 2, method: "ping" });
  const statuses = async (headers: Record<string, string>): Promise<readonly number[]> => {
    const found: number[] = [];
    for (const method of ["POST", "GET", "DELETE"]) {
      const sent = { ...types, ...session, ...headers };
      const response = await fetch(url, {
        method,
        headers: sent,
        body: method === "POST" ? ping : null,
      });
      await response.body?.cancel();
      found.push(response.status);
    }
    return found;
  };
  expect(await statuses({})).toEqual([404, 404, 404]);
  expect(await statuses({ "Proviso-Capability": lister ?? "" })).toEqual([404, 404, 404]);
  // The second token of alice, for another operation, is of the same party.
  await bench.output("mcp", "token", "-o", "second", "--principal", "alice", "--op", "list");
  const second = bench.read("second").trim();
  expect(await statuses({ "Proviso-Capability": second })).toEqual([200, 200, 204]);
});

test("mcp gate --listen refuses to start with a token from --token or from PROVISO_TOKEN", async () => {
  const words = ["mcp", "gate", "--listen", "127.0.0.1:0", "--", "server"];
  const message = "a gate that listens must have no token of its own";
  const byFlag = await bench.run([...words.slice(0, 2), "--token", "@sender", ...words.slice(2)]);
  expect(byFlag).toMatchObject({ status: 2, stderr: expect.stringContaining(message) });
  expect(byFlag.stderr).toContain("leave out --token;");
  const env = { PROVISO_TOKEN: "@sender" };
  const byVariable = await bench.run(words, { env });
  expect(byVariable).toMatchObject({ status: 2, stderr: expect.stringContaining(message) });
  expect(byVariable.stderr).toContain("leave out PROVISO_TOKEN;");
});

/** Sends a request with an `Origin` that `fetch` would not send, and returns its answer. */
async function from(origin: string, url: URL, method: string, more: Record<string, string> = {}) {
  const accept = { Accept: "application/json, text/event-stream" };
  const headers = { Origin: origin, "Content-Type": "application/json", ...accept, ...more };
  const sent = request(url, { method, headers });
  sent.end(method === "POST" ? JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }) : "");
  const [answer] = await once(sent, "response");
  let text = "";
  for await (const chunk of answer) text += chunk;
  return { status: answer.statusCode, headers: answer.headers, text };
}

test("a gate over HTTP answers preflight requests of allowed pages, and lets only these pages read answers", async () => {
  const origins = [
    "--allow-origin",
    "HTTPS://App.example/",
    "--allow-origin",
    "https://b.example:443",
  ];
  const { url, gate } = await listening(...origins);
  const asked = "proviso-capability, mcp-param-region";
  const preflight = {
    "Access-Control-Request-Method": "POST",
    "Access-Control-Request-Headers": asked,
  };
  for (const origin of ["https://app.example", "https://b.example", "http://localhost:5173"]) {
    const allowed = await from(origin, url, "OPTIONS", preflight);
    expect(allowed).toMatchObject({
      status: 204,
      headers: {
        "access-control-allow-origin": origin,
        "access-control-allow-headers": asked,
        "access-control-allow-methods": "GET, POST, DELETE",
      },
    });
    const { headers } = await from(origin, url, "POST");
    expect(headers["access-control-allow-origin"]).toBe(origin);
    expect(headers["access-control-expose-headers"]).toContain("Mcp-Session-Id");
    expect(headers["vary"]).toContain("Origin");
  }
  for (const method of ["OPTIONS", "POST"]) {
    const refused = await from("https://evil.example", url, method, preflight);
    expect(refused.status).toBe(403);
    expect(refused.headers).not.toHaveProperty("access-control-allow-origin");
    expect(refused.text).toContain("--allow-origin allows it");
  }
  expect(await from("https://app.example", url, "OPTIONS")).toMatchObject({ status: 405 });
  await gate.says(/"forbidden"/, "stderr");
  expect(gate.stderr).toContain("https://evil.example");
});

if (FULL) {
  test.runIf(chromiumInstalled())(
    "a page in a browser opens a session with a gate, uses it and ends it",
    async () => {
      const { url } = await listening();
      const site = createServer((_req, res) =>
        res.setHeader("Content-Type", "text/html").end("<p>"),
      );
      await once(site.listen(0, "127.0.0.1"), "listening");
      onTestFinished(() => void site.close());
      const browser = await startChromium();
      onTestFinished(() => browser.close());
      const page = await browser.newPage();
      const address = site.address();
      await page.goto(`http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`);
      const token = bench.read("sender").trim();
      const found = await page.evaluate(
        async ([gate = "", capability = ""]) => {
          const headers: Record<string, string> = {
            "Content-Type": "application/json",
            Accept: "application/json, text/event-stream",
            "Proviso-Capability": capability,
          };
          const post = (method: string, params: object) =>
            fetch(gate, {
              method: "POST",
              headers,
              body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
            });
          const clientInfo = { name: "page", version: "1" };
          const protocolVersion = "2025-11-25";
          const opened = await post("initialize", {
            protocolVersion,
            capabilities: {},
            clientInfo,
          });
          headers["Mcp-Session-Id"] = opened.headers.get("Mcp-Session-Id") ?? "";
          headers["MCP-Protocol-Version"] = protocolVersion;
          const listed = await (await post("tools/list", {})).text();
          const ended = await fetch(gate, { method: "DELETE", headers });
          return { listed, ended: ended.status };
        },
        [url.href, token],
      );
      expect(found.listed).toContain('"name":"send"');
      expect(found.ended).toBe(204);
    },
  );
}

test.each([
  [["--allow-origin", "notaurl"], '--allow-origin "notaurl" is not the origin of a web page'],
  [["--allow-origin", "https://a.example/app"], "leave out the path: https://a.example"],
  [["--allow-origin", "*"], "write scheme, host and port"],
  [["--allow-host", "https://a.example/mcp"], "write a.example"],
])("mcp gate refuses %j: %s", async (words, message) => {
  const all = ["mcp", "gate", "--listen", "127.0.0.1:0", ...words, "--", "server"];
  const { status, stderr } = await bench.run(all);
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
});

test.each([
  [["--allow-origin", "https://a.example"], "--allow-origin is only for a gate that listens"],
  [["--allow-host", "a.example"], "--allow-host is only for a gate that listens"],
  [["--insecure"], "--insecure is for servers over HTTP and for --feed"],
])("mcp gate refuses %j without the option that it belongs to", async (words, message) => {
  const { status, stderr } = await bench.run(["mcp", "gate", ...words, "--", "server"]);
  expect({ status, stderr }).toEqual({ status: 2, stderr: expect.stringContaining(message) });
});

test("a gate that other machines can reach warns that tokens travel in clear", async () => {
  const warning = "plain http, and other machines can reach it: tokens travel in clear";
  // No machine has this address, so the gate then fails (RFC 5737).
  const words = ["mcp", "gate", "--listen", "192.0.2.1:8808", "--", "server"];
  const { status, stderr } = await bench.run(words);
  expect(stderr).toContain(`WARNING: 192.0.2.1:8808 is ${warning}`);
  expect(status).toBe(6);
  expect((await listening()).gate.stderr).not.toContain("in clear");
});

test("a gate over HTTP answers a foreign Origin or Host with 403, unless --allow-origin or --allow-host names it", async () => {
  const { url } = await listening(
    "--allow-origin",
    "https://app.example",
    "--allow-host",
    "Gate.example",
  );
  const status = (headers: Record<string, string>): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const types = {
        "Content-Type": "application/json",
        Accept: "application/json, text/event-stream",
      };
      const call = request(
        url,
        { method: "POST", headers: { ...types, ...headers } },
        (response) => {
          response.resume();
          resolve(response.statusCode);
        },
      );
      call.on("error", reject);
      call.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }));
    });
  expect(await status({ Origin: "https://evil.example" })).toBe(403);
  expect(await status({ Host: "evil.example" })).toBe(403);
  expect(await status({ Origin: "https://app.example" })).not.toBe(403);
  expect(await status({ Host: "gate.example" })).not.toBe(403);
});

test("mcp gate --listen fails if the port is taken, and names the address", async () => {
  const { url } = await listening();
  const words = ["mcp", "gate", "--listen", url.host, "--", ...fickleServer("tools.json")];
  const { status, stderr } = await bench.run(words);
  expect({ status, stderr }).toEqual({
    status: 6,
    stderr: expect.stringContaining(`${url.host} is taken`),
  });
  expect(stderr).toContain("name another with --listen HOST:PORT");
});

test("a client that does not read its answers does not delay other clients", async () => {
  await bench.output("mcp", "token", "-o", "large", "--op", "large");
  const file = fileURLToPath(new URL("large-server.mjs", import.meta.url));
  const { url } = await listeningTo([process.execPath, file]);
  const call = (progressToken?: number): ReturnType<typeof request> => {
    const _meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      progressToken,
    };
    const params = { name: "large", arguments: {}, _meta };
    const headers = {
      "Content-Type": "application/json",
      Accept: "application/json, text/event-stream",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": "tools/call",
      "Mcp-Name": "large",
      "Proviso-Capability": bench.read("large").trim(),
    };
    const sent = request(url, { method: "POST", headers });
    onTestFinished(() => void sent.destroy());
    sent.on("error", () => {});
    return sent.end(JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params }));
  };
  // More bytes than the buffers of the connections hold.
  const slow = Array.from({ length: 6 }, () => call(7));
  await Promise.all(slow.map((sent) => once(sent, "response")));
  const [answer] = await once(call(), "response");
  let length = 0;
  for await (const chunk of answer) length += chunk.length;
  expect(length).toBeGreaterThan(4_000_000);
});
