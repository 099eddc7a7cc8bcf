import type { Kysely, Selectable } from "kysely";
import { LRUCache } from "lru-cache";
import {
  newResourceNumber,
  type RandomSource,
  type ResourceNumbers,
} from "../agent/resources/resource-numbers.js";
import { randomBytes } from "../bytes/random.js";
import { StorageError } from "../storage/storage-error.js";
import type { StoreDatabase, StoreTables } from "./database.js";

/** Names whose numbers are kept in memory, with 512 bytes at most each. */
const MAX_CACHED = 50_000;
/** Names or numbers in one statement. */
const CHUNK = 1000;

type Row = Selectable<StoreTables["resource_number"]>;
type Numbered = readonly (readonly [name: string, number: number])[];

/**
 * The numbers of resource names in a database, which many processes may share. A number is the same for
 * all of them, and never changes: what has once been read is not asked for again.
 */
export class ResourceNumberStore implements ResourceNumbers {
  readonly #database: StoreDatabase;
  readonly #random: RandomSource;
  readonly #numbers = new LRUCache<string, number>({ max: MAX_CACHED });
  readonly #names = new LRUCache<number, string>({ max: MAX_CACHED });
  #giving: Promise<unknown> = Promise.resolve();

  constructor(database: StoreDatabase, random: RandomSource = randomBytes) {
    this.#database = database;
    this.#random = random;
  }

  /** @throws StorageError if new numbers cannot be written, or others not be read. */
  async numbersOf(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const numbers = new Map<string, number>();
    const add = (found: Numbered): void => {
      for (const [name, number] of this.#remembered(found)) numbers.set(name, number);
    };
    const unknown = new Set<string>();
    for (const name of names) {
      const number = this.#numbers.get(name);
      if (number === undefined) unknown.add(name);
      else numbers.set(name, number);
    }
    for (const some of chunks(unknown)) {
      const texts = some.map(written);
      add(this.#checked(await this.#database.read((db) => rowsOf(db, "name", texts))));
      const fresh = some.filter((name) => !numbers.has(name));
      if (fresh.length > 0) add(await this.#give(fresh));
    }
    return numbers;
  }

  /** @throws StorageError if they cannot be read. */
  async namesOf(numbers: readonly number[]): Promise<ReadonlyMap<number, string>> {
    const names = new Map<number, string>();
    const unknown = new Set<number>();
    for (const number of numbers) {
      const name = this.#names.get(number);
      if (name === undefined) unknown.add(number);
      else names.set(number, name);
    }
    for (const some of chunks(unknown)) {
      const rows = await this.#database.read((db) => rowsOf(db, "number", some));
      for (const [name, number] of this.#remembered(this.#checked(rows))) names.set(number, name);
    }
    return names;
  }

  /**
   * Gives numbers to names that may have none, one call after another and names in order: two processes
   * that give numbers to the same names at once must not each wait for the other.
   */
  async #give(names: readonly string[]): Promise<Numbered> {
    const texts = names.map(written).sort();
    const given = this.#giving.then(() =>
      this.#database.write(async (db) => {
        let found: Numbered = [];
        let left = texts;
        while (left.length > 0) {
          const rows = left.map((name) => ({ name, number: newResourceNumber(this.#random) }));
          const insert = db.insertInto("resource_number").values(rows);
          // Another process may have been faster; a number that is taken already is drawn again.
          await insert.onConflict((conflict) => conflict.doNothing()).execute();
          found = this.#checked(await rowsOf(db, "name", texts));
          const done = new Set(found.map(([name]) => written(name)));
          left = texts.filter((name) => !done.has(name));
        }
        return found;
      }),
    );
    this.#giving = given.catch(() => {});
    return given;
  }

  /** @throws StorageError `store_corrupt` for a row that was not written like this. */
  #checked(rows: readonly Row[]): Numbered {
    return rows.map((row) => {
      const name = json(row.name);
      if (typeof name === "string" && Number.isSafeInteger(row.number)) return [name, row.number];
      const detail = "a resource's name is not a JSON string, or has no number";
      throw new StorageError("store_corrupt", this.#database.name, { detail });
    });
  }

  #remembered(found: Numbered): Numbered {
    for (const [name, number] of found) {
      this.#numbers.set(name, number);
      this.#names.set(number, name);
    }
    return found;
  }
}

function rowsOf(
  db: Kysely<StoreTables>,
  column: "name" | "number",
  values: readonly (string | number)[],
): Promise<Row[]> {
  const rows = db.selectFrom("resource_number").select(["name", "number"]);
  return rows.where(db.dynamic.ref(column), "in", values).execute();
}

/** As a column holds it: a text column keeps neither NUL nor lone surrogates. */
function written(name: string): string {
  return JSON.stringify(name);
}

function json(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    return undefined;
  }
}

function* chunks<T>(values: ReadonlySet<T>): Generator<readonly T[]> {
  const all = [...values];
  for (let at = 0; at < all.length; at += CHUNK) yield all.slice(at, at + CHUNK);
}
