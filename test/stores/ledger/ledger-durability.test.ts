import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { child, namesIn, posix, Talker } from "../../issuer/support.js";
import { sized } from "../../support/size.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const KILLS = sized(12, 1, 30);
/** Longest time that a note may wait, in milliseconds, with a margin for a busy machine. */
const WINDOW = 1500;
/** Length of the longer rounds, in milliseconds. Their first notes are older than the window. */
const LONG = WINDOW + 400;
/** Longest time between two notes, in milliseconds, that counts as running. The rest is a pause of the process. */
const STEP = 100;

/** Parses a line of the child's output. A line that the kill has cut off becomes an empty object. */
function parsed(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}

function texts(value: unknown): string[] {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`);
  return value.map(String);
}

/** Returns how long a process ran, by the times of its notes. */
function ran(times: readonly number[]): number {
  const steps = times.slice(1).map((time, at) => time - (times[at] ?? time));
  return steps.reduce((sum, step) => sum + Math.min(step, STEP), 0);
}

/** Returns the notes in the output of a process, with their times. */
function notesIn(lines: readonly string[]): { readonly note: string; readonly at: number }[] {
  return lines
    .map(parsed)
    .flatMap(({ noted, at }) =>
      typeof noted === "string" ? [{ note: noted, at: Number(at) }] : [],
    );
}

describe("a ledger whose process is killed", () => {
  test(`${KILLS} times keeps every committed event, and every noted event except those of the last 1.5 seconds`, {
    timeout: 180_000,
  }, async () => {
    const path = join(temporaryFolder(), "proviso.db");
    const committed = new Set<string>();
    const noted = new Set<string>();

    const look = (line: string | undefined): void => {
      const { purposes, issued, integrity, gaps } = parsed(line ?? "");
      const present = new Set(texts(purposes));
      const kept = new Set(texts(issued));
      expect([...committed].filter((id) => !present.has(id) || !kept.has(id))).toEqual([]);
      expect([...noted].filter((id) => !present.has(id))).toEqual([]);
      expect(integrity).toEqual([{ integrity_check: "ok" }]);
      expect(gaps).toEqual([]);
      expect(texts(purposes)).toHaveLength(present.size);
    };

    for (let kill = 0; kill < KILLS; kill++) {
      // In every third round, two processes write concurrently, and one is killed as it starts.
      const names = kill % 3 === 0 ? [`a${kill}`, `b${kill}`] : [`a${kill}`];
      const writers = names.map((name) => new Talker("record-until-killed", [path, name]));
      const [first, second] = writers;
      if (second !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 300));
        await second.kill();
      }
      await first?.until(3);
      if (kill % 10 === (KILLS - 1) % 10) {
        const times = () => notesIn(first?.lines ?? []).map(({ at }) => at);
        await expect.poll(() => ran(times())).toBeGreaterThan(LONG);
      } else await new Promise((resolve) => setTimeout(resolve, Math.random() * 40));
      await first?.kill();
      if (kill > 0 || second === undefined) look(first?.lines[0]);
      for (const { lines } of writers) {
        for (const { committed: id } of lines.map(parsed)) {
          if (typeof id === "string") committed.add(id);
        }
        const notes = notesIn(lines);
        const times = notes.map(({ at }) => at);
        for (const [at, { note }] of notes.entries()) {
          if (ran(times.slice(at)) > WINDOW) noted.add(note);
        }
      }
    }
    const last = new Talker("record-until-killed", [path]);
    expect(await last.end()).toBe("");
    look(last.lines[0]);
    expect(committed.size).toBeGreaterThan(KILLS);
    expect(noted.size).toBeGreaterThan(3);
    // A process that is killed while it creates the database leaves a temporary file, which another process
    // removes a minute later.
    const names = namesIn(join(path, "..")).filter((name) => !name.startsWith(".proviso.db."));
    expect(names).toEqual(["proviso.db"]);
  });
});

test("an open ledger with pending notes does not keep its process alive", async () => {
  const path = join(temporaryFolder(), "proviso.db");
  const start = performance.now();
  const idle = new Talker("record-until-killed", [path, "idle"]);
  expect(await idle.end()).toBe("");
  expect(performance.now() - start).toBeLessThan(30_000);
  const [line] = idle.lines;
  expect(parsed(line ?? "")["purposes"]).toEqual([]);
});

test.runIf(posix)(
  "a ledger that reaches the file size limit refuses to commit, and its process continues",
  () => {
    const path = join(temporaryFolder(), "proviso.db");
    const command = 'ulimit -f 600; exec "$@"';
    const words = ["bash", process.execPath, child("fill-ledger"), path];
    const { stdout, stderr } = spawnSync("bash", ["-c", command, ...words], { timeout: 50_000 });
    expect(String(stderr)).toBe("");
    const { committed, refused, problems, code } = parsed(String(stdout));
    expect(refused).toBe("store_full");
    expect([problems, code]).toEqual([["store_full"], "store_full"]);
    const ledger = spawnSync(process.execPath, [child("record-until-killed"), path]);
    const { purposes } = parsed(String(ledger.stdout));
    expect(texts(purposes).length).toBeGreaterThan(5);
    expect(purposes).toEqual(committed);
  },
);
