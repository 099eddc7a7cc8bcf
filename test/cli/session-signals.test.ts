import { once } from "node:events";
import { existsSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { Duplex, PassThrough } from "node:stream";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import type { JsonObject } from "../../src/bytes/json.js";
import { MAIN } from "../support/built.js";
import { FULL } from "../support/size.js";
import { Bench } from "./run.js";
import { RunningHere, RunningProgram } from "./running.js";

// The end of `proviso session serve` and of `proviso session connect` after a signal.

const bench = new Bench();

/** A program that ignores SIGTERM, and keeps a connection open as long as it runs. */
const STUBBORN = `
  process.on("SIGTERM", () => {});
  require("node:net").connect(process.argv[1]).on("error", () => {}).write(String(process.pid));
  setInterval(() => {}, 1000);
`;

beforeAll(async () => {
  await bench.init();
  for (const name of ["tools", "proc"]) {
    const grant = ["--grant", `a2e:${name}`, "--any-op", "--principal", "alice"];
    bench.write(`token-${name}`, await bench.output("mint", ...grant));
  }
});

const connectTo = (address: string, capability: string, input: PassThrough): RunningHere =>
  new RunningHere(["session", "connect", address, "--token", `@token-${capability}`, "--json"], {
    cwd: bench.folder,
    stdio: () => Duplex.from({ readable: input, writable: new PassThrough() }),
  });

async function listening(server: Server, name: string): Promise<string> {
  const path = bench.path(name);
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  return path;
}

/** Starts a host with a single session, which runs a process that ignores SIGTERM. */
async function hostWithProcess(
  name: string,
  grace: number,
): Promise<{ host: RunningProgram; ended: Promise<unknown>; socket: string }> {
  const server = createServer();
  const life = await listening(server, `${name}.life`);
  const socket = bench.path(`${name}.sock`);
  const stubborn = { command: process.execPath, args: ["-e", STUBBORN, life] };
  const plugins = { proc: { programs: { stubborn }, limits: { grace } } };
  const config = bench.write(`${name}.json`, JSON.stringify({ home: "home", plugins }));
  const args = [MAIN, "session", "serve", config, "--unix", socket];
  const host = new RunningProgram(args, {}, bench.folder);
  await host.says(/^Serving sessions/m);
  const connected = once(server, "connection");
  const input = new PassThrough();
  const session = connectTo(socket, "proc", input);
  input.write("proc/start stubborn\n");
  await session.says(/"state":"running"/);
  const [holder]: Socket[] = await connected;
  if (holder === undefined) throw new Error("there is no process");
  const [pid] = await once(holder, "data");
  const ended = once(holder.resume(), "close");
  onTestFinished(() => {
    if (!holder.closed) process.kill(Number(pid), "SIGKILL");
  });
  return { host, ended, socket };
}

if (FULL) {
  test("at SIGHUP, session serve ends its processes and removes its socket", async () => {
    const { host, ended, socket } = await hostWithProcess("hangup", 100);
    host.child.kill("SIGHUP");
    expect(await host.ended).toBe(0);
    expect(host.stderr).toContain("stopping");
    await ended;
    expect(existsSync(socket)).toBe(false);
  });
}

if (FULL) {
  test("at a second SIGINT, session serve ends at once and kills its processes", async () => {
    const { host, ended } = await hostWithProcess("twice", 60_000);
    host.child.kill("SIGINT");
    await host.says(/stopping/, "stderr");
    host.child.kill("SIGINT");
    expect(await host.ended).toBe(130);
    await ended;
  });
}

/** Starts a host that accepts a session, but answers no call. */
async function silentHost(got: (message: JsonObject) => void): Promise<string> {
  const server = createServer((socket) => {
    createInterface({ input: socket }).on("line", (line) => {
      const message: JsonObject = JSON.parse(line);
      const { type, id = "" } = message;
      got(message);
      if (type === "shutdown") socket.end();
      if (type !== "handshake/req") return;
      const metadata = { name: "tools", type: "tools", priority: 0, exclusive: false };
      const answer = {
        type: "handshake/resp",
        req_id: id,
        session_id: "ses_1",
        ok: true,
        reason: "",
        accepted_caps: [{ capability: "tools", enabled: true, metadata }],
        max_parallel: 4,
      };
      socket.write(`${JSON.stringify(answer)}\n`);
    });
  });
  return listening(server, "silent.sock");
}

test("session connect, stopped while the host does not answer, cancels the call and shuts the session down", async () => {
  const types: unknown[] = [];
  const address = await silentHost(({ type }) => types.push(type));
  const input = new PassThrough();
  const session = connectTo(address, "tools", input);
  input.write("tool/list\n");
  await expect.poll(() => types).toContain("tool/list/req");
  session.stop();
  expect(await session.ended).toBe(6);
  expect(JSON.parse(session.stdout)).toMatchObject({
    error: {
      code: "cancelled",
      message: "stopped before the host answered; the call is cancelled",
    },
  });
  await expect.poll(() => types).toEqual(["handshake/req", "tool/list/req", "cancel", "shutdown"]);
});
