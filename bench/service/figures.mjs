// Measures the service: warms every server first, then measures all of them in turns, in short stretches.
import { closeSync, fsyncSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startChild, startLoad } from "./children.mjs";
import { warmUp } from "./warm.mjs";

/** @import { Kind } from "./servers.mjs" */
/** @typedef {Awaited<ReturnType<typeof startChild>>} Server */
/** @typedef {Awaited<ReturnType<typeof startLoad>>} Load */
/** @typedef {{ calls: number, seconds: number, cpu: number }} Stretch */

/**
 * The extent of a measurement: `rounds` stretches of `milliseconds` each, with this many entries in the
 * revocation list. `sections` are measured in addition to the throughput.
 * @typedef {object} Extent
 * @property {number} rounds
 * @property {number} milliseconds
 * @property {number} warming milliseconds for which a server is warmed at most
 * @property {number} revocations
 * @property {readonly Kind[]} kinds
 * @property {readonly Section[]} sections
 */
/** @typedef {"latency" | "concurrency" | "grants"} Section */

/** @type {readonly Kind[]} */
export const KINDS = ["bare", "guarded", "ledger", "volatile", "durable"];
/** @type {readonly Section[]} */
export const SECTIONS = ["latency", "concurrency", "grants"];
/**
 * Number of unmeasured rounds. A process that has been idle for some 15 seconds, while other servers are started and
 * warmed, has lost its compiled code. It then takes two to three seconds of calls to recover its speed.
 */
const SETTLING = 4;
const CONNECTIONS = 10;
const CONCURRENT = [1, 5, 10, 50, 100];
const GRANTS = [1, 10, 100, 1000];

/** @param {readonly number[]} values */
const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
/** @param {number} value */
const rounded = (value) => Math.round(value * 1000) / 1000;

