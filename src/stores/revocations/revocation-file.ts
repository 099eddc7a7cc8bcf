import { statSync } from "node:fs";
import { errorCode } from "../../bytes/error-code.js";
import { formatTime } from "../../caveats/time.js";
import {
  checkedEntry,
  mergeEntries,
  type RevocationEntry,
  type RevocationKind,
} from "../../revocation/entry.js";
import {
  type Connect,
  type Connection,
  PATIENCE,
  type Statement,
} from "../../storage/sqlite-driver.js";
import { field } from "../../storage/sqlite-file.js";
import { StorageError, storeError } from "../../storage/storage-error.js";
import { APPLICATION_ID, FORMAT } from "./revocation-sql.js";

/** What has changed in a store since a version, or all of it. */
export interface RevocationNews {
  readonly version: number;
  /** Whether `entries` are all there are. */
  readonly complete: boolean;
  readonly entries: readonly RevocationEntry[];
}

interface Statements {
  readonly dataVersion: Statement;
  readonly state: Statement;
  readonly changed: Statement;
  readonly known: Statement;
  readonly bump: Statement;
  readonly put: Statement;
  readonly prune: Statement;
}

/** The SQL of a revocation store: one connection to one file. Throws nothing but StorageErrors. */
export class RevocationFile {
  readonly #path: string;
  readonly #name: string;
  readonly #connection: Connection;
  readonly #sql: Statements;
  readonly #identity: string;

  /**
   * @param path - Absolute.
   * @param name - The path as the caller named it, for messages.
   * @throws StorageError
   */
  constructor(connect: Connect, path: string, name: string) {
    this.#path = path;
    this.#name = name;
    this.#identity = this.#look();
    this.#connection = this.#connect(connect);
    try {
      this.#sql = this.#try(() => this.#prepare());
    } catch (error) {
      this.#connection.close();
      throw error;
    }
  }

  /** Whether a transaction is under way on this connection. */
  get inTransaction(): boolean {
    return this.#connection.inTransaction;
  }

