// `revoke-until-killed.mjs PATH NAME`: prints the contents of the store. Then adds revocations, and prints each
// revocation once it is acknowledged. Without NAME, it ends after printing.
import { writeSync } from "node:fs";
import Database from "libsql";
import { openRevocations, openStores } from "proviso/stores";

const [, , path, name] = process.argv;
const store = await openRevocations(await openStores(path));
const integrity = new Database(path, { timeout: 10_000 }).prepare("PRAGMA integrity_check").all();
const ids = (await store.list()).map((entry) => entry.id);
writeSync(1, `${JSON.stringify({ version: store.version, ids, integrity })}\n`);
if (name === undefined) process.exit();
for (let i = 0; ; i++) {
  const id = `${name}_${i}`;
  await store.add({ kind: "capability", id, at: "2026-01-01T00:00:00Z" });
  writeSync(1, `${JSON.stringify({ id, version: store.version })}\n`);
}
