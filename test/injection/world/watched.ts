import Database from "libsql";
import type { State } from "./holdings.js";

/** The contents of a table, read again by a separate connection whenever it was written. */
export class Watched {
  readonly #database: InstanceType<typeof Database>;
  readonly #read: () => unknown[];
  readonly #version: () => number;
  readonly #entry: (row: unknown) => readonly [place: string, value: string];
  #seen: { readonly version: number; readonly state: State } | undefined;

  /** @param entry - Returns the place and the value of a row. */
  constructor(
    file: string,
    sql: string,
    entry: (row: unknown) => readonly [place: string, value: string],
  ) {
    this.#database = new Database(file, { readonly: true });
    const select = this.#database.prepare(sql);
    const version = this.#database.prepare("PRAGMA data_version");
    this.#read = () => select.all();
    this.#version = () => {
      const { data_version: now } = version.get() as { readonly data_version: number };
      return now;
    };
    this.#entry = entry;
  }

  read(): State {
    const version = this.#version();
    if (this.#seen?.version !== version) {
      this.#seen = { version, state: new Map(this.#read().map((row) => this.#entry(row))) };
    }
    return this.#seen.state;
  }

  close(): void {
    this.#database.close();
  }
}
