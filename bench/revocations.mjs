// The revocation list at 10 million entries (1 million with --quick): memory with its peak while it grows,
// look-ups beside a Set of the same ids in turns, expiry, the saved list, and the compact form. Run as
//   node --expose-gc bench/revocations.mjs [--quick] [--json]
// after npm run build; --json prints the figures as JSON. run({ quick }) gives them.

import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  createRevocationFilter,
  readRevocationFilter,
} from "../dist/src/revocation/filter/fuse-filter.js";
import { PackedIds } from "../dist/src/revocation/packed/packed-ids.js";
import { PackedTable } from "../dist/src/revocation/packed/packed-table.js";
import { readListFile, writeListFile } from "../dist/src/stores/revocations/list-file.js";

const ROUNDS = 5;
const ASKED = 500_000;

function newId() {
  return `rv_${randomBytes(16).toString("base64url")}`;
}

function memory() {
  const { rss, arrayBuffers } = process.memoryUsage();
  return { rss, arrayBuffers };
}

/** @param {number[]} values */
function median(values) {
  return values.toSorted((a, b) => a - b)[values.length >> 1];
}

/**
 * Nanoseconds for one look-up.
 * @param {string[]} asked
 * @param {(id: string) => boolean} look
 */
function timed(asked, look) {
  let found = 0;
  const began = performance.now();
  for (const id of asked) if (look(id)) found++;
  return { time: ((performance.now() - began) * 1e6) / asked.length, found };
}

/**
 * Milliseconds of each step, by the clock and of processor time: on a machine that does other work, too, a
 * step may wait for its turn.
 * @param {Iterable<unknown>} work
 */
function steps(work) {
  /** @type {number[]} */
  const taken = [];
  let [longest, longestProcessor] = [0, 0];
  let began = performance.now();
  let used = process.cpuUsage();
  for (const _ of work) {
    const { user, system } = process.cpuUsage(used);
    const time = performance.now() - began;
    taken.push(time);
    longest = Math.max(longest, time);
    longestProcessor = Math.max(longestProcessor, (user + system) / 1000);
    began = performance.now();
    used = process.cpuUsage();
  }
  return { median: median(taken) ?? 0, longest, longestProcessor };
}

/** @param {PackedIds} ids */
async function savedFigures(ids) {
  const folder = mkdtempSync(join(tmpdir(), "proviso-bench-"));
  try {
    const path = join(folder, "list");
    const began = performance.now();
    const digest = await writeListFile(path, new PackedTable(ids));
    const written = performance.now();
    let calls = 0;
    const table = await readListFile(
      path,
      (found) => found === digest,
      () => calls++,
    );
    if (table.size !== ids.size) throw new Error("ids are missing");
    const read = performance.now();
    return {
      savedWriteSeconds: (written - began) / 1000,
      savedReadSeconds: (read - written) / 1000,
      savedBytesPerEntry: statSync(path).size / ids.size,
      savedProgressCalls: calls,
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** @param {PackedIds} ids */
function filterFigures(ids) {
  const began = performance.now();
  const bytes = createRevocationFilter(ids).toBytes();
  const filterSeconds = (performance.now() - began) / 1000;
  const filter = readRevocationFilter(bytes);
  for (const id of ids.ids()) if (!filter.mayHave(id)) throw new Error("an id is missing");
  const asked = 2_000_000;
  let hits = 0;
  for (let at = 0; at < asked; at++) if (filter.mayHave(newId())) hits++;
  return {
    filterSeconds,
    filterBytesPerEntry: bytes.length / ids.size,
    falseHitRate: hits / asked,
  };
}

export async function run({ quick = false } = {}) {
  const count = quick ? 1_000_000 : 10_000_000;
  /** @type {Record<string, number>} */
  const figures = { entries: count };
  globalThis.gc?.();
  const empty = memory();
  const ids = new PackedIds("rv_");
  const [half, whole] = [1_000_000_000, 2_000_000_000];
  let peak = 0;
  let adding = 0;
  /** @type {string[]} */
  const kept = [];
  const every = Math.ceil(count / ASKED);
  for (let done = 0; done < count; ) {
    const some = Array.from({ length: 10_000 }, newId);
    const began = performance.now();
    for (const [at, id] of some.entries()) ids.add(id, at % 2 === 0 ? half : whole);
    adding += performance.now() - began;
    for (let at = 0; at < some.length; at += every) kept.push(some[at] ?? "");
    done += some.length;
    const now = memory();
    peak = Math.max(peak, now.arrayBuffers - empty.arrayBuffers);
  }
  figures["bytesPerEntry"] = ids.bytes / count;
  figures["arrayBuffersPeakPerEntry"] = peak / count;
  figures["addNanoseconds"] = (adding * 1e6) / count;
  globalThis.gc?.();
  const full = memory();
  figures["rssPerEntry"] = (full.rss - empty.rss) / count;

  // Texts of their own, as those that come with a request, not those in the set.
  /** @param {string[]} texts */
  const fresh = (texts) => texts.map((id) => Buffer.from(id).toString("latin1"));
  const set = new Set(ids.ids());
  globalThis.gc?.();
  figures["setRssPerEntry"] = (memory().rss - full.rss) / count;
  const misses = Array.from({ length: kept.length }, newId);
  /** @type {Record<string, number[]>} */
  const times = { packedHit: [], setHit: [], packedMiss: [], setMiss: [] };
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? ["packed", "set"] : ["set", "packed"];
    for (const kind of ["Hit", "Miss"]) {
      const texts = kind === "Hit" ? kept : misses;
      for (const which of order) {
        const asked = fresh(texts);
        /** @param {string} id */
        const look = (id) => (which === "set" ? set.has(id) : ids.get(id) !== undefined);
        const { time, found } = timed(asked, look);
        if (found !== (kind === "Hit" ? asked.length : 0)) throw new Error("a wrong answer");
        times[which + kind]?.push(time);
      }
    }
  }
  for (const [name, values] of Object.entries(times))
    figures[`${name}Nanoseconds`] = median(values) ?? 0;
  const { packedHit = [], setHit = [], packedMiss = [], setMiss = [] } = times;
  figures["hitToSet"] = (median(packedHit) ?? 0) / (median(setHit) ?? 1);
  figures["missToSet"] = (median(packedMiss) ?? 0) / (median(setMiss) ?? 1);
  set.clear();
  Object.assign(figures, await savedFigures(ids), filterFigures(ids));

  // What the set leaves behind is not collected during the steps that are measured.
  globalThis.gc?.();
  // Growth is among these: one of them in a thousand or so moves a segment's entries.
  const more = Array.from({ length: 200_000 }, newId);
  figures["addLongestProcessorMilliseconds"] = steps(
    (function* () {
      for (const id of more) yield ids.add(id, whole);
    })(),
  ).longestProcessor;

  globalThis.gc?.();
  const before = ids.size;
  const began = performance.now();
  const pruning = steps(ids.pruning(half));
  figures["pruned"] = before - ids.size;
  figures["pruneSeconds"] = (performance.now() - began) / 1000;
  figures["pruneStepMilliseconds"] = pruning.median;
  figures["pruneLongestMilliseconds"] = pruning.longest;
  figures["pruneLongestProcessorMilliseconds"] = pruning.longestProcessor;
  return figures;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const figures = await run({ quick: process.argv.includes("--quick") });
  if (process.argv.includes("--json")) console.log(JSON.stringify(figures, null, 2));
  else console.table(figures);
}
