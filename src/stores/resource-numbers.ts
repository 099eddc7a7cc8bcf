import { sql } from "kysely";
import { LRUCache } from "lru-cache";
import {
  newResourceNumber,
  type RandomSource,
  type ResourceNumbers,
} from "../agent/resources/resource-numbers.js";
import { randomBytes } from "../bytes/random.js";
import { type StoreDatabase, type StoreQueries, type TableDatabase, tablesOf } from "./database.js";
import { readStored, textOf, whole } from "./stored-values.js";

/** Maximum number of names that are cached in memory. Each name has at most 512 bytes. */
const BOUND = 50_000;
// With `max`, the cache would allocate its tables immediately, which takes 25 milliseconds at every start.
const BOUNDS = { maxSize: BOUND, sizeCalculation: () => 1 };
/** Maximum number of names or numbers in one statement. */
const CHUNK = 1000;

type Numbered = readonly (readonly [name: string, number: number])[];

/**
 * The numbers of resource names in a database that several processes may share. A number never changes, so a
 * cached number stays valid.
 */
export class ResourceNumberStore implements ResourceNumbers {
  readonly #database: TableDatabase;
  readonly #random: RandomSource;
  readonly #numbers = new LRUCache<string, number>(BOUNDS);
  readonly #names = new LRUCache<number, string>(BOUNDS);
  #giving: Promise<unknown> = Promise.resolve();

  constructor(database: StoreDatabase, random: RandomSource = randomBytes) {
    this.#database = tablesOf(database);
    this.#random = random;
  }

  /** @throws StorageError if new numbers cannot be written, or existing numbers cannot be read. */
  async numbersOf(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    return lookUp(names, this.#numbers, async (some) => {
      const texts = some.map((name) => JSON.stringify(name));
      const known = await this.#database.read((db) => this.#rows(db, "name", texts));
      const numbered = new Set(known.map(([name]) => name));
      const fresh = some.filter((name) => !numbered.has(name));
      const given = fresh.length === 0 ? [] : await this.#give(fresh);
      return this.#remembered([...known, ...given]);
    });
  }

  /** @throws StorageError if the names cannot be read. */
  async namesOf(numbers: readonly number[]): Promise<ReadonlyMap<number, string>> {
    return lookUp(numbers, this.#names, async (some) => {
      const known = await this.#database.read((db) => this.#rows(db, "number", some));
      return this.#remembered(known).map(([name, number]) => [number, name]);
    });
  }

  /**
   * Assigns numbers to names that have none. Calls run one after another and names are sorted, so that two
   * processes that assign numbers at the same time cannot deadlock.
   */
  async #give(names: readonly string[]): Promise<Numbered> {
    const texts = names.map((name) => JSON.stringify(name)).sort();
    const given = this.#giving.then(() =>
      this.#database.write(async (db) => {
        let found: Numbered = [];
        while (found.length < texts.length) {
          const rows = texts.map((name) => ({ name, number: newResourceNumber(this.#random) }));
          const insert = db.insertInto("resource_number").values(rows);
          // Another process may have assigned a number to the name meanwhile. A name whose random number is
          // taken gets another number in the next round.
          await insert.onConflict((conflict) => conflict.doNothing()).execute();
          found = await this.#rows(db, "name", texts);
        }
        return found;
      }),
    );
    this.#giving = given.catch(() => {});
    return given;
  }

  /** @throws StorageError `store_corrupt` if a row is damaged. */
  async #rows(
    db: StoreQueries,
    column: "name" | "number",
    values: readonly (string | number)[],
  ): Promise<Numbered> {
    const all = db.selectFrom("resource_number").select(["name", "number"]);
    const rows = await all.where(sql.ref(column), "in", values).execute();
    return readStored(this.#database.name, "a resource's number", () =>
      rows.map(({ name, number }) => [textOf(name), whole(number)]),
    );
  }

  #remembered(found: Numbered): Numbered {
    for (const [name, number] of found) {
      this.#numbers.set(name, number);
      this.#names.set(number, name);
    }
    return found;
  }
}

/** Returns the values of keys: from the cache, or from `look` in batches. */
async function lookUp<Key extends string | number, Value extends string | number>(
  keys: readonly Key[],
  remembered: LRUCache<Key, Value>,
  look: (some: readonly Key[]) => Promise<readonly (readonly [Key, Value])[]>,
): Promise<ReadonlyMap<Key, Value>> {
  const found = new Map<Key, Value>();
  const unknown = new Set<Key>();
  for (const key of keys) {
    const value = remembered.get(key);
    if (value === undefined) unknown.add(key);
    else found.set(key, value);
  }
  const left = [...unknown];
  for (let at = 0; at < left.length; at += CHUNK) {
    for (const [key, value] of await look(left.slice(at, at + CHUNK))) found.set(key, value);
  }
  return found;
}

/**
 * Opens the resource numbers in a database of the stores.
 *
 * @throws TypeError if `database` is not a database of the stores.
 */
export function openResourceNumbers(database: StoreDatabase): ResourceNumberStore {
  return new ResourceNumberStore(database);
}
