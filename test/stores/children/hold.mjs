// `hold.mjs PATH SQL`: runs the SQL, prints "held", and keeps the connection open until this process is killed.
import { writeSync } from "node:fs";
import Database from "libsql";

const [, , path, sql] = process.argv;
// Waits up to ten seconds for a lock of a process that is ending.
const database = new Database(path, { timeout: 10_000 });
database.exec(sql);
writeSync(1, "held\n");
setInterval(() => database.inTransaction, 1000);
