import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { createServer, request, type Server } from "node:http";
import { type AddressInfo, createServer as createSocket } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runHere } from "../cli/run.js";
import { MAIN } from "../support/built.js";
import { temporaryFolder } from "../support/temporary-folder.js";

// The official MCP conformance suite against its own server, with and without the gate in front.
// docs/testing.md says how to get both. docs/mcp-gate.md has the table of differences.

const NAME = "PROVISO_PEER_MCP_CONFORMANCE";
const CHECKOUT = process.env[NAME] ?? "";
const EXAMPLE = join(CHECKOUT, "examples/servers/typescript");
const isThere = CHECKOUT !== "" && existsSync(join(EXAMPLE, "node_modules"));
const NODE = ["--yes", "-p", "node@22"];
const SUITE = [...NODE, "-p", "@modelcontextprotocol/conformance@0.2.0-alpha.12", "conformance"];
const MINUTES = 60_000;

if (!isThere) {
  const found = CHECKOUT === "" ? "is not set" : `names ${CHECKOUT}, without installed examples`;
  console.warn(`${NAME} ${found}: the conformance suite of MCP is skipped (docs/testing.md)`);
}

/** Checks with a worse result through the gate than without it. docs/mcp-gate.md gives the reasons. */
const WORSE: { readonly [requirements: string]: readonly string[] } = {
  "2025-11-25": [
    "server-sse-multiple-streams: server-sse-streams-functional",
    "server-sse-polling: server-sse-disconnect-resume",
    "server-sse-polling: server-sse-priming-event",
    "server-sse-polling: server-sse-retry-field",
  ],
  "2026-07-28": [
    "server-stateless: sep-2575-server-sends-prompts-list-changed-on-subscription",
    "server-stateless: sep-2575-server-sends-tools-list-changed-on-subscription",
  ],
};

const folder = temporaryFolder();
const children: ChildProcess[] = [];
let bare = "";
let gated = "";
let presenter: Server;

/** Starts a program that keeps running. Returns its output, once the output matches the pattern. */
function start(
  command: string,
  args: readonly string[],
  options: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
  pattern: RegExp,
): Promise<string> {
  const env = { ...process.env, ...options.env };
  const child = spawn(command, args, { ...options, env, detached: true });
  children.push(child);
  let said = "";
  return new Promise((resolve, reject) => {
    child.stdout.on("data", (part: Buffer) => {
      said += part;
      const [found] = pattern.exec(said) ?? [];
      if (found !== undefined) resolve(found);
    });
    child.once("close", () => reject(new Error(`it ended: ${said}`)));
  });
}

/**
 * Runs the checks of one set of requirements. @returns The status of each check, by scenario and id, in the
 * order of the suite.
 */
async function statuses(url: string, requirements: string): Promise<Map<string, string[]>> {
  const output = join(folder, `${requirements}-${new URL(url).port}`);
  const words = ["server", "--url", url, "--requirements", requirements, "-o", output];
  const child = spawn("npx", [...SUITE, ...words], { stdio: "ignore" });
  await new Promise((resolve) => child.once("close", resolve));
  const found = new Map<string, string[]>();
  for (const name of readdirSync(output)) {
    const scenario = name.replace(/^server-/, "").replace(/-\d{4}-\d\d-\d\dT.*$/, "");
    const checks = JSON.parse(readFileSync(join(output, name, "checks.json"), "utf8"));
    for (const { id, status } of checks) {
      const key = `${scenario}: ${id}`;
      found.set(key, [...(found.get(key) ?? []), status]);
    }
  }
  return found;
}

const unused = async (): Promise<number> => {
  const socket = createSocket().listen(0, "127.0.0.1");
  await new Promise((resolve) => socket.once("listening", resolve));
  const { port } = socket.address() as AddressInfo;
  await new Promise((resolve) => socket.close(resolve));
  return port;
};

/** Starts a proxy that adds a token to each request. The suite itself presents no token. */
function present(token: string, target: URL): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    const passed = request(
      {
        host: target.hostname,
        port: target.port,
        path: incoming.url,
        method: incoming.method,
        headers: [...incoming.rawHeaders, "Proviso-Capability", token],
        setHost: false,
      },
      (answer) => {
        outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
        outgoing.flushHeaders();
        answer.on("error", () => outgoing.destroy());
        answer.pipe(outgoing);
      },
    );
    passed.on("error", () => outgoing.destroy());
    outgoing.once("close", () => passed.destroy());
    incoming.pipe(passed);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}

if (isThere) {
  beforeAll(async () => {
    const port = await unused();
    const serving = [...NODE, "-p", "tsx", "tsx", "everything-server.ts"];
    await start("npx", serving, { cwd: EXAMPLE, env: { PORT: String(port) } }, /running/);
    bare = `http://localhost:${port}/mcp`;
    const home = join(folder, "home");
    const file = join(folder, "token");
    await runHere(["mcp", "token", "--any-op", "--output", file], { env: { PROVISO_HOME: home } });
    const words = ["mcp", "gate", "--home", home, "--listen", "127.0.0.1:0", "--upstream", bare];
    const said = await start(process.execPath, [MAIN, ...words, "--json"], {}, /^\{.*\}$/m);
    presenter = await present(readFileSync(file, "utf8").trim(), new URL(JSON.parse(said).url));
    gated = `http://localhost:${(presenter.address() as AddressInfo).port}/mcp`;
  }, 5 * MINUTES);

  afterAll(async () => {
    presenter?.closeAllConnections();
    presenter?.close();
    for (const { pid } of children) {
      if (pid !== undefined) process.kill(-pid, "SIGTERM");
    }
    await sleep(1000);
  });

  test.each(Object.entries(WORSE))(
    "through the gate, each check of %s passes as often as without the gate, except the checks listed as worse",
    async (requirements, expected) => {
      const without = await statuses(bare, requirements);
      const through = await statuses(gated, requirements);
      const passed = (found: readonly string[] = []): number =>
        found.filter((status) => status === "SUCCESS").length;
      const worse = [...without.keys()].filter(
        (key) => passed(through.get(key)) < passed(without.get(key)),
      );
      expect(without.size).toBeGreaterThan(50);
      expect(worse.sort()).toEqual(expected);
    },
    10 * MINUTES,
  );
} else {
  test.skip("the conformance suite of MCP through the gate is skipped, since the suite is not installed", () => {});
}
