import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createStores, openRevocations, openStores } from "../../../src/stores/index.js";
import {
  type Act,
  act,
  actWithin,
  capability,
  child,
  namesIn,
  posix,
  root,
  storageError,
  Talker,
  unprivileged,
} from "../../issuer/support.js";
import { onBothDatabases } from "../../support/databases.js";
import { FULL, sized } from "../../support/size.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const KILLS = sized(21, 1, 51);
const WATCHED = ["cap_1", "cap_2", "cap_3", "cap_4", "cap_5"];

function json(line: string | undefined): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(line ?? "{}");
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function texts(value: unknown): string[] {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`);
  return value.map(String);
}

/** Makes a store in another process: this process would keep a lock on the file for some time after closing it. */
function newStore(): { directory: string; path: string } {
  const directory = temporaryFolder();
  const path = join(directory, "proviso.db");
  expect(act(["create-store", path]).result).toBe(0);
  return { directory, path };
}

/** Parses whole lines only, since the kill may have cut off the last line. */
function acknowledgements(lines: readonly string[]): { id: string; version: number }[] {
  return lines
    .filter((line) => line.startsWith('{"id"') && line.endsWith("}"))
    .map((line) => ({ id: String(json(line)["id"]), version: Number(json(line)["version"]) }));
}

describe("a revocation store whose process is killed", () => {
  test(`has every acknowledged revocation after ${KILLS} kills`, {
    timeout: 120_000,
  }, async () => {
    const { path } = newStore();
    const acknowledged = new Set<string>();
    let version = 0;
    let killedWhileRevoking = 0;

    const look = (line: string | undefined): void => {
      const { ids, version: found, integrity } = json(line);
      const present = new Set(texts(ids));
      expect([...acknowledged].filter((id) => !present.has(id))).toEqual([]);
      expect(found).toBeGreaterThanOrEqual(version);
      expect(integrity).toEqual([{ integrity_check: "ok" }]);
    };

    for (let kill = 0; kill < KILLS; kill++) {
      // In every third round, two processes write concurrently, and one is killed as it starts.
      const names = kill % 3 === 0 ? [`a${kill}`, `b${kill}`] : [`a${kill}`];
      const writers = names.map((name) => new Talker("revoke-until-killed", [path, name]));
      const [first, second] = writers;
      if (second !== undefined) {
        await new Promise((resolve) => setTimeout(resolve, Math.random() * 150));
        await second.kill();
      }
      await first?.until(2);
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 30));
      await first?.kill();
      look(first?.lines[0]);
      const said = writers.flatMap(({ lines }) => acknowledgements(lines));
      for (const { id } of said) acknowledged.add(id);
      version = Math.max(version, ...said.map((one) => one.version));
      if (said.length > 0) killedWhileRevoking++;
    }
    const last = new Talker("revoke-until-killed", [path]);
    expect(await last.end()).toBe("");
    look(last.lines[0]);
    expect(killedWhileRevoking).toBe(KILLS);
    expect(acknowledged.size).toBeGreaterThanOrEqual(sized(KILLS + 1, KILLS));
  });
});

onBothDatabases((place) => {
  test("several processes see each other's revocations within a second", async () => {
    const path = await place();
    const database = await createStores(path);
    const store = await openRevocations(database);
    const watcher = new Talker("watch", [path]);
    await watcher.until(1);
    // This store knows the entry of the other process after its next read.
    await expect.poll(() => store.version, { interval: 5 }).toBe(1);
    const query = { links: [], capability: "cap_watcher", keys: ["key_1"], issued: 0 };
    expect(store.find(query).map(({ id }) => id)).toEqual(["cap_watcher"]);
    // Test the shortest of several waits, since the machine may be busy with other tests.
    const waits: number[] = [];
    for (const [at, id] of WATCHED.entries()) {
      await store.add(capability(id));
      const start = performance.now();
      await watcher.until(2 + at);
      waits.push(performance.now() - start);
    }
    expect(Math.min(...waits)).toBeLessThan(1000);
    expect(watcher.lines).toEqual(["cap_watcher", ...WATCHED]);
    await watcher.kill();
    await database.close();
  });
});

if (FULL) {
  describe("one database file and several processes", () => {
    test("a process that holds the lock makes writers fail after 2 seconds, and readers continue", async () => {
      const path = join(temporaryFolder(), "proviso.db");
      const database = await createStores(path);
      const store = await openRevocations(database);
      await store.add(capability("cap_1"));
      const holder = new Talker("hold", [path, "BEGIN EXCLUSIVE"]);
      await holder.until(1);
      const start = performance.now();
      expect((await storageError(() => store.add(capability("cap_2")))).code).toBe("store_locked");
      expect(performance.now() - start).toBeGreaterThan(1800);
      expect(await store.list()).toHaveLength(1);
      expect(store.problem).toBeUndefined();
      const other = await openStores(path);
      expect(await (await openRevocations(other)).list()).toHaveLength(1);
      await other.close();
      // A lock ends with the process that holds it, even if that process is killed.
      await holder.kill();
      await store.add(capability("cap_2"));
      expect(store.version).toBe(2);
      await database.close();
    });

    test("a process with an exclusive lock makes opening fail with store_locked", async () => {
      const { path } = newStore();
      const sql = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM revocation";
      const holder = new Talker("hold", [path, sql]);
      await holder.until(1);
      expect(act(["open-store", path]).code).toBe("store_locked");
      await holder.kill();
      expect(act(["open-store", path]).result).toEqual([]);
    });
  });
}

describe.runIf(posix)("a full disk", () => {
  /** Checks that reopening the store shows exactly the acknowledged entries. */
  function expectIntact(path: string, filled: Act): void {
    const { added, inMemory, version, code } = json(JSON.stringify(filled.result));
    expect(code).toBe("store_full");
    const acknowledged = texts(added);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(inMemory).toEqual(acknowledged);
    expect(version).toBe(acknowledged.length);
    expect(act(["open-store", path]).result).toEqual(acknowledged);
    expect(act(["add-to-store", path, "cap_more"]).result).toBe(acknowledged.length + 1);
  }

  test("(a file size limit) loses no acknowledged revocation, and keeps no refused one", async () => {
    const { directory, path } = newStore();
    expectIntact(path, actWithin(200, ["fill-store", path]));
    expect(namesIn(directory)).toEqual(["proviso.db"]);
  });

  test("(a file size limit) makes creating a store fail, and leaves no file", () => {
    const directory = temporaryFolder();
    const { code } = actWithin(2, ["create-store", join(directory, "proviso.db")]);
    expect(code).toBe("store_full");
    expect(namesIn(directory)).toEqual([]);
  });

  const disk = join(temporaryMount(), "disk");
  if (FULL) {
    test.runIf(mountable(disk))(
      "(a real disk of 512 KiB) loses no acknowledged revocation",
      async () => {
        mkdirSync(disk, { recursive: true });
        spawnSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", disk]);
        try {
          const path = join(disk, "proviso.db");
          writeFileSync(join(disk, "ballast"), "x".repeat(65_536));
          expect(act(["create-store", path]).result).toBe(0);
          const filled = act(["fill-store", path]);
          rmSync(join(disk, "ballast"));
          expectIntact(path, filled);

          writeFileSync(join(disk, "ballast"), "");
          spawnSync("dd", ["if=/dev/zero", `of=${join(disk, "ballast")}`, "bs=1k"]);
          expect(act(["create-store", join(disk, "more.db")]).code).toBe("store_full");
          const keys = act(["create-keys", join(disk, "keys.json")]);
          expect(keys.message).toContain("no space is left on the disk");
          expect(namesIn(disk)).toEqual(["ballast", "proviso.db"]);
        } finally {
          spawnSync("umount", ["-l", disk]);
        }
      },
    );
  }
});

function temporaryMount(): string {
  return join(process.cwd(), "node_modules", ".cache", "proviso-test");
}

/** Returns whether this user may mount a file system. Containers often forbid it. */
function mountable(path: string): boolean {
  if (!root || process.platform !== "linux") return false;
  mkdirSync(path, { recursive: true });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", path]);
  if (status === 0) spawnSync("umount", [path]);
  return status === 0;
}

describe.runIf(posix)("without permission", () => {
  test("to read, opening a store fails", async () => {
    const { directory, path } = newStore();
    if (root) chmodSync(directory, 0o755);
    else chmodSync(path, 0o000);
    expect(act(["open-store", path], unprivileged).code).toBe("store_unreadable");
  });

  if (FULL) {
    test("to write, a store can be opened and read, but not changed", async () => {
      const { directory, path } = newStore();
      // Keep the database open in another process, so that the files beside it exist.
      const holder = new Talker("hold", [
        path,
        "PRAGMA user_version; SELECT * FROM revocation_state",
      ]);
      await holder.until(1);
      chmodSync(directory, 0o755);
      for (const end of ["", "-wal", "-shm"]) {
        if (root) chownSync(path + end, 65534, 65534);
        chmodSync(path + end, 0o400);
      }
      expect(act(["open-store", path], unprivileged)).toEqual({ result: [] });
      const { code, message } = act(["add-to-store", path, "cap_1"], unprivileged);
      expect(code).toBe("store_unwritable");
      expect(message).toContain(path);
      await holder.kill();
    });
  }

  test("to write the directory, creating a store fails", () => {
    const directory = temporaryFolder();
    if (root) chownSync(directory, 65534, 65534);
    chmodSync(directory, 0o555);
    const { code } = act(["create-store", join(directory, "proviso.db")], unprivileged);
    chmodSync(directory, 0o755);
    expect(code).toBe("store_folder_unwritable");
    expect(namesIn(directory)).toEqual([]);
  });
});

test("without the package libsql, opening and creating a store fail and say how to install it", async () => {
  const { directory, path } = newStore();
  const before = ["--import", child("without-libsql")];
  for (const words of [
    ["open-store", path],
    ["create-store", join(directory, "more.db")],
  ]) {
    const { code, message } = act(words, {}, before);
    expect(code).toBe("store_unavailable");
    expect(message).toContain("npm install libsql");
  }
  // Key files need no database.
  expect(act(["create-keys", join(directory, "keys.json")], {}, before)).toEqual({});
  expect(statSync(join(directory, "keys.json")).isFile()).toBe(true);
});

describe.runIf(posix)("deleting the database's log under a running agent", () => {
  test("makes each later revocation fail, so that none is acknowledged and lost", async () => {
    const { path } = newStore();
    const { added, codes } = json(JSON.stringify(act(["revoke-without-log", path]).result));
    expect(added).toEqual(["cap_before"]);
    expect(texts(codes)).toHaveLength(3);
    for (const code of texts(codes)) expect(code).toMatch(/^store_(replaced|missing)$/);
    expect(act(["open-store", path]).result).toEqual(["cap_before"]);
  });
});