  /** @throws StorageError if the path no longer leads to the file that was opened. */
  assertInPlace(): void {
    if (this.#look() !== this.#identity) throw new StorageError("store_replaced", this.#name);
  }

  /** Changes whenever another connection has changed the file. */
  dataVersion(): number {
    return this.#try(() => this.#integer(this.#sql.dataVersion, "data_version"));
  }

  /** What has changed since `version`, in one consistent look; `undefined` asks for everything. */
  news(version: number | undefined): RevocationNews {
    if (this.inTransaction) return this.#try(() => this.#news(version));
    return this.#try(() => {
      this.#connection.exec("BEGIN");
      try {
        return this.#news(version);
      } finally {
        if (this.inTransaction) this.#connection.exec("ROLLBACK");
      }
    });
  }

  /** Starts to write; waits for other writers. */
  begin(): void {
    this.#try(() => {
      this.#connection.exec(`PRAGMA busy_timeout = ${PATIENCE}`);
      try {
        this.#connection.exec("BEGIN IMMEDIATE");
      } finally {
        this.#connection.exec("PRAGMA busy_timeout = 0");
      }
    });
  }

  /** From now on, only writing waits for others: lookups have a list, and look again soon. */
  hurry(): void {
    this.#try(() => this.#connection.exec("PRAGMA busy_timeout = 0"));
  }

  commit(): void {
    this.#try(() => this.#connection.exec("COMMIT"));
  }

  /** Undoes what was written since {@link begin}, unless the database has done so itself. */
  rollback(): void {
    if (this.inTransaction) this.#try(() => this.#connection.exec("ROLLBACK"));
  }

  /** Adds an entry to what is there. Only after {@link begin}. */
  put(entry: RevocationEntry): void {
    this.#try(() => {
      const id = JSON.stringify(entry.id);
      const [row] = this.#sql.known.all(entry.kind, id);
      const merged = row === undefined ? entry : mergeEntries(this.#entry(row), entry);
      const { kind, before, until, at, reason } = merged;
      const why = reason === undefined ? null : JSON.stringify(reason);
      this.#sql.bump.run();
      this.#sql.put.run(kind, id, before ?? null, until ?? null, at, why);
    });
  }

  /** Removes what is over, and tells how many. Only after {@link begin}. */
  prune(now: number): number {
    const time = formatTime(now);
    return this.#try(() => {
      const removed = this.#sql.prune.run(time).changes;
      if (removed > 0) {
        this.#sql.bump.run();
        this.#connection.exec("UPDATE state SET pruned = version");
      }
      return removed;
    });
  }

  /** The file's version now, also within a transaction. */
  version(): number {
    return this.#try(() => this.#integer(this.#sql.state, "version"));
  }

  /** Lets go of the file; libsql does so fully when the statements have been collected. */
  close(): void {
    try {
      this.#connection.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // Another process reads or writes; it, or whoever opens the store next, does this.
    }
    this.#connection.close();
  }

  /** What tells the file from one put in its place. */
  #look(): string {
    try {
      const { dev, ino, size } = statSync(this.#path, { bigint: true });
      if (size === 0n)
        throw new StorageError("store_corrupt", this.#name, { detail: "empty file" });
      return `${dev}:${ino}`;
    } catch (error) {
      throw storeError(error, this.#name);
    }
  }

  #connect(connect: Connect): Connection {
    try {
      return connect(this.#path);
    } catch (error) {
      // libsql gives no code here, but SQLite's number ends the message; 14 is "can not open".
      if (errorCode(error) !== "") throw storeError(error, this.#name);
      throw new StorageError("store_unreadable", this.#name, { cause: error });
    }
  }

  #prepare(): Statements {
    const connection = this.#connection;
    const pragma = (name: string): unknown => {
      const [row] = connection.prepare(`PRAGMA ${name}`).all();
      return field(row, name);
    };
    if (pragma("application_id") !== APPLICATION_ID) {
      throw this.#corrupt("the file is something else");
    }
    const format = pragma("user_version");
    if (typeof format !== "number" || format < FORMAT) throw this.#corrupt("it has no format");
    if (format > FORMAT) throw new StorageError("store_version", this.#name);
    const check = pragma("quick_check");
    if (check !== "ok") throw this.#corrupt("SQLite's quick_check fails");
    const statements: Statements = {
      dataVersion: connection.prepare("PRAGMA data_version"),
      state: connection.prepare("SELECT version, pruned FROM state"),
      changed: connection.prepare("SELECT * FROM revocation WHERE changed > ? ORDER BY seq"),
      known: connection.prepare("SELECT * FROM revocation WHERE kind = ? AND id = ?"),
      bump: connection.prepare("UPDATE state SET version = version + 1"),
      put: connection.prepare(
        `INSERT INTO revocation (kind, id, before, until, at, reason, changed)
         VALUES (?, ?, ?, ?, ?, ?, (SELECT version FROM state))
         ON CONFLICT (kind, id) DO UPDATE SET before = excluded.before, until = excluded.until,
           at = excluded.at, reason = excluded.reason, changed = excluded.changed`,
      ),
      prune: connection.prepare("DELETE FROM revocation WHERE until <= ?"),
    };
    // A write, so only once the file is known to be a store.
    if (pragma("journal_mode") !== "wal") connection.exec("PRAGMA journal_mode = WAL");
    connection.exec("PRAGMA synchronous = FULL");
    return statements;
  }

  #news(since: number | undefined): RevocationNews {
    const [state] = this.#sql.state.all();
    const version = this.#whole(field(state, "version"));
    const pruned = this.#whole(field(state, "pruned"));
    const complete = since === undefined || since < pruned;
    const rows = this.#sql.changed.all(complete ? -1 : since);
    return { version, complete, entries: rows.map((row) => this.#entry(row)) };
  }

  #entry(row: unknown): RevocationEntry {
    const text = (name: string): string | undefined => {
      const value = field(row, name);
      if (value === null) return undefined;
      if (typeof value !== "string") throw this.#corrupt(`a revocation has a wrong "${name}"`);
      return value;
    };
    const json = (name: string): string | undefined => {
      const value: unknown = JSON.parse(text(name) ?? "null");
      if (value !== null && typeof value !== "string") throw new TypeError(`${name} is no text`);
      return value ?? undefined;
    };
    const [before, until] = [text("before"), text("until")];
    try {
      const reason = json("reason");
      return checkedEntry({
        kind: kindOf(text("kind")),
        id: json("id") ?? "",
        at: text("at") ?? "",
        ...(before === undefined ? {} : { before }),
        ...(until === undefined ? {} : { until }),
        ...(reason === undefined ? {} : { reason }),
      });
    } catch (error) {
      if (error instanceof StorageError) throw error;
      throw this.#corrupt("a revocation in it is not well formed");
    }
  }

  #integer(statement: Statement, name: string): number {
    return this.#whole(field(statement.all()[0], name));
  }

  #whole(value: unknown): number {
    if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return value;
    throw this.#corrupt("a number in it is wrong");
  }

  #corrupt(detail: string): StorageError {
    return new StorageError("store_corrupt", this.#name, { detail });
  }

  #try<T>(action: () => T): T {
    try {
      return action();
    } catch (error) {
      throw storeError(error, this.#name);
    }
  }
}

function kindOf(text: string | undefined): RevocationKind {
  if (text === "link" || text === "capability" || text === "key" || text === "principal") {
    return text;
  }
  throw new TypeError("unknown kind of revocation");
}
