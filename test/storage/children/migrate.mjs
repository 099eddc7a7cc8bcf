// Begins a migration of the database at a path, reports it by a file, and never ends it, like a process that is
// killed in the middle.
import { writeFileSync } from "node:fs";
import { openDatabase } from "../../../dist/src/storage/database.js";

const [, , path, marker] = process.argv;
const schema = {
  applicationId: 0x74657374,
  outdated: [],
  migrations: [
    async () => {},
    async ({ schema, columns }) => {
      await schema.alterTable("item").addColumn("more", columns.text).execute();
      writeFileSync(marker, "");
      await new Promise((resolve) => setTimeout(resolve, 60_000));
    },
  ],
};
await openDatabase(path, schema, "refuse");
