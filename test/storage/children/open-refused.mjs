// Opens a database that must be refused, and writes the code of the refusal. In a separate process, since SQLite may
// change the file when the process ends.
import { openDatabase } from "../../../dist/src/storage/database.js";

const schema = { applicationId: 0x74657374, outdated: [0x6f6c6421], migrations: [async () => {}] };
await openDatabase(process.argv[2], schema, "refuse").catch(({ code }) =>
  process.stdout.write(code),
);
