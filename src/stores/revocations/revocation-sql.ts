import type { SqliteKind } from "../../storage/sqlite-driver.js";

/** "prvs": tells a revocation store from other SQLite files. */
export const APPLICATION_ID = 0x70727673;
/** The layout of the tables; grows when it changes. */
export const FORMAT = 1;

// `id` and `reason` are JSON strings: libsql reads a text only up to its first NUL, and SQLite keeps
// no lone surrogates, so that a principal would come back as someone else.
const TABLES = `
  CREATE TABLE revocation (
    seq INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    before TEXT,
    until TEXT,
    at TEXT NOT NULL,
    reason TEXT,
    changed INTEGER NOT NULL,
    UNIQUE (kind, id)
  ) STRICT;
  CREATE INDEX revocation_changed ON revocation (changed);
  CREATE TABLE state (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version INTEGER NOT NULL,
    pruned INTEGER NOT NULL
  ) STRICT;
  INSERT INTO state VALUES (1, 0, 0);
`;

/** The file of a revocation store. Who can write to it can undo a revocation. */
export const REVOCATIONS: SqliteKind = {
  store: "revocation store",
  applicationId: APPLICATION_ID,
  format: FORMAT,
  tables: TABLES,
  exposed: 0o022,
};
