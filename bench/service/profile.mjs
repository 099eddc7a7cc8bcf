// What a CPU profile of the inspector says, by file of ours and by package of others.

/** @import { Profiler } from "node:inspector" */

/**
 * Self time by file or package, the largest first.
 * @param {Profiler.Profile} profile
 */
export function selfTimes({ nodes, samples = [], timeDeltas = [] }) {
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  /** @type {Map<string, number>} */
  const times = new Map();
  let all = 0;
  samples.forEach((id, at) => {
    const name = names.get(id) ?? "unknown";
    const time = timeDeltas[at] ?? 0;
    if (name === "(idle)") return;
    times.set(name, (times.get(name) ?? 0) + time);
    all += time;
  });
  return [...times]
    .sort(([, a], [, b]) => b - a)
    .map(([what, microseconds]) => ({ what, microseconds, share: microseconds / all }));
}

/** @param {{ url: string, functionName: string }} frame */
function nameOf({ url, functionName }) {
  const [, own] = /\/dist\/(src\/.+)$/.exec(url.includes("node_modules") ? "" : url) ?? [];
  if (own !== undefined) return own;
  const [, name] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (name !== undefined) return name;
  if (url.startsWith("node:")) return url;
  return functionName === "" || url !== "" ? "bench" : `${functionName}`;
}
