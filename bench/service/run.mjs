// SendMessage with one skill call, over HTTP on loopback: the guarded server beside the same server without a
// guard, in one run and in turns. `node bench/service/run.mjs [--quick] [--profile KIND] [--revocations N]`
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { startChild, startLoad } from "./children.mjs";
import { selfTimes } from "./profile.mjs";

/** @import { Kind } from "./servers.mjs" */

/** @type {readonly Kind[]} */
const KINDS = ["bare", "guarded", "ledger", "volatile", "durable"];
const CONCURRENT = [1, 5, 10, 50, 100];
const GRANTS = [1, 10, 100, 1000];

/** @param {number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? 0;
/** @param {number} value */
const rounded = (value) => Math.round(value * 1000) / 1000;

/** Milliseconds of one fsync of a page, the median of some. @param {string} folder */
function fsyncTime(folder) {
  const file = openSync(join(folder, "fsync"), "w", 0o600);
  const page = Buffer.alloc(4096, 1);
  const times = Array.from({ length: 50 }, () => {
    writeSync(file, page);
    const began = performance.now();
    fsyncSync(file);
    return performance.now() - began;
  });
  closeSync(file);
  return rounded(median(times));
}

/**
 * All figures of the service.
 * @param {{ quick?: boolean, revocations?: number, kinds?: readonly Kind[], only?: boolean }} options
 */
