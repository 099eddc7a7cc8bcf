// Opens a database that is to be refused, and writes the code of the refusal: what SQLite changes in a
// file, it may change when the process ends.
import { openDatabase } from "../../../dist/src/storage/database.js";

const schema = { applicationId: 0x74657374, outdated: [0x6f6c6421], migrations: [async () => {}] };
await openDatabase(process.argv[2], schema, "refuse").catch(({ code }) =>
  process.stdout.write(code),
);
