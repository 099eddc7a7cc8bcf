// Runs one action on a key file or a store in a separate process: `act.mjs ACTION PATH [MORE]`. Prints the result or
// the error as one line of JSON.
import { rmSync, writeSync } from "node:fs";
import { createKeyring } from "proviso/issuer";
import {
  createKeyringFile,
  createStores,
  openRevocations,
  openStores,
  readKeyringFile,
  replaceKeyringFile,
  StorageError,
} from "proviso/stores";

const [, , action, path, more] = process.argv;
const revocations = async () => openRevocations(await openStores(path));
const AT = "2026-01-01T00:00:00Z";

const ACTIONS = {
  "create-keys": () => createKeyringFile(path, createKeyring()),
  "read-keys": () => readKeyringFile(path).list(),
  "rotate-keys": () => {
    const present = readKeyringFile(path);
    replaceKeyringFile(path, present.rotate(), present);
  },
  // Rotates the keys ten times, each time under the lock of the revocations in the database `more`.
  "rotate-exclusively": async () => {
    const store = await openRevocations(await openStores(more));
    for (let i = 0; i < 10; i++) {
      await store.exclusively(() => {
        const present = readKeyringFile(path);
        replaceKeyringFile(path, present.rotate(), present);
      });
    }
  },
  "create-store": async () => (await openRevocations(await createStores(path))).version,
  "open-store": async () => (await (await revocations()).list()).map((entry) => entry.id),
  "add-to-store": async () => {
    const store = await revocations();
    await store.add({ kind: "capability", id: more, at: AT });
    return store.version;
  },
  // Removes the write-ahead log while the store is open, continues to revoke, and kills this process.
  "revoke-without-log": async () => {
    const store = await revocations();
    const added = [];
    const codes = [];
    const add = async (id) => {
      try {
        await store.add({ kind: "capability", id, at: AT });
        added.push(id);
      } catch (error) {
        codes.push(error.code);
      }
    };
    await add("cap_before");
    const { default: Database } = await import("libsql");
    new Database(path).exec("PRAGMA wal_checkpoint(TRUNCATE)");
    rmSync(`${path}-wal`);
    for (const id of ["cap_1", "cap_2", "cap_3"]) await add(id);
    writeSync(1, `${JSON.stringify({ result: { added, codes } })}\n`);
    process.kill(process.pid, "SIGKILL");
    await new Promise(() => {});
  },
  // Adds entries until the disk is full.
  "fill-store": async () => {
    const store = await revocations();
    const added = [];
    for (let i = 0; i < 20_000; i++) {
      const id = `cap_${i}`;
      try {
        await store.add({ kind: "capability", id, at: AT, reason: "x".repeat(500) });
      } catch (error) {
        const isRevoked = (capability) =>
          store.find({ links: [], capability, keys: [], issued: 0 }).length > 0;
        const inMemory = [...added, id].filter(isRevoked);
        return { added, inMemory, version: store.version, code: error.code };
      }
      added.push(id);
    }
    return { added };
  },
};

let line;
try {
  line = { result: await ACTIONS[action]() };
} catch (error) {
  const { message } = error;
  line = error instanceof StorageError ? { code: error.code, message } : { message };
}
writeSync(1, `${JSON.stringify(line)}\n`);
