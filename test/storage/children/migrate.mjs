// Begins a migration of a database, and creates a marker file half-way. The migration never ends, so that the
// test can kill this process.
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
