// `record-until-killed.mjs PATH NAME`: prints the contents of the ledger. Then commits and notes events, and
// prints each event once it is acknowledged. If NAME is `idle`, it notes one event that is not written for a
// minute, and ends. Without NAME, it ends after printing.
import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import Database from "libsql";
import { openLedger, openStores } from "proviso/stores";

const [, , path, name] = process.argv;
const EVENT = { kind: "invocation", at: "2026-01-01T00:00:00.000Z", decision: "allowed" };
const ISSUED = { identifier: "{}", hop: "{}", principal: "alice", invoker: "assistant" };
const EXPIRES = "2999-01-01T00:00:00Z";

const stores = await openStores(path, "create");
const ledger = openLedger(stores, name === "idle" ? { interval: 60_000 } : {});
const integrity = new Database(path, { timeout: 10_000 }).prepare("PRAGMA integrity_check").all();
const purposes = (await ledger.list()).map((event) => event.purpose);
const issued = [];
for (const purpose of purposes) if (await ledger.issued(purpose)) issued.push(purpose);
writeSync(1, `${JSON.stringify({ purposes, issued, integrity, gaps: await ledger.gaps() })}\n`);

if (name === "idle") ledger.note({ ...EVENT, purpose: "idle" });
else if (name === undefined) {
  await ledger.close();
  await stores.close();
} else {
  for (let i = 0; ; i++) {
    const id = `${name}_${i}`;
    const event = { ...EVENT, kind: "issuance", purpose: id };
    await ledger.commit(event, [{ ...ISSUED, id, expires: EXPIRES }]);
    writeSync(1, `${JSON.stringify({ committed: id })}\n`);
    ledger.note({ ...EVENT, purpose: `note_${id}` });
    writeSync(1, `${JSON.stringify({ noted: `note_${id}`, at: Date.now() })}\n`);
    await pause(1);
  }
}
