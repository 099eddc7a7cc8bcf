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

/** Look-ups of one token with four links and its capability's. */
const TOGETHER = 5;
/** Texts that are made anew, then looked up: as with a request, they are at hand, and not those in the set. */
const FRESH = 500;

/**
 * Nanoseconds for one look-up.
 * @param {string[]} texts
 * @param {(ids: string[]) => number} look How many of some ids are in the list.
 * @param {number} by How many are looked up in one call.
 */
function timed(texts, look, by) {
  let [found, time] = [0, 0];
  for (let from = 0; from < texts.length; from += FRESH) {
    const fresh = texts.slice(from, from + FRESH).map((id) => Buffer.from(id).toString("latin1"));
    const calls = [];
    for (let at = 0; at < fresh.length; at += by) calls.push(fresh.slice(at, at + by));
    const began = performance.now();
    for (const ids of calls) found += look(ids);
    time += performance.now() - began;
  }
  return { time: (time * 1e6) / texts.length, found };
}

/**
 * Milliseconds of each step, by the clock, and what it can have taken of a processor: on a machine that does other
 * work, too, a step may wait for its turn, and the processor time of the process is that of all its threads, such as
 * those that sweep after a collection. A step takes no more than either.
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
    longestProcessor = Math.max(longestProcessor, Math.min(time, (user + system) / 1000));
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

  const set = new Set(ids.ids());
  globalThis.gc?.();
  figures["setRssPerEntry"] = (memory().rss - full.rss) / count;
  const misses = Array.from({ length: kept.length }, newId);
  /** @type {Record<string, (ids: string[]) => number>} */
  const ways = {
    packed: (some) => some.reduce((sum, id) => (ids.get(id) === undefined ? sum : sum + 1), 0),
    set: (some) => some.reduce((sum, id) => (set.has(id) ? sum + 1 : sum), 0),
    together: (some) => ids.which(some).length,
  };
  /** @type {Record<string, number[]>} */
  const times = {};
  for (let round = 0; round < ROUNDS; round++) {
    const order = round % 2 === 0 ? Object.keys(ways) : Object.keys(ways).toReversed();
    for (const { kind, texts, count } of [
      { kind: "Hit", texts: kept, count: kept.length },
      { kind: "Miss", texts: misses, count: 0 },
    ]) {
      for (const which of order) {
        const way = ways[which];
        if (way === undefined) continue;
        const by = which === "together" ? TOGETHER : 1;
        const { time, found } = timed(texts, way, by);
        if (found !== count) throw new Error("a wrong answer");
        times[which + kind] = [...(times[which + kind] ?? []), time];
      }
    }
  }
  for (const [name, values] of Object.entries(times))
    figures[`${name}Nanoseconds`] = median(values) ?? 0;
  const ratio = (/** @type {string} */ one, /** @type {string} */ other) =>
    (figures[`${one}Nanoseconds`] ?? 0) / (figures[`${other}Nanoseconds`] ?? 1);
  figures["hitToSet"] = ratio("packedHit", "setHit");
  figures["missToSet"] = ratio("packedMiss", "setMiss");
  figures["hitTogetherToAlone"] = ratio("togetherHit", "packedHit");
  figures["missTogetherToAlone"] = ratio("togetherMiss", "packedMiss");
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
