// Does one thing with a key file or a store in a process of its own: `act.mjs ACTION PATH [MORE]`.
// Prints the result or the error as one line of JSON.
import { writeSync } from "node:fs";
import { createKeyring } from "proviso/issuer";
import {
  createKeyringFile,
  createRevocationStore,
  openRevocationStore,
  readKeyringFile,
  replaceKeyringFile,
  StorageError,
} from "proviso/stores";

const [, , action, path, more] = process.argv;
const AT = "2026-01-01T00:00:00Z";

const ACTIONS = {
  "create-keys": () => createKeyringFile(path, createKeyring()),
  "read-keys": () => readKeyringFile(path).list(),
  "rotate-keys": () => {
    const present = readKeyringFile(path);
    replaceKeyringFile(path, present.rotate(), present);
  },
  // Rotates ten times, each under the lock of the store at `more`.
  "rotate-exclusively": async () => {
    const store = await openRevocationStore(more);
    for (let i = 0; i < 10; i++) {
      store.exclusively(() => {
        const present = readKeyringFile(path);
        replaceKeyringFile(path, present.rotate(), present);
      });
    }
  },
  "create-store": async () => (await createRevocationStore(path)).version,
  "open-store": async () => (await openRevocationStore(path)).list().map((entry) => entry.id),
  "add-to-store": async () => {
    const store = await openRevocationStore(path);
    store.add({ kind: "capability", id: more, at: AT });
    return store.version;
  },
  // Adds until nothing more fits.
  "fill-store": async () => {
    const store = await openRevocationStore(path);
    const added = [];
    for (let i = 0; i < 20_000; i++) {
      const id = `cap_${i}`;
      try {
        store.add({ kind: "capability", id, at: AT, reason: "x".repeat(500) });
      } catch (error) {
        const inMemory = store.list().map((entry) => entry.id);
        return { added, inMemory, version: store.version, code: error.code, hint: error.hint };
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
  line =
    error instanceof StorageError ? { code: error.code, hint: error.hint, message } : { message };
}
writeSync(1, `${JSON.stringify(line)}\n`);
