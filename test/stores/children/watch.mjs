// `watch.mjs PLACE`: adds one entry, then prints the id of each entry as soon as a look-up finds it.
import { writeSync } from "node:fs";
import { openRevocations, openStores } from "proviso/stores";

const [, , path] = process.argv;
const store = await openRevocations(await openStores(path));
await store.add({ kind: "capability", id: "cap_watcher", at: "2026-01-01T00:00:00Z" });
writeSync(1, "cap_watcher\n");
const seen = new Set();
setInterval(() => {
  for (const id of ["cap_1", "cap_2", "cap_3", "cap_4", "cap_5"]) {
    const found = store.find({ links: [], capability: id, keys: ["key_1"], issued: 0 });
    if (found.length === 0 || seen.has(id)) continue;
    seen.add(id);
    writeSync(1, `${id}\n`);
  }
}, 5);
