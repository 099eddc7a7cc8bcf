// Measures how long a process takes to read a long revocation list when it starts. Fills the database first if
// its list is empty. Run as
//   node bench/list-start.mjs PLACE [ENTRIES]
// after npm run build; PLACE is a new file or the address of an empty PostgreSQL database, ENTRIES 1,000,000
// unless given.
import { openRevocations, openStores } from "proviso/stores";

const [place = "", entries = "1000000"] = process.argv.slice(2);
const DAY_SECONDS = 24 * 60 * 60;

/** Adds random links as the store writes them. The store itself commits each entry. @param {number} count */
async function fill(count) {
  const at = Math.floor(Date.now() / 1000);
  const insert = (/** @type {string} */ digits, /** @type {string} */ numbers) =>
    `INSERT INTO revocation (kind, id, until, at, changed)
     SELECT 'link', '"rv_' || ${digits} || 'A"', ${at + DAY_SECONDS}, ${at}, n FROM ${numbers}`;
  const version = `UPDATE revocation_state SET version = ${count}`;
  if (!place.startsWith("postgres")) {
    const { default: Database } = await import("libsql");
    const database = new Database(place);
    database.exec(`
      BEGIN;
      ${insert(
        "substr(lower(hex(randomblob(11))), 1, 21)",
        `(WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < ${count})
          SELECT n FROM number)`,
      )};
      ${version};
      COMMIT;
      PRAGMA wal_checkpoint(TRUNCATE)`);
    database.close();
    return;
  }
  const { default: pg } = await import("pg");
  const client = new pg.Client({ connectionString: place });
  await client.connect();
  const digits = "left(md5(random()::text || n), 21)";
  await client.query(insert(digits, `generate_series(1, ${count}) AS n`));
  await client.query(version);
  await client.query("ANALYZE revocation");
  await client.end();
}

/** Opens the list. */
async function opened() {
  const database = await openStores(place, "create");
  const before = process.memoryUsage().rss;
  const used = process.cpuUsage();
  const began = performance.now();
  const revocations = await openRevocations(database);
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(used);
  const megabytes = (process.memoryUsage().rss - before) / 2 ** 20;
  await database.close();
  return { entries: revocations.size, seconds, processor: (user + system) / 1e6, megabytes };
}

if (place === "")
  throw new Error("name a new file, or the address of an empty PostgreSQL database");
const first = await opened();
if (first.entries === 0) await fill(Number(entries));
console.table(first.entries === 0 ? await opened() : first);