export async function run({ quick = false, revocations, kinds = KINDS, only = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "proviso-service-"));
  const revoked = revocations ?? (quick ? 100_000 : 10_000_000);
  const milliseconds = quick ? 1000 : 3000;
  const rounds = quick ? 3 : 7;
  const load = await startLoad();
  /** @type {Awaited<ReturnType<typeof startChild>>[]} */
  const servers = [];
  try {
    for (const kind of kinds) {
      servers.push(await startChild(kind, { grants: 1, revocations: revoked, folder }));
    }
    for (const { address } of servers)
      await load.calls(address, { milliseconds: 2 * milliseconds });
    /** @type {Map<Kind, number[]>} */
    const rates = new Map(kinds.map((kind) => [kind, []]));
    /** @type {Map<Kind, number[]>} */
    const costs = new Map(kinds.map((kind) => [kind, []]));
    for (let round = 0; round < rounds; round++) {
      // The server that comes first in a round comes last in the next.
      for (const server of round % 2 === 0 ? servers : [...servers].reverse()) {
        const { kind, address } = server;
        const before = await server.ask("cpu");
        const { perSecond, calls } = await load.calls(address, { milliseconds });
        rates.get(kind)?.push(perSecond);
        costs.get(kind)?.push(((await server.ask("cpu")) - before) / calls);
      }
    }
    const bare = rates.get("bare") ?? [];
    const throughput = [...rates].map(([kind, all]) => ({
      kind,
      perSecond: Math.round(median(all)),
      ofBare: rounded(median(all.map((rate, round) => rate / (bare[round] ?? Number.NaN)))),
      cpuMicroseconds: Math.round(median(costs.get(kind) ?? [])),
      ofBareByCpu: rounded(
        median(
          (costs.get(kind) ?? []).map((cost, round) => (costs.get("bare")?.[round] ?? 0) / cost),
        ),
      ),
      rounds: all.map(Math.round),
    }));
    if (only) return { throughput };
    const slowest = Math.min(...throughput.map(({ perSecond }) => perSecond));
    const latency = await latencies(servers, load, slowest / 2, 2 * milliseconds);
    const concurrency = await byConcurrency(servers, load, milliseconds);
    const fsync = fsyncTime(folder);
    for (const server of servers) await server.ask("close");
    servers.length = 0;
    const grants = await byGrants(load, folder, milliseconds);
    const about = {
      node: process.version,
      connections: 10,
      rounds,
      milliseconds,
      revocations: revoked,
    };
    return { ...about, fsyncMilliseconds: fsync, throughput, latency, concurrency, grants };
  } finally {
    for (const server of servers) await server.ask("close");
    load.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Milliseconds at a fixed arrival rate, of half of what the slowest server answers.
 * @param {Awaited<ReturnType<typeof startChild>>[]} servers
 * @param {Awaited<ReturnType<typeof startLoad>>} load
 * @param {number} rate @param {number} milliseconds
 */
async function latencies(servers, load, rate, milliseconds) {
  const measured = [];
  for (const { kind, address } of servers) {
    const tries = [];
    for (let round = 0; round < 3; round++) {
      tries.push(await load.calls(address, { connections: 50, rate, milliseconds }));
    }
    const [p50, p99] = [median(tries.map((one) => one.p50)), median(tries.map((one) => one.p99))];
    measured.push({ kind, perSecond: Math.round(rate), p50: rounded(p50), p99: rounded(p99) });
  }
  return measured;
}

/**
 * @param {Awaited<ReturnType<typeof startChild>>[]} servers
 * @param {Awaited<ReturnType<typeof startLoad>>} load
 * @param {number} milliseconds
 */
async function byConcurrency(servers, load, milliseconds) {
  const measured = [];
  for (const connections of CONCURRENT) {
    for (const { kind, address } of servers) {
      const { perSecond, p50, p99 } = await load.calls(address, { connections, milliseconds });
      measured.push({ kind, callers: connections, perSecond: Math.round(perSecond), p50, p99 });
    }
  }
  return measured;
}

/** @param {Awaited<ReturnType<typeof startLoad>>} load @param {string} folder @param {number} milliseconds */
async function byGrants(load, folder, milliseconds) {
  const measured = [];
  for (const grants of GRANTS) {
    const server = await startChild("guarded", { grants, revocations: 0, folder });
    await load.calls(server.address, { milliseconds });
    const { perSecond, p50 } = await load.calls(server.address, { milliseconds });
    await server.ask("close");
    measured.push({ grants, perSecond: Math.round(perSecond), p50: rounded(p50) });
  }
  return measured;
}

/**
 * Calls until the runtime has compiled what is called often, or for ten seconds.
 * @param {Awaited<ReturnType<typeof startLoad>>} load @param {{ url: string, token: string }} address
 */
async function warmUp(load, address) {
  const until = performance.now() + 10_000;
  let made = 0;
  while (made < 4000 && performance.now() < until) {
    made += (await load.calls(address, { milliseconds: 500 })).calls;
  }
}

/** Prints where a server's time goes. @param {Kind} kind */
async function profile(kind) {
  const folder = mkdtempSync(join(tmpdir(), "proviso-service-"));
  const load = await startLoad();
  try {
    const server = await startChild(kind, { grants: 1, revocations: 100_000, folder });
    await warmUp(load, server.address);
    await server.ask("profile");
    const { perSecond } = await load.calls(server.address, { milliseconds: 5000 });
    const taken = await server.ask("profiled");
    await server.ask("close");
    const calls = perSecond * 5;
    console.log(
      `${kind}: ${Math.round(perSecond)}/s while profiled; microseconds a call by file\n`,
    );
    for (const { what, microseconds, share } of selfTimes(taken).slice(0, 45)) {
      const each = (microseconds / calls).toFixed(1).padStart(7);
      console.log(`${each}  ${(share * 100).toFixed(1).padStart(5)} %  ${what}`);
    }
  } finally {
    load.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean" },
      profile: { type: "string" },
      revocations: { type: "string" },
      kinds: { type: "string" },
      only: { type: "boolean" },
    },
  });
  if (values.profile !== undefined) await profile(/** @type {Kind} */ (values.profile));
  else {
    const kinds = /** @type {Kind[] | undefined} */ (values.kinds?.split(","));
    const figures = await run({
      ...{ quick: values.quick ?? false, only: values.only ?? false },
      ...(values.revocations === undefined ? {} : { revocations: Number(values.revocations) }),
      ...(kinds === undefined ? {} : { kinds }),
    });
    console.log(JSON.stringify(figures, undefined, 2));
  }
}
