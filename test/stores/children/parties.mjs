// `parties.mjs PLACE`: prints "ready", and waits for a line. Then uses 100 ids in a random order, and
// concurrently changes one host 30 times. Prints the ids that it was the first to use as one line of JSON.
import { once } from "node:events";
import { writeSync } from "node:fs";
import { openParties, openStores } from "proviso/stores";

const [, , place = ""] = process.argv;
const database = await openStores(place, "refuse", { patience: 20_000 });
const parties = openParties(database);
const ids = Array.from({ length: 100 }, (_, at) => `id ${at}`);
ids.sort(() => Math.random() - 0.5);
writeSync(1, "ready\n");
await once(process.stdin, "data");
const changes = Array.from({ length: 30 }, () =>
  parties.change(async (draft) => {
    const host = await draft.hosts.get("h");
    await draft.put("hosts", { ...host, updated: host.updated + 1 });
  }),
);
const uses = await Promise.all(
  ids.map(async (id, at) => {
    // Use some ids concurrently, and some one after another.
    if (at % 10 === 0) await new Promise(setImmediate);
    const use = { scope: "test", id, expires: Date.now() + 60_000 };
    return (await parties.useOnce(use, Date.now())) === "first" ? id : undefined;
  }),
);
await Promise.all(changes);
writeSync(1, `${JSON.stringify(uses.filter((id) => id !== undefined))}\n`);
await database.close();
process.stdin.destroy();
