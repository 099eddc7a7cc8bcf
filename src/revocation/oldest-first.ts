import type { KeptRevocation } from "./entry.js";
import { Pace } from "./pace.js";

/** Number of entries sorted in one step, which takes about a millisecond. */
const RUN = 4096;

/**
 * Sorts entries by the time of the revocation; entries of the same second keep their order. Pauses regularly, so that
 * other work can run.
 */
export async function oldestFirst(entries: Iterable<KeptRevocation>): Promise<KeptRevocation[]> {
  const pace = new Pace();
  let runs: KeptRevocation[][] = [[]];
  for (const entry of entries) {
    if (runs.at(-1)?.length === RUN) runs.push([]);
    runs.at(-1)?.push(entry);
    if (pace.isOver) await pace.rest();
  }
  for (const run of runs) {
    run.sort((a, b) => a.record.at - b.record.at);
    if (pace.isOver) await pace.rest();
  }
  while (runs.length > 1) {
    const longer: KeptRevocation[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(await merged(runs[at] ?? [], runs[at + 1] ?? [], pace));
    }
    runs = longer;
  }
  return runs[0] ?? [];
}

async function merged(
  early: readonly KeptRevocation[],
  late: readonly KeptRevocation[],
  pace: Pace,
): Promise<KeptRevocation[]> {
  const all: KeptRevocation[] = [];
  for (let [a, b] = [0, 0]; ; ) {
    const [one, other] = [early[a], late[b]];
    const next = !other || (one && one.record.at <= other.record.at) ? one : other;
    if (next === undefined) return all;
    all.push(next);
    if (next === one) a++;
    else b++;
    if (pace.isOver) await pace.rest();
  }
}
