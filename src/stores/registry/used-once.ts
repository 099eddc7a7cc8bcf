import { hash } from "node:crypto";
import type { StoreDatabase } from "../database.js";

/** Ids of one INSERT. */
const CHUNK = 500;

interface Waiting {
  readonly key: string;
  readonly expires: number;
  readonly settle: (isFirst: boolean) => void;
  readonly fail: (error: unknown) => void;
}

/**
 * What may be used once. Calls that come while others are being written go together next, in the order of their
 * keys: two processes that use the same ids must not each wait for the other.
 */
export class UsedOnce {
  readonly #database: StoreDatabase;
  #waiting: Waiting[] = [];
  #working: Promise<void> | undefined;

  constructor(database: StoreDatabase) {
    this.#database = database;
  }

  /** Whether this is the first use. */
  use(scope: string, id: string, expires: number): Promise<boolean> {
    const key = hash("sha256", JSON.stringify([scope, id]), "base64url");
    return new Promise((settle, fail) => {
      this.#waiting.push({ key, expires, settle, fail });
      this.#working ??= this.#work();
    });
  }

  async #work(): Promise<void> {
    // Calls of this turn go together.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, CHUNK);
      try {
        const first = await this.#write(some);
        // Of calls for the same id, one.
        for (const { key, settle } of some) settle(first.delete(key));
      } catch (error) {
        for (const { fail } of some) fail(error);
      }
    }
    this.#working = undefined;
  }

  /** @returns The keys that were not there. */
  async #write(some: readonly Waiting[]): Promise<Set<string>> {
    const rows = new Map(some.map(({ key, expires }) => [key, { key, expires }]));
    const sorted = [...rows.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
    const written = await this.#database.write((db) =>
      db
        .insertInto("used_once")
        .values(sorted)
        .onConflict((conflict) => conflict.doNothing())
        .returning("key")
        .execute(),
    );
    return new Set(written.map(({ key }) => key));
  }
}
