// Measures the time that `proviso mcp gate` adds to a call. This process calls the same server over standard streams at
// a steady 100 calls a second, in turns with and without the gate in front of it. Prints the median and the 99th
// percentile of both, and the milliseconds that the gate adds. Run with: npm run bench:mcp, or
//
//   node bench/mcp.mjs [--rounds 10] [--seconds 5] [--rate 100]
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { median } from "./measure.mjs";

const { values } = parseArgs({
  options: {
    rounds: { type: "string", default: "10" },
    seconds: { type: "string", default: "5" },
    rate: { type: "string", default: "100" },
  },
});
const rounds = Number(values.rounds);
const seconds = Number(values.seconds);
const rate = Number(values.rate);
const COMMAND = fileURLToPath(new URL("../cli/dist/main.cjs", import.meta.url));
const SERVER = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-everything/dist/index.js",
);

/** A host that calls one tool over standard streams. */
class Host {
  #child;
  /** @type {Map<number, (line: string) => void>} */
  #waiting = new Map();
  #ids = 0;

  /** @param {readonly string[]} args - The arguments of Node. */
  constructor(args) {
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"] });
    createInterface({ input: this.#child.stdout }).on("line", (line) => {
      const { id, method } = JSON.parse(line);
      if (method === undefined) this.#waiting.get(id)?.(line);
    });
  }

  /**
   * @param {string} method
   * @param {object} params
   * @returns {Promise<string>} The line with the answer.
   */
  request(method, params) {
    const id = ++this.#ids;
    return new Promise((resolve) => {
      this.#waiting.set(id, (line) => {
        this.#waiting.delete(id);
        resolve(line);
      });
      this.#child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    });
  }

  async begin() {
    const clientInfo = { name: "bench", version: "1.0.0" };
    await this.request("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo,
    });
    this.#child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
    await this.request("tools/list", {});
  }

  /** @returns {Promise<number>} Milliseconds until the answer. @throws Error if the call was refused. */
  async call() {
    const started = performance.now();
    const answer = await this.request("tools/call", {
      name: "echo",
      arguments: { message: "hello" },
    });
    const took = performance.now() - started;
    if (!answer.includes("Echo: hello")) throw new Error(`the call did not work: ${answer}`);
    return took;
  }

  async end() {
    const ended = new Promise((resolve) => this.#child.once("close", resolve));
    this.#child.stdin.end();
    await ended;
  }
}

/**
 * Calls at a steady rate.
 * @param {Host} host
 * @param {number} time - Seconds.
 */
async function load(host, time) {
  const [count, interval, started] = [time * rate, 1000 / rate, performance.now()];
  /** @type {Promise<number>[]} */
  const calls = [];
  for (let at = 0; at < count; at++) {
    const wait = started + at * interval - performance.now();
    if (wait > 0) await sleep(wait);
    calls.push(host.call());
  }
  return Promise.all(calls);
}

/**
 * @param {number[]} times
 * @param {number} part - 0.99 for the 99th percentile.
 */
function percentile(times, part) {
  const sorted = [...times].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}

const folder = mkdtempSync(join(tmpdir(), "proviso-bench-mcp-"));
const home = join(folder, "home");
const token = join(folder, "token");
/** @param {readonly string[]} args */
const proviso = (...args) => {
  const { status, stderr } = spawnSync(process.execPath, [COMMAND, ...args, "--home", home], {
    encoding: "utf8",
  });
  if (status !== 0) throw new Error(stderr);
};
try {
  proviso("init", "--issuer", "bench");
  const limits = "--op echo --arg echo:message=hello --only-args echo:message".split(" ");
  proviso("mint", "--grant", "mcp", ...limits, "--output", token);
  const gate = [COMMAND, "mcp", "gate", "--home", home, "--token", `@${token}`];
  const hosts = {
    "without the gate": new Host([SERVER]),
    "with the gate": new Host([...gate, "--", process.execPath, SERVER]),
  };
  for (const host of Object.values(hosts)) await host.begin();
  for (const host of Object.values(hosts)) await load(host, 2);
  /** @type {Record<string, { p50: number[], p99: number[] }>} */
  const figures = {};
  for (let round = 0; round < rounds; round++) {
    for (const [name, host] of Object.entries(hosts)) {
      const times = await load(host, seconds);
      const kept = figures[name] ?? { p50: [], p99: [] };
      kept.p50.push(percentile(times, 0.5));
      kept.p99.push(percentile(times, 0.99));
      figures[name] = kept;
    }
  }
  for (const host of Object.values(hosts)) await host.end();
  console.log(
    `${rounds} rounds of ${seconds} s in turns, ${rate} calls a second; medians of the rounds, in ms`,
  );
  console.table(
    Object.fromEntries(
      Object.entries(figures).map(([name, { p50, p99 }]) => [
        name,
        { p50: median(p50).toFixed(3), p99: median(p99).toFixed(3) },
      ]),
    ),
  );
  const [without, gated] = Object.values(figures);
  for (const part of /** @type {const} */ (["p50", "p99"])) {
    const added = (gated?.[part] ?? []).map(
      (value, at) => value - (without?.[part][at] ?? Number.NaN),
    );
    console.log(`added at ${part}: ${median(added).toFixed(3)} ms`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}
