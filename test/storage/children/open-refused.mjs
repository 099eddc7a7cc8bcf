// Opens a database that must be refused, and writes the code of the error to stdout. Runs in a separate
// process, because SQLite may change the file when a process ends.
import { openDatabase } from "../../../dist/src/storage/database.js";

const schema = { applicationId: 0x74657374, outdated: [0x6f6c6421], migrations: [async () => {}] };
await openDatabase(process.argv[2], schema, "refuse").catch(({ code }) =>
  process.stdout.write(code),
);