/** Returns all figures. @param {Extent} extent */
export async function measure(extent) {
  const { rounds, milliseconds, revocations, kinds, sections, warming } = extent;
  const folder = mkdtempSync(join(tmpdir(), "proviso-service-"));
  const load = await startLoad();
  /** @type {Server[]} */
  const servers = [];
  try {
    /** @type {number[]} */
    const warmed = [];
    for (const kind of kinds) {
      const server = await startChild(kind, { grants: 1, revocations, folder });
      servers.push(server);
      warmed.push(await warmUp(load, server, warming));
    }
    const throughput = (await inTurns(servers, load, extent)).map((figures, at) => ({
      ...figures,
      warmedBy: warmed[at] ?? 0,
    }));
    const rate = Math.min(...throughput.map(({ perSecond }) => perSecond)) / 2;
    const asked = (/** @type {Section} */ section) => sections.includes(section);
    const latency = asked("latency") ? await latencies(servers, load, rate, milliseconds) : [];
    const concurrency = asked("concurrency") ? await byCallers(servers, load, milliseconds) : [];
    while (servers.length > 0) await servers.pop()?.ask("close");
    const grants = asked("grants") ? await byGrants(load, folder, extent) : [];
    return {
      about: {
        node: process.version,
        connections: CONNECTIONS,
        rounds,
        milliseconds,
        revocations,
        fsyncMilliseconds: fsyncTime(folder),
      },
      throughput,
      latency,
      concurrency,
      grants,
    };
  } finally {
    for (const server of servers) await server.ask("close");
    load.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Measures one stretch: calls per second, and microseconds of processor time per call.
 * @param {Server} server @param {Load} load @param {object} stretch
 */
async function stretchOf(server, load, stretch) {
  const before = await server.ask("cpu");
  const { calls, seconds, perSecond, p50, p99 } = await load.calls(server.address, stretch);
  const cpu = ((await server.ask("cpu")) - before) / calls;
  return { calls, seconds, perSecond, p50, p99, cpu };
}

/** @param {Server[]} servers @param {Load} load @param {Extent} extent */
async function inTurns(servers, load, { rounds, milliseconds }) {
  /** @type {Map<Kind, Stretch[]>} */
  const measured = new Map(servers.map(({ kind }) => [kind, []]));
  for (let round = -SETTLING; round < rounds; round++) {
    // Reverses the order of servers in every second round.
    for (const server of round % 2 === 0 ? servers : [...servers].reverse()) {
      const figures = await stretchOf(server, load, { milliseconds });
      if (round >= 0) measured.get(server.kind)?.push(figures);
    }
  }
  const bare = measured.get("bare") ?? [];
  return [...measured].map(([kind, all]) => ({
    kind,
    perSecond: Math.round(overall(all)),
    cpuMicroseconds: Math.round(quiet(all)),
    ofBare: rounded(overall(all) / overall(bare)),
    ofBareByCpu: rounded(quiet(bare) / quiet(all)),
  }));
}

/**
 * Returns the calls per second of all rounds together. A median would be the speed of one of two kinds of rounds, with
 * or without a full garbage collection.
 * @param {readonly Stretch[]} rounds
 */
function overall(rounds) {
  const sum = (/** @type {"calls" | "seconds"} */ what) =>
    rounds.reduce((all, one) => all + one[what], 0);
  return sum("calls") / sum("seconds");
}

/**
 * Returns the lower quartile of the processor time per call, which is from the quieter rounds. Other work on the
 * machine only adds processor time, because it empties caches and shares cores.
 * @param {readonly Stretch[]} rounds
 */
function quiet(rounds) {
  return rounds.map(({ cpu }) => cpu).sort((a, b) => a - b)[rounds.length >> 2] ?? Number.NaN;
}

/**
 * Returns latencies in milliseconds at a fixed arrival rate, the same for all servers.
 * @param {Server[]} servers @param {Load} load @param {number} rate calls per second @param {number}
 *   milliseconds
 */
async function latencies(servers, load, rate, milliseconds) {
  /** @type {Map<Kind, { p50: number, p99: number }[]>} */
  const measured = new Map(servers.map(({ kind }) => [kind, []]));
  for (let round = 0; round < 5; round++) {
    for (const server of servers) {
      const stretch = { connections: 50, rate, milliseconds: 2 * milliseconds };
      measured.get(server.kind)?.push(await stretchOf(server, load, stretch));
    }
  }
  return [...measured].map(([kind, all]) => ({
    kind,
    perSecond: Math.round(rate),
    p50: rounded(median(all.map(({ p50 }) => p50))),
    p99: rounded(median(all.map(({ p99 }) => p99))),
  }));
}

/** @param {Server[]} servers @param {Load} load @param {number} milliseconds */
async function byCallers(servers, load, milliseconds) {
  const measured = [];
  for (const callers of CONCURRENT) {
    for (const server of servers) {
      const stretch = { connections: callers, milliseconds };
      const { perSecond, p50, p99, cpu } = await stretchOf(server, load, stretch);
      const figures = { perSecond: Math.round(perSecond), cpuMicroseconds: Math.round(cpu) };
      measured.push({
        kind: server.kind,
        callers,
        ...figures,
        p50: rounded(p50),
        p99: rounded(p99),
      });
    }
  }
  return measured;
}

/** @param {Load} load @param {string} folder @param {Extent} extent */
async function byGrants(load, folder, { milliseconds, warming }) {
  const measured = [];
  for (const grants of GRANTS) {
    const server = await startChild("guarded", { grants, revocations: 0, folder });
    await warmUp(load, server, warming);
    const { perSecond, cpu } = await stretchOf(server, load, { milliseconds: 3 * milliseconds });
    await server.ask("close");
    measured.push({ grants, perSecond: Math.round(perSecond), cpuMicroseconds: Math.round(cpu) });
  }
  return measured;
}

/** Returns milliseconds of one fsync of a page, the median of several. @param {string} folder */
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
