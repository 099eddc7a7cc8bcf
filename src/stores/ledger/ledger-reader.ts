import type { LedgerEvent, LedgerQuery } from "../../agent/ledger.js";
import type { SqliteFile } from "../../storage/sqlite-file.js";
import { type LedgerGap, LedgerTables } from "./tables.js";

/**
 * A ledger that is only read. Made by {@link openLedgerReadOnly}.
 */
export class LedgerReader {
  /** The file, as it was named. */
  readonly path: string;
  /** Absent once the ledger is closed. */
  #file: SqliteFile | undefined;
  readonly #tables: LedgerTables;

  /** @internal Use {@link openLedgerReadOnly}. */
  constructor(file: SqliteFile) {
    this.path = file.name;
    this.#file = file;
    this.#tables = new LedgerTables(file);
  }

  /**
   * Events, oldest first.
   *
   * @throws TypeError if the query asks for what there is not.
   * @throws StorageError if the file can not be read.
   */
  list(query: LedgerQuery = {}): readonly LedgerEvent[] {
    return this.#open().list(query);
  }

  /** When events were lost because they could not be written, and how many, oldest first. */
  gaps(): readonly LedgerGap[] {
    return this.#open().gaps();
  }

  /** Lets go of the file. */
  close(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #open(): LedgerTables {
    if (this.#file === undefined) throw new TypeError("the ledger is closed");
    return this.#tables;
  }
}
