// Measures the revocation list at 10 million entries (1 million with --quick): memory with its peak while it
// grows, look-ups in turns with a Set of the same ids, and expiry. Run as
//   node --expose-gc bench/revocations.mjs [--quick] [--json]
// after npm run build; --json prints the figures as JSON. run({ quick }) returns them.

import { randomBytes } from "node:crypto";
import { pathToFileURL } from "node:url";
import { PackedIds } from "../dist/src/stores/revocations/packed-ids.js";

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

/** Number of ids that are looked up at a time. They are new strings, as in a request, not the strings in the set. */
const FRESH = 500;

/**
 * Nanoseconds for one look-up.
 * @param {string[]} texts
 * @param {(ids: string[]) => number} look Counts how many of some ids are in the list.
 */
function timed(texts, look) {
  let [found, time] = [0, 0];
  for (let from = 0; from < texts.length; from += FRESH) {
    const fresh = texts.slice(from, from + FRESH).map((id) => Buffer.from(id).toString("latin1"));
    const began = performance.now();
    found += look(fresh);
    time += performance.now() - began;
  }
  return { time: (time * 1e6) / texts.length, found };
}

/**
 * Returns the milliseconds of each step, in elapsed time and in processor time. On a busy machine a step may wait for
 * the processor, so elapsed time can be too long. Processor time includes other threads of the process, such as those
 * of the garbage collector. A step takes at most the smaller of the two times.
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

  /** @type {Set<string>} */
  const set = new Set();
  for (const id of kept) set.add(id);
  while (set.size < count) set.add(newId());
  globalThis.gc?.();
  figures["setRssPerEntry"] = (memory().rss - full.rss) / count;
  const misses = Array.from({ length: kept.length }, newId);
  /** @type {Record<string, (ids: string[]) => number>} */
  const ways = {
    packed: (some) => some.reduce((sum, id) => (ids.get(id) === undefined ? sum : sum + 1), 0),
    set: (some) => some.reduce((sum, id) => (set.has(id) ? sum + 1 : sum), 0),
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
        const { time, found } = timed(texts, way);
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
  set.clear();

  // Collects the garbage of the set before the measured steps.
  globalThis.gc?.();
  // Some of these additions split a page of the list.
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
