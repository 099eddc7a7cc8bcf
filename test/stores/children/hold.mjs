// `hold.mjs PATH SQL`: runs the SQL, prints "held", and keeps the connection open until this process is killed.
import { writeSync } from "node:fs";
import Database from "libsql";

const [, , path, sql] = process.argv;
const database = new Database(path);
database.exec(sql);
writeSync(1, "held\n");
setInterval(() => database.inTransaction, 1000);
