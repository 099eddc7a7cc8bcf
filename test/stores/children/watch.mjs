// `watch.mjs PATH`: prints the id of every entry when it first sees it, by lookups alone. Adds one
// entry of its own first.
import { writeSync } from "node:fs";
import { openRevocationStore } from "proviso/stores";

const [, , path] = process.argv;
const store = await openRevocationStore(path);
store.add({ kind: "capability", id: "cap_watcher", at: "2026-01-01T00:00:00Z" });
writeSync(1, "cap_watcher\n");
const seen = new Set();
setInterval(() => {
  for (const id of ["cap_parent", "cap_later"]) {
    const found = store.find({ links: [], capability: id, key: "key_1", issued: 0 });
    if (found.length === 0 || seen.has(id)) continue;
    seen.add(id);
    writeSync(1, `${id}\n`);
  }
}, 20);
