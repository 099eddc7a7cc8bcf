import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createRevocationStore, openRevocationStore } from "../../../src/stores/index.js";
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
import { sized } from "../../support/size.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const KILLS = sized(51, 1);

function json(line: string | undefined): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(line ?? "{}");
  return typeof value === "object" && value !== null ? { ...value } : {};
}

function texts(value: unknown): string[] {
  if (!Array.isArray(value)) throw new Error(`not a list: ${JSON.stringify(value)}`);
  return value.map(String);
}

async function newStore(): Promise<{ directory: string; path: string }> {
  const directory = temporaryFolder();
  const path = join(directory, "store.db");
  const { result } = act(["create-store", path]);
  expect(result).toBe(0);
  return { directory, path };
}

/** Whole lines only: the last may have been cut by the kill. */
function acknowledgements(lines: readonly string[]): { id: string; version: number }[] {
  return lines
    .filter((line) => line.startsWith('{"id"') && line.endsWith("}"))
    .map((line) => ({ id: String(json(line)["id"]), version: Number(json(line)["version"]) }));
}

describe("killed without warning", () => {
  test(`after ${KILLS} kills, every acknowledged revocation is there`, {
    timeout: 120_000,
  }, async () => {
    const { path } = await newStore();
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
      // Every third time, two processes write at once, and one of them is killed as it starts.
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

describe("several processes", () => {
  test("see each other's revocations within a second", async () => {
    const path = join(temporaryFolder(), "store.db");
    const store = await createRevocationStore(path);
    const watcher = new Talker("watch", [path]);
    await watcher.until(1);
    await new Promise((resolve) => setTimeout(resolve, 150));
    const query = { links: [], capability: "cap_watcher", key: "key_1", issued: 0 };
    expect(store.find(query).map(({ id }) => id)).toEqual(["cap_watcher"]);
    for (const [at, id] of ["cap_parent", "cap_later"].entries()) {
      store.add(capability(id));
      const start = performance.now();
      await watcher.until(2 + at);
      expect(performance.now() - start).toBeLessThan(1000);
    }
    expect(watcher.lines).toEqual(["cap_watcher", "cap_parent", "cap_later"]);
    await watcher.kill();
    store.close();
  });

  test("one that holds the lock makes others fail after 2 seconds, and they go on reading", async () => {
    const path = join(temporaryFolder(), "store.db");
    const store = await createRevocationStore(path, { refreshEvery: 0 });
    store.add(capability("cap_1"));
    const holder = new Talker("hold", [path, "BEGIN EXCLUSIVE"]);
    await holder.until(1);
    const start = performance.now();
    expect((await storageError(() => store.add(capability("cap_2")))).code).toBe("store_locked");
    expect(performance.now() - start).toBeGreaterThan(1800);
    const reading = performance.now();
    expect(store.list()).toHaveLength(1);
    expect(store.problem).toBeUndefined();
    const opened = await openRevocationStore(path);
    expect(opened.list()).toHaveLength(1);
    opened.close();
    expect(performance.now() - reading).toBeLessThan(1000);
    // A lock goes with its holder, however that ends.
    await holder.kill();
    store.add(capability("cap_2"));
    expect(store.version).toBe(2);
    store.close();
  });

  test("one that shuts all others out makes opening fail", async () => {
    const { path } = await newStore();
    const sql = "PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; DELETE FROM revocation";
    const holder = new Talker("hold", [path, sql]);
    await holder.until(1);
    expect(act(["open-store", path]).code).toBe("store_locked");
    await holder.kill();
    expect(act(["open-store", path]).result).toEqual([]);
  });
});

describe.runIf(posix)("a full disk", () => {
  /** What was acknowledged is there when the store is opened again; what was not, is not. */
  function expectIntact(path: string, filled: Act): void {
    const { added, inMemory, version, code, hint } = json(JSON.stringify(filled.result));
    expect(code).toBe("store_full");
    expect(hint).toContain("free space");
    const acknowledged = texts(added);
    expect(acknowledged.length).toBeGreaterThan(0);
    expect(inMemory).toEqual(acknowledged);
    expect(version).toBe(acknowledged.length);
    expect(act(["open-store", path]).result).toEqual(acknowledged);
    expect(act(["add-to-store", path, "cap_more"]).result).toBe(acknowledged.length + 1);
  }

  test("as a limit on the file: nothing acknowledged is lost, nothing refused is there", async () => {
    const { directory, path } = await newStore();
    expectIntact(path, actWithin(200, ["fill-store", path]));
    expect(namesIn(directory)).toEqual(["store.db"]);
  });

  test("as a limit on the file: making a store leaves nothing behind", () => {
    const directory = temporaryFolder();
    const { code } = actWithin(2, ["create-store", join(directory, "store.db")]);
    expect(code).toBe("store_full");
    expect(namesIn(directory)).toEqual([]);
  });

  const disk = join(temporaryMount(), "disk");
  test.runIf(mountable(disk))("as a real disk of 512 KiB", () => {
    mkdirSync(disk, { recursive: true });
    spawnSync("mount", ["-t", "tmpfs", "-o", "size=512k", "tmpfs", disk]);
    try {
      const path = join(disk, "store.db");
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
      expect(namesIn(disk)).toEqual(["ballast", "store.db"]);
    } finally {
      spawnSync("umount", ["-l", disk]);
    }
  });
});

function temporaryMount(): string {
  return join(process.cwd(), "node_modules", ".cache", "proviso-test");
}

/** Whether this user may mount a file system here; containers often forbid it. */
function mountable(path: string): boolean {
  if (!root || process.platform !== "linux") return false;
  mkdirSync(path, { recursive: true });
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", "size=64k", "tmpfs", path]);
  if (status === 0) spawnSync("umount", [path]);
  return status === 0;
}

describe.runIf(posix)("without the rights", () => {
  test("a store that this user may not open", async () => {
    const { directory, path } = await newStore();
    if (root) chmodSync(directory, 0o755);
    else chmodSync(path, 0o000);
    expect(act(["open-store", path], unprivileged).code).toBe("store_unreadable");
  });

  test("a store that this user may only read", async () => {
    const { directory, path } = await newStore();
    // Open elsewhere, so that the files beside it are there.
    const holder = new Talker("hold", [path, "PRAGMA user_version; SELECT * FROM state"]);
    await holder.until(1);
    chmodSync(directory, 0o755);
    for (const end of ["", "-wal", "-shm"]) {
      if (root) chmodSync(path + end, 0o644);
      else chmodSync(path + end, 0o400);
    }
    expect(act(["open-store", path], unprivileged)).toEqual({ result: [] });
    const { code, hint } = act(["add-to-store", path, "cap_1"], unprivileged);
    expect(code).toBe("store_unwritable");
    expect(hint).toContain(path);
    await holder.kill();
  });

  test("a directory that this user may not write", () => {
    const directory = temporaryFolder();
    if (root) chownSync(directory, 65534, 65534);
    chmodSync(directory, 0o555);
    const { code } = act(["create-store", join(directory, "store.db")], unprivileged);
    chmodSync(directory, 0o755);
    expect(code).toBe("store_unwritable");
    expect(namesIn(directory)).toEqual([]);
  });
});

test("without libsql, opening and making say how to get it", async () => {
  const { directory, path } = await newStore();
  const before = ["--import", child("without-libsql")];
  for (const words of [
    ["open-store", path],
    ["create-store", join(directory, "more.db")],
  ]) {
    const { code, hint } = act(words, {}, before);
    expect([code, hint]).toEqual(["store_unavailable", "npm install libsql"]);
  }
  // Key files need no database.
  expect(act(["create-keys", join(directory, "keys.json")], {}, before)).toEqual({});
  expect(statSync(join(directory, "keys.json")).isFile()).toBe(true);
});
