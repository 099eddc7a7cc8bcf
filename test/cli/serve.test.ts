import { randomUUID } from "node:crypto";
import { readdirSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { TaskState } from "@a2a-js/sdk";
import { ServerCallContext } from "@a2a-js/sdk/server";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { DISCOVERY_URI } from "../../src/discovery/index.js";
import { attenuate } from "../../src/index.js";
import { openTaskStore } from "../../src/protocols/a2a/index.js";
import { setTaskAccess } from "../../src/protocols/a2a/tasks/task-access.js";
import { openLedger, openStores } from "../../src/stores/index.js";
import { at, send, textAt } from "../protocols/a2a/callers.js";
import { startAuthorizationServer } from "../support/authorization-server.js";
import { MAIN } from "../support/built.js";
import { freePort } from "../support/free-port.js";
import { FULL } from "../support/size.js";
import { Bench, document } from "./run.js";
import { RunningHere, RunningProgram } from "./running.js";
import { CONFIG, NOTES, serve, serveSpawned, TOKENS, WAIT, waits, writeAgent } from "./serving.js";

const bench = new Bench();
beforeAll(async () => {
  await bench.init();
  writeAgent(bench);
});

describe("the output of serve", () => {
  test("has its first line on standard output once the agent accepts calls", async () => {
    bench.write("first-line.json", JSON.stringify(CONFIG));
    const port = await freePort();
    const card = `http://127.0.0.1:${port}/.well-known/agent-card.json`;
    const args = ["serve", "first-line.json", "--port", String(port)];
    const options = { cwd: bench.folder, env: { PROVISO_HOME: bench.home } };
    await expect(fetch(card)).rejects.toThrow();
    const running = new RunningHere(args, options);
    expect(await running.says(/^.*\n/)).toBe(`Serving at http://127.0.0.1:${port}\n`);
    expect((await fetch(card)).status).toBe(200);
  });

  test("with --json is one JSON line on standard output when the agent is ready, and messages on standard error", async () => {
    const { running, url } = await serve(bench);
    expect(document(running.stdout)).toEqual({
      url,
      cardUrl: `${url}/.well-known/agent-card.json`,
      mode: "require",
      rpcUrl: `${url}/a2a/jsonrpc`,
      restUrl: `${url}/a2a/rest`,
    });
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(running.stderr).toMatch(/^WARNING: fixed development tokens are accepted/m);
    expect(running.stderr).toContain("issuer documents-agent, home ");
    expect(running.stderr).toContain("grants notes:read, notes:wait; skills read_note, wait");
    expect(running.stderr).toContain("policy 2 rules");
    const { body } = await send(`${url}/.well-known/agent-card.json`);
    expect(body).toMatchObject({
      name: "Notes agent",
      description: "Reads notes",
      version: "2.1.0",
      capabilities: {
        extensions: [
          { params: { capabilityGrants: [{ id: "notes:read" }, { id: "notes:wait" }] } },
          { uri: DISCOVERY_URI },
        ],
      },
    });
    running.stop();
    expect(await running.ended).toBe(0);
    expect(running.stdout.split("\n")).toHaveLength(2);
  });

  if (FULL) {
    test("without --json lists the agent's addresses in words; the configuration's home overrides PROVISO_HOME", async () => {
      const env = { PROVISO_HOME: "/nowhere" };
      const running = new RunningProgram([MAIN, "serve", "agent.json"], env, bench.folder);
      const said = await running.says(/^Serving at \S+[\s\S]* mode {7}require\n/m);
      const [, url = ""] = /at (\S+)/.exec(said) ?? [];
      expect(said).toContain(`  card       ${url}/.well-known/agent-card.json\n`);
      expect(said).toContain(`  JSON-RPC   ${url}/a2a/jsonrpc\n  HTTP+JSON  ${url}/a2a/rest\n`);
      running.child.kill("SIGINT");
      expect(await running.ended).toBe(0);
    });
  }

  test("has a JSON line for each request, and never contains a token", async () => {
    const { running, capability, rpc } = await serve(bench);
    const token = await capability();
    const given = { skill: "read_note", arguments: { note: "rh_nothing" } };
    await rpc("a2a/skill/invoke", { ...given, capabilities: [{ token }] });
    await rpc("a2a/skill/invoke", given, "no-token-that-is-known");
    await running.says(/"status":401.*\n/, "stderr");
    const lines = running.stderr.split("\n").filter((line) => line.startsWith("{"));
    expect(lines.map((line) => JSON.parse(line).status)).toEqual([200, 200, 401]);
    for (const secret of [token, token.slice(-40), TOKENS.alice, "no-token-that-is-known"]) {
      expect(running.stdout + running.stderr).not.toContain(secret);
    }
  });

  test('with log: "silent" has no log lines, but still the warning about development tokens', async () => {
    const { running, capability } = await serve(bench, { ...CONFIG, log: "silent" });
    await capability();
    running.stop();
    await running.ended;
    expect(running.stderr).not.toContain('"msg"');
    expect(running.stderr).toContain("WARNING: fixed development tokens");
  });

  test("for --help has a description, an example, and lines of at most 80 characters", async () => {
    const text = await bench.output("serve", "--help");
    expect(text).toMatch(/^Usage: proviso serve \[options\] <config>\n\nServes an issuing agent/);
    expect(text).toContain("$ proviso serve agent.json");
    for (const line of text.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  });
});

describe("stopping serve", () => {
  test("finishes the calls under way, writes the ledger, and closes the port and the databases", async () => {
    const { running, capability, outcome, url } = await serveSpawned(bench);
    const token = await capability(WAIT);
    const waiting = outcome("wait", { ms: 700 }, token);
    await waits(bench, 700);
    running.child.kill("SIGTERM");
    await running.says(/^stopping: /m, "stderr");
    expect(await waiting).toBe("allowed");
    expect(await running.ended).toBe(0);
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
    expect(bench.read("home/closed.txt")).toMatch(/^(closed\n)+$/);
    // The event that was recorded just before the end is in the ledger.
    const events = JSON.parse(await bench.output("audit", "--json"));
    expect(JSON.stringify(events)).toContain('"skill":"wait"');
    // After the end, the write-ahead logs are empty, so the databases are complete.
    const logs = readdirSync(bench.home).filter((file) => file.endsWith("-wal"));
    for (const log of logs) expect(statSync(join(bench.home, log)).size, log).toBe(0);
  });

  if (FULL) {
    test("at a second signal ends at once and cuts off the calls under way", async () => {
      const { running, capability, outcome } = await serveSpawned(bench);
      const token = await capability(WAIT);
      const waiting = outcome("wait", { ms: 20_000 }, token).catch(() => "cut");
      await waits(bench, 20_000);
      running.child.kill("SIGINT");
      await running.says(/^stopping: /m, "stderr");
      running.child.kill("SIGINT");
      expect(await running.ended).toBe(130);
      expect(await waiting).toBe("cut");
    });
  }

  test("because the port is taken closes everything, so that the next start succeeds", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const address = other.address();
    const port = typeof address === "object" ? String(address?.port) : "";
    const { status, stdout, stderr } = await bench.run(["serve", "agent.json", "--port", port]);
    expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
    expect(stderr).toContain(
      `proviso: 127.0.0.1:${port} is taken: something listens there already`,
    );
    expect(stderr).toContain("hint: stop that, or name another with --port");
    expect(bench.read("home/closed.txt")).toContain("closed");
    await new Promise((resolve) => other.close(resolve));
    const { url } = await serve(bench, CONFIG, ["--port", port]);
    expect(url).toBe(`http://127.0.0.1:${port}`);
  });
});

describe("the configuration of serve", () => {
  test("names a module of skills, which gets the resources, the paths and the home, and also the messages in words", async () => {
    const { rpc, capability } = await serve(bench);
    const granted = (await rpc("a2a/capabilities/request", { ...NOTES, purpose: "p" })).body;
    const [token, note] = [
      textAt(granted, "result", "capabilities", 0, "token"),
      textAt(granted, "result", "capabilities", 0, "resourceHandles", 0, "handle"),
    ];
    const capabilities = [{ token }];
    const given = { skill: "read_note", arguments: { note }, capabilities };
    expect(at((await rpc("a2a/skill/invoke", given)).body, "result", "result")).toEqual({
      text: expect.stringContaining("Buy "),
      resourcesPath: bench.path("notes-folder"),
      home: bench.home,
      configFolder: bench.folder,
    });
    const message = { role: "ROLE_USER", messageId: "m1", parts: [{ text: "hello" }] };
    const sent = await rpc("a2a/task/send", {
      message,
      capabilities: [{ token: await capability() }],
    });
    expect(sent.text).toContain('{"heard":"hello"}');
  });

  test("sets how long the ledger keeps events", async () => {
    const database = await openStores(join(bench.home, "proviso.db"), "create");
    const ledger = openLedger(database);
    for (const [days, purpose] of [
      [3, "long ago"],
      [1, "of late"],
    ] as const) {
      const at = new Date(Date.now() - days * 24 * 60 * 60 * 1000).toISOString();
      await ledger.commit({ kind: "invocation", at, decision: "allowed", purpose });
    }
    await database.close();
    await serve(bench, { ...CONFIG, ledger: { retention: 2 } });
    const kept = (): Promise<string> => bench.output("audit", "--limit", "1000");
    await expect.poll(kept).not.toContain("long ago");
    expect(await kept()).toContain("of late");
  });

  test("sets how long tasks are kept", async () => {
    const database = await openStores(join(bench.home, "proviso.db"));
    const context = new ServerCallContext();
    setTaskAccess(context, { principal: "alice", paths: [] });
    const status = {
      state: TaskState.TASK_STATE_COMPLETED,
      message: undefined,
      timestamp: undefined,
    };
    for (const days of [3, 1]) {
      const clock = () => Date.now() - days * 24 * 60 * 60 * 1000;
      const tasks = await openTaskStore(database, { clock });
      const task = { id: `${days} days ago`, contextId: "c", status, artifacts: [], history: [] };
      await tasks.save({ ...task, metadata: undefined }, context);
      await tasks.close();
    }
    await database.close();
    await serve(bench, { ...CONFIG, tasks: { retention: 2 } });
    const kept = (): Promise<string> => bench.output("tasks", "list");
    await expect.poll(kept).not.toContain("3 days ago");
    expect(await kept()).toContain("1 days ago");
  });

  test("limits the tasks and revocations of a caller, and the time that stopping takes", async () => {
    const own = new Bench();
    await own.init();
    writeAgent(own);
    const { running, rpc, capability, outcome } = await serve(own, {
      ...CONFIG,
      tasks: { count: 1 },
      limits: { revocations: 1, graceMs: 100 },
    });
    const send = async (): Promise<string> => {
      const message = { role: "ROLE_USER", messageId: randomUUID(), parts: [{ text: "hello" }] };
      const capabilities = [{ token: await capability() }];
      return (await rpc("a2a/task/send", { message, capabilities })).text;
    };
    expect(await send()).toContain("heard");
    expect(await send()).toContain("task_quota_exceeded");
    const revoke = async (): Promise<string> => {
      const part = attenuate(await capability(WAIT), { purpose: "a part" });
      if (!part.ok) throw new Error("it cannot be attenuated");
      return (await rpc("a2a/capabilities/revoke", { token: part.token })).text;
    };
    expect(await revoke()).toContain('"revoked":true');
    expect(await revoke()).toContain("too_many_revocations");
    const waiting = outcome("wait", { ms: 8000 }, await capability(WAIT));
    await waits(own, 8000);
    running.stop();
    await running.ended;
    expect(await waiting).not.toBe("allowed");
  });

  test("sets the mode, the lifetimes, the limits, and the argument values that the ledger records", async () => {
    const { rpc, capability } = await serve(bench, {
      ...CONFIG,
      mode: "prefer",
      lifetime: "2m",
      maxLifetime: "10m",
      maxHandles: 1,
      limits: { bodyBytes: 2000, requests: 5, seconds: 3600 },
      ledger: { values: ["lines"] },
    });
    const ask = (more: object) => rpc("a2a/capabilities/request", { purpose: "p", ...more });
    const long = await ask({ ...WAIT, expires: "2099-01-01T00:00:00Z" });
    const latest = Date.parse(textAt(long.body, "result", "capabilities", 0, "expires"));
    expect(Math.abs(latest - Date.now() - 600_000)).toBeLessThan(10_000);
    const both = await ask(NOTES);
    expect(textAt(both.body, "error", "data", 0, "reason")).toBe("too_many_resources");
    const token = await capability(WAIT);
    const { expires } = JSON.parse(await bench.output("inspect", token, "--json")).authority;
    expect(Math.abs(Date.parse(expires) - Date.now() - 120_000)).toBeLessThan(10_000);
    // The agent accepts ambient authority, so it performs a call without a capability, but marks it.
    const bare = { skill: "wait", arguments: { ms: 1, lines: 7 } };
    expect((await rpc("a2a/skill/invoke", bare)).text).toContain('"authority":"ambient"');
    expect((await ask({ purpose: "x".repeat(2000) })).status).toBe(413);
    await ask(WAIT);
    expect((await ask(WAIT)).status).toBe(429);
    // The ledger has the event after a short delay.
    await expect.poll(() => bench.output("audit", "--json")).toContain('"values":{"lines":7}');
  });

  test("sets whether ambient authority must be declared", async () => {
    const { rpc } = await serve(bench, {
      ...CONFIG,
      mode: "advertise",
      undeclaredAmbient: "refused",
    });
    const bare = { skill: "wait", arguments: { ms: 1, lines: 7 } };
    expect((await rpc("a2a/skill/invoke", bare)).text).toContain("authority_undeclared");
    const metadata = { "urn:proviso:a2a:capabilities:1": { authority: "ambient" } };
    const declared = await rpc("a2a/skill/invoke", { ...bare, metadata });
    expect(declared.text).toContain('"declared":true');
  });

  test("names an authorization server, whose access tokens the agent accepts and checks with the server's keys", async () => {
    const agent = "https://notes.example";
    const server = await startAuthorizationServer({
      users: ["alice"],
      clients: ["assistant"],
      resource: agent,
    });
    onTestFinished(() => server.close());
    const { issuer, jwksUri } = server;
    const authentication = { issuer, audience: agent, jwks: jwksUri };
    const { running, rpc } = await serve(bench, {
      ...CONFIG,
      authentication,
      publicUrl: `${agent}/`,
      listen: { port: await freePort() },
    });
    expect(document(running.stdout)).toMatchObject({ rpcUrl: `${agent}/a2a/jsonrpc` });
    expect(running.stderr).not.toContain("WARNING");
    const query = { ...WAIT, purpose: "p" };
    const token = await server.tokenFor("alice", "assistant");
    const granted = await rpc("a2a/capabilities/request", query, token);
    expect(at(granted.body, "result", "capabilities", 0, "grant")).toBe("notes:wait");
    expect((await rpc("a2a/capabilities/request", query)).status).toBe(401);
  });
});

test("serve logs the console output of a skill as JSON, and logs nothing about a refused stream", async () => {
  const { running, rpcUrl, capability } = await serve(bench);
  const token = await capability({ grants: ["notes:wait"] });
  const rpc = (method: string, params: object) =>
    send(rpcUrl, {
      method: "POST",
      headers: {
        Authorization: `Bearer ${TOKENS.alice}`,
        "Content-Type": "application/json",
        "A2A-Version": "1.0",
        "A2A-Extensions": "urn:proviso:a2a:capabilities:1",
        "Proviso-Capability": token,
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: "one", method, params }),
    });
  expect(at((await rpc("SubscribeToTask", { id: "none" })).body, "error", "code")).toBe(-32001);
  await rpc("SendMessage", {
    message: { role: "ROLE_USER", messageId: randomUUID(), parts: [{ text: "print" }] },
  });
  await running.says(/"text":"a library says","msg":"console"/, "stderr");
  expect(running.stderr).not.toMatch(/^a library|more than a line|Pre-stream/m);
});
