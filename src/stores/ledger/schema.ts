import type { SqliteKind } from "../../storage/sqlite-driver.js";

// The texts that callers chose are JSON strings: libsql reads a text only up to its first NUL, and
// SQLite keeps no lone surrogates. What hops say stands once, and not in every event. Which principals
// and capabilities the events speak of is told of each batch, from its first to its last: an index
// entry for every event took more time than all else.
const TABLES = `
  CREATE TABLE event (
    seq INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    what INTEGER NOT NULL,
    principal TEXT,
    capability TEXT,
    body TEXT NOT NULL
  ) STRICT;
  CREATE INDEX event_at ON event (at);
  CREATE TABLE mention (
    key TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    PRIMARY KEY (key, first)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE hop (revocation TEXT PRIMARY KEY, hop TEXT NOT NULL) STRICT, WITHOUT ROWID;
  CREATE TABLE issued (
    id TEXT PRIMARY KEY,
    expires TEXT NOT NULL,
    body TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX issued_expires ON issued (expires);
  CREATE TABLE gap (
    seq INTEGER PRIMARY KEY,
    "from" TEXT NOT NULL,
    until TEXT NOT NULL,
    lost INTEGER NOT NULL
  ) STRICT;
`;

/** The file of a ledger ("prvl"). Who can write to it can undo what it says. */
export const LEDGER: SqliteKind = {
  applicationId: 0x7072766c,
  format: 1,
  tables: TABLES,
  exposed: 0o022,
};
