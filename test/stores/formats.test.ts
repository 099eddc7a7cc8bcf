import { chmodSync, readdirSync, readFileSync } from "node:fs";
import Database from "libsql";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import type { IssuedCapability } from "../../src/agent/ledger.js";
import { openStores } from "../../src/stores/database.js";
import { LedgerStore } from "../../src/stores/ledger/ledger-store.js";
import { openMemory } from "../../src/stores/memory/memory-store.js";
import { openRegistry } from "../../src/stores/registry/registry-store.js";
import { ResourceNumberStore } from "../../src/stores/resource-numbers.js";
import { pruneTasks } from "../../src/stores/tasks/pruning.js";
import { onBothDatabases } from "../support/databases.js";
import { invocation } from "./ledger/support.js";
import { host } from "./registry/support.js";

/** What was issued before the database was brought up to date. */
const ISSUED = `INSERT INTO issued (id, identifier, hop, principal, invoker, expires)
  VALUES ('"cap_before"', '{}', '{}', '"alice"', '"a"', '2999-01-01T00:00:00Z')`;

/** A task that was done before, and the messages that began something in it. */
const DONE = `INSERT INTO access (key, tenant, principal, size, bytes, used)
    VALUES ('k', '""', '"alice"', 0, 0, 0);
  INSERT INTO task (id, access, principal, uses, context, state, updated, saved, bytes, body, artifacts)
    VALUES ('"t"', 1, '"alice"', '[]', '""', 3, 0, 0, 4, '{}', '{}');
  INSERT INTO message (key, hash, task) VALUES ('m1', 'h', '"t"'), ('m2', 'h', '"t"')`;

function issued(id: string, more: Partial<IssuedCapability> = {}): IssuedCapability {
  const who = { principal: "alice", invoker: "a" };
  return { id, identifier: "{}", hop: "{}", ...who, expires: "2999-01-01T00:00:00Z", ...more };
}

/** "prve", as every format of the stores has it. */
const APPLICATION = 0x70727665;
const FOLDER = new URL("formats/", import.meta.url);
const FORMATS = readdirSync(FOLDER).flatMap((name) => /^(\d+)-sqlite\.sql$/.exec(name)?.[1] ?? []);

async function make(where: string, dialect: string, format: string): Promise<void> {
  const made = readFileSync(new URL(`${format}-${dialect}.sql`, FOLDER), "utf8");
  const statements = `${made};${ISSUED};${DONE}`;
  if (dialect === "sqlite") {
    const database = new Database(where);
    database.exec(statements);
    database.exec(`PRAGMA application_id = ${APPLICATION}; PRAGMA user_version = ${format}`);
    database.close();
    chmodSync(where, 0o600);
    return;
  }
  const client = new pg.Client({ connectionString: where });
  await client.connect();
  await client.query(statements);
  await client.query(`CREATE TABLE proviso_format
    (one integer PRIMARY KEY CHECK (one = 1), application bigint NOT NULL, format integer NOT NULL);
    INSERT INTO proviso_format VALUES (1, ${APPLICATION}, ${format})`);
  await client.end();
}

onBothDatabases((place, dialect) => {
  test.each(FORMATS)(
    "a database of format %s is brought up to date, with what is in it",
    async (format) => {
      const where = await place();
      await make(where, dialect, format);
      const [stores, beside] = await Promise.all([openStores(where), openStores(where)]);
      onTestFinished(async () => {
        await Promise.all([stores.close(), beside.close()]);
      });
      const ledger = new LedgerStore(stores);
      await ledger.commit(invocation({ principal: "alice" }));
      expect(await new LedgerStore(beside).list({ principal: "alice" })).toHaveLength(1);
      expect((await new ResourceNumberStore(stores).numbersOf(["a"])).size).toBe(1);
      await openMemory(stores).set("alice", "colour", "green");
      expect(await openMemory(beside).get("alice", "colour")).toMatchObject({ value: "green" });
      await openRegistry(stores).change((draft) => draft.put("hosts", host("h")));
      const hosts = await openRegistry(beside).read((view) => view.hosts.find({}));
      expect(hosts).toEqual([host("h")]);
      // Issued before there were hops after the issuer's, and after.
      expect(await ledger.issued("cap_before")).toEqual(issued("cap_before"));
      const hops = { further: ['{"maxFurtherHops":0}'] };
      await ledger.commit(invocation(), [issued("cap_after", hops), issued("cap_none")]);
      expect(await ledger.issued("cap_after")).toEqual(issued("cap_after", hops));
      expect(await ledger.issued("cap_none")).toEqual(issued("cap_none"));
      expect(await pruneTasks(stores, 1)).toBe(1);
      expect(await beside.read((db) => db.selectFrom("message").select("key").execute())).toEqual(
        [],
      );
      await ledger.close();
    },
  );
});
