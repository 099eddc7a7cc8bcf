import { Task } from "@a2a-js/sdk";
import { isJsonObject, type Json } from "../../bytes/json.js";
import { StorageError } from "../../storage/storage-error.js";

/** Reads what columns hold. A damaged row is a StorageError, and never a wrong answer. */
export class Stored {
  readonly #database: string;

  /** @param database - Its name, for errors. */
  constructor(database: string) {
    this.#database = database;
  }

  /** @throws StorageError `store_corrupt` */
  text(value: unknown, column: string): string {
    return typeof value === "string" ? value : this.damaged(column);
  }

  /** @throws StorageError `store_corrupt` */
  number(value: unknown, column: string): number {
    return typeof value === "number" && Number.isSafeInteger(value) ? value : this.damaged(column);
  }

  /** @throws StorageError `store_corrupt` */
  json(value: unknown, column: string): Json {
    try {
      return JSON.parse(this.text(value, column));
    } catch {
      return this.damaged(column);
    }
  }

  /** A text that is kept as a JSON string. @throws StorageError `store_corrupt` */
  string(value: unknown, column: string): string {
    return this.text(this.json(value, column), column);
  }

  /** A task without its artifacts, or with nothing else. @throws StorageError `store_corrupt` */
  task(value: unknown, column: string): Task {
    const json = this.json(value, column);
    try {
      if (isJsonObject(json)) return Task.fromJSON(json);
    } catch {
      // Damaged deeper down.
    }
    return this.damaged(column);
  }

  /** @throws StorageError `store_corrupt` */
  damaged(column: string): never {
    throw new StorageError("store_corrupt", this.#database, { detail: `damaged: "${column}"` });
  }
}
