// `fill-ledger.mjs PATH`: commits events until the file reaches its size limit, then notes further events.
// Prints the committed events and the reported problems as one line of JSON.
import { writeSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import { createStores, openLedger } from "proviso/stores";

const [, , path] = process.argv;
const EVENT = { kind: "invocation", at: "2026-01-01T00:00:00.000Z", decision: "allowed" };
const values = Object.fromEntries(Array.from({ length: 8 }, (_, i) => [`a${i}`, "x".repeat(900)]));

const problems = [];
// No disk space is reserved, so the only limit is the maximum file size.
const database = await createStores(path, { reserve: 0 });
const ledger = openLedger(database, {
  interval: 1,
  capacity: 100,
  onProblem: ({ error }) => problems.push(error.code),
});
const committed = [];
let refused;
while (refused === undefined) {
  const purpose = `committed_${committed.length}`;
  try {
    await ledger.commit({ ...EVENT, purpose, values });
    committed.push(purpose);
  } catch (error) {
    refused = error.code;
  }
}
for (let i = 0; i < 150; i++) ledger.note({ ...EVENT, purpose: `noted_${i}`, values });
while (problems.length === 0) await pause(10);
await pause(50);
const { code } = ledger.problem;
writeSync(1, `${JSON.stringify({ committed, refused, problems, code })}\n`);
