import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { SqliteKind, SqlValue, Statement } from "../../storage/sqlite-driver.js";
import { field, type SqliteFile } from "../../storage/sqlite-file.js";
import { lastsOf, mayAccess, type TaskAccess, taskAccessOf } from "./task-access.js";

// Texts are JSON strings: libsql reads a text only up to its first NUL, and SQLite keeps no lone
// surrogates, so that a principal would come back as someone else.
const TABLES = `
  CREATE TABLE access (
    seq INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    principal TEXT NOT NULL,
    paths TEXT NOT NULL,
    UNIQUE (tenant, principal, paths)
  ) STRICT;
  CREATE TABLE link (
    id TEXT NOT NULL,
    access INTEGER NOT NULL,
    PRIMARY KEY (id, access)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE task (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    access INTEGER NOT NULL,
    context TEXT NOT NULL,
    state INTEGER NOT NULL,
    updated INTEGER NOT NULL,
    saved INTEGER NOT NULL,
    body TEXT NOT NULL,
    artifacts TEXT NOT NULL
  ) STRICT;
  CREATE INDEX task_access ON task (access, updated, id);
  CREATE TABLE push (
    seq INTEGER PRIMARY KEY,
    task TEXT NOT NULL,
    id TEXT NOT NULL,
    access INTEGER NOT NULL,
    saved INTEGER NOT NULL,
    version TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (task, id)
  ) STRICT;
`;

/** The file of a task store ("prvt"). What is in it is nobody's but the callers' and the agent's. */
export const TASKS: SqliteKind = {
  applicationId: 0x70727674,
  format: 1,
  tables: TABLES,
  exposed: 0o077,
};

/** Who looks: an access, and the tenant that the request names. */
export interface Viewer {
  readonly tenant: string;
  readonly access: TaskAccess;
}

/** @throws TypeError if it is not known on whose authority the request is made. */
export function viewerOf(context: ServerCallContext): Viewer {
  return { tenant: context.tenant ?? "", access: taskAccessOf(context) };
}

/** The accesses in a task store, and prepared statements for what else is in it. */
export class TaskTables {
  readonly #file: SqliteFile;
  readonly #statements = new Map<string, Statement>();

  constructor(file: SqliteFile) {
    this.#file = file;
  }

  rows(sql: string, ...values: SqlValue[]): unknown[] {
    return this.#file.attempt(() => this.#statement(sql).all(...values));
  }

  run(sql: string, ...values: SqlValue[]): number {
    return this.#file.attempt(() => this.#statement(sql).run(...values).changes);
  }

  /** A column that is a text. */
  text(row: unknown, name: string): string {
    const value = field(row, name);
    if (typeof value === "string") return value;
    throw this.#file.corrupt(`a text in it is wrong: "${name}"`);
  }

  /** A column that is a whole number. */
  number(row: unknown, name: string): number {
    const value = field(row, name);
    if (Number.isSafeInteger(value)) return Number(value);
    throw this.#file.corrupt(`a number in it is wrong: "${name}"`);
  }

  /** A column that is JSON. */
  json(row: unknown, name: string): unknown {
    const text = this.text(row, name);
    try {
      return JSON.parse(text);
    } catch {
      throw this.#file.corrupt(`JSON in it is damaged: "${name}"`);
    }
  }

  /** The number of an access, which is put down if it is new. Only in a transaction. */
  put({ tenant, access }: Viewer): number {
    const paths = [...access.paths].sort((a, b) => (a.join() < b.join() ? -1 : 1));
    const key = [JSON.stringify(tenant), JSON.stringify(access.principal), JSON.stringify(paths)];
    const find = "SELECT seq FROM access WHERE tenant = ? AND principal = ? AND paths = ?";
    const [known] = this.rows(find, ...key);
    if (known !== undefined) return this.number(known, "seq");
    this.run("INSERT INTO access (tenant, principal, paths) VALUES (?, ?, ?)", ...key);
    const seq = this.number(this.rows(find, ...key)[0], "seq");
    for (const id of new Set(access.paths.flat())) {
      this.run("INSERT INTO link (id, access) VALUES (?, ?)", JSON.stringify(id), seq);
    }
    return seq;
  }

  /** Whether a viewer may see what was made with the access of that number. */
  visible(seq: number, viewer: Viewer): boolean {
    const [row] = this.rows("SELECT tenant, principal, paths FROM access WHERE seq = ?", seq);
    if (row === undefined) throw this.#file.corrupt("nobody has made a task");
    return (
      this.json(row, "tenant") === viewer.tenant && mayAccess(viewer.access, this.#access(row))
    );
  }

  /** The numbers of all accesses whose tasks a viewer may see. */
  visibleTo({ tenant, access }: Viewer): readonly number[] {
    const who = [JSON.stringify(tenant), JSON.stringify(access.principal)];
    const columns = "SELECT DISTINCT access.seq, access.principal, access.paths FROM access";
    const theirs = "access.tenant = ? AND access.principal = ?";
    const lasts = JSON.stringify(Array.from(lastsOf(access), (id) => JSON.stringify(id)));
    const rows =
      access.paths.length === 0
        ? this.rows(`${columns} WHERE ${theirs} AND access.paths = '[]'`, ...who)
        : this.rows(
            `${columns} JOIN link ON link.access = access.seq
             WHERE ${theirs} AND link.id IN (SELECT value FROM json_each(?))`,
            ...who,
            lasts,
          );
    return rows
      .filter((row) => mayAccess(access, this.#access(row)))
      .map((row) => this.number(row, "seq"));
  }

  /** Removes the accesses that nothing is left of. Only in a transaction. */
  pruneAccesses(): void {
    const unused =
      "SELECT seq FROM access WHERE seq NOT IN (SELECT access FROM task UNION SELECT access FROM push)";
    this.run(`DELETE FROM link WHERE access IN (${unused})`);
    this.run(`DELETE FROM access WHERE seq IN (${unused})`);
  }

  #access(row: unknown): TaskAccess {
    const principal = this.json(row, "principal");
    const paths = this.json(row, "paths");
    if (typeof principal !== "string" || !Array.isArray(paths) || !paths.every(Array.isArray)) {
      throw this.#file.corrupt("who made a task is not well formed");
    }
    return { principal, paths };
  }

  #statement(sql: string): Statement {
    const known = this.#statements.get(sql) ?? this.#file.prepare(sql);
    this.#statements.set(sql, known);
    return known;
  }
}
