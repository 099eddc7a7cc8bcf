// The service's throughput, which bench/service/run.mjs measures in separate processes.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rounded } from "../measure.mjs";

/** @import { Figures } from "../measure.mjs" */
/** @import { Service } from "./service.mjs" */

const PROGRAM = fileURLToPath(new URL("../service/run.mjs", import.meta.url));

/** @param {boolean} quick @returns {Service} */
function measured(quick) {
  const folder = mkdtempSync(join(tmpdir(), "proviso-bench-"));
  const file = join(folder, "service.json");
  try {
    const args = [PROGRAM, "--json", file, ...(quick ? ["--quick"] : [])];
    const { status, signal } = spawnSync(process.execPath, args, {
      stdio: ["ignore", "ignore", "inherit"],
    });
    if (status !== 0) throw new Error(`bench/service/run.mjs ended: ${status ?? signal}`);
    return JSON.parse(readFileSync(file, "utf8"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @param {{ quick: boolean }} size @returns {Promise<Figures[]>} */
export async function run({ quick }) {
  return figuresOf(measured(quick));
}

/** @param {Service} service @returns {Figures[]} */
export function figuresOf({ about, throughput, latency, concurrency }) {
  /** @type {Record<string, number>} */
  const ratios = {};
  for (const { kind, ofBare, ofBareByCpu } of throughput) {
    if (kind === "bare") continue;
    ratios[`service, ${kind}: speed to bare`] = ofBare;
    ratios[`service, ${kind}: speed to bare by the processor's time`] = ofBareByCpu;
  }
  const base = latency.find(({ kind }) => kind === "bare")?.p99 ?? Number.NaN;
  for (const { kind, p99 } of latency) {
    if (kind !== "bare") ratios[`service, ${kind}: time at p99 to bare`] = rounded(p99 / base);
  }
  const kinds = [...new Set(concurrency.map(({ kind }) => kind))];
  return [
    {
      title: "Calls of the service",
      about:
        `SendMessage with one skill call over loopback, ${about.connections} connections, ` +
        `${about.rounds} rounds of ${about.milliseconds} ms in turns, ` +
        `${about.revocations.toLocaleString("en-US")} revocations, fsync ${about.fsyncMilliseconds} ms.`,
      columns: ["server", "calls/s", "of bare", "µs of the processor a call", "of bare by that"],
      rows: throughput.map((one) => [
        one.kind,
        one.perSecond,
        one.ofBare,
        one.cpuMicroseconds,
        one.ofBareByCpu,
      ]),
      ratios,
    },
    {
      title: "Waiting for the service",
      about: "Milliseconds at a fixed rate of arrival, half of what the slowest server answers.",
      columns: ["server", "calls/s", "p50", "p99"],
      rows: latency.map(({ kind, perSecond, p50, p99 }) => [kind, perSecond, p50, p99]),
      ratios: {},
    },
    {
      title: "Cost as callers grow",
      about:
        "Milliseconds that half of the calls take at most, by the number of concurrent callers.",
      columns: ["callers", ...kinds],
      rows: [...new Set(concurrency.map(({ callers }) => callers))].map((callers) => [
        callers,
        ...kinds.map((kind) => p50Of(concurrency, kind, callers)),
      ]),
      ratios: {},
    },
  ];
}

/** @param {Service["concurrency"]} all @param {string} kind @param {number} callers */
function p50Of(all, kind, callers) {
  return all.find((one) => one.kind === kind && one.callers === callers)?.p50 ?? null;
}
