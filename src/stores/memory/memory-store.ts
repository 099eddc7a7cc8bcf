import type { Json } from "../../bytes/json.js";
import { assertString } from "../../checks/kinds.js";
import { assertMembers, knownMembers } from "../../checks/members.js";
import { plainCopy } from "../../checks/plain.js";
import {
  type StoreDatabase,
  type StoreQueries,
  type TableDatabase,
  tablesOf,
} from "../database.js";
import { readStored, whole } from "../stored-values.js";
import {
  assertKey,
  assertKeyText,
  MemoryError,
  type MemoryLimits,
  settledLimits,
} from "./memory-limits.js";

/** Options for opening memories. */
export interface MemoryStoreOptions {
  /** Limits for one principal. */
  readonly limits?: Partial<MemoryLimits> | undefined;
  /** Returns the current time, in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

/** A key, with the size and the time of its value. */
export interface MemoryEntry {
  readonly key: string;
  /** Size of the key and of the value as JSON together, in bytes of UTF-8. */
  readonly bytes: number;
  /** Time of the last `set`, in milliseconds since 1970. */
  readonly updated: number;
}

/** Selects the keys to list. */
export interface MemoryQuery {
  /** Prefix of the keys; empty unless given. */
  readonly prefix?: string | undefined;
  /** Lists only keys after this key, usually the last key of the previous page. */
  readonly after?: string | undefined;
  /** Maximum number of keys to return, 1 to 1,000. */
  readonly limit: number;
}

const MAX_PAGE = 1000;
/** A prefix followed by this character is the end of the range of all keys with that prefix. */
const END = "\u{10ffff}";

/**
 * JSON values by key in a database, separate for each principal. Keys are compared byte by byte, without case
 * folding or normalization. Made by {@link openMemory}.
 */
export class MemoryStore {
  readonly limits: MemoryLimits;
  readonly #database: TableDatabase;
  readonly #clock: () => number;

  /** @internal Use {@link openMemory}. */
  constructor(database: StoreDatabase, options: MemoryStoreOptions = {}) {
    assertMembers(options, ["limits", "clock"], "options");
    this.limits = settledLimits(options.limits ?? {});
    this.#database = tablesOf(database);
    this.#clock = options.clock ?? Date.now;
  }

  /**
   * Reads the value of a key.
   *
   * @throws MemoryError `key_invalid`
   * @throws StorageError if the database fails.
   */
  async get(principal: string, key: string): Promise<(MemoryEntry & { value: Json }) | undefined> {
    assertPlace(principal, key, this.limits);
    const row = await this.#database.read((db) =>
      db
        .selectFrom("memory_entry")
        .selectAll()
        .where("principal", "=", JSON.stringify(principal))
        .where("key", "=", key)
        .executeTakeFirst(),
    );
    if (row === undefined) return undefined;
    return readStored(this.#database.name, "an entry of a memory", () => ({
      ...entryOf(row),
      value: JSON.parse(row.value),
    }));
  }

  /**
   * Sets the value of a key. Resolves once the value is durable.
   *
   * @returns The entry, and whether its key is new (`made`).
   * @throws MemoryError `key_invalid`, `value_too_large` or `quota_exceeded`; the store is then unchanged.
   * @throws StorageError if the database fails.
   */
  async set(principal: string, key: string, value: Json): Promise<MemoryEntry & { made: boolean }> {
    assertPlace(principal, key, this.limits);
    const text = JSON.stringify(plainCopy(value, "value", "arguments"));
    const size = Buffer.byteLength(text);
    if (size > this.limits.valueBytes) {
      const message = `the value has ${size} bytes as JSON; ${this.limits.valueBytes} are kept at most`;
      throw new MemoryError("value_too_large", message);
    }
    const entry = { key, bytes: Buffer.byteLength(key) + size, updated: this.#clock() };
    const owner = JSON.stringify(principal);
    const made = await this.#database.write(async (db) => {
      const use = await lockedUse(db, owner);
      const before = await bytesAt(db, owner, key);
      const entries = use.entries + (before === undefined ? 1 : 0);
      const bytes = use.bytes + entry.bytes - (before ?? 0);
      this.#assertRoom(use, { entries, bytes });
      await db
        .insertInto("memory_entry")
        .values({ principal: owner, ...entry, value: text })
        .onConflict((conflict) =>
          conflict
            .columns(["principal", "key"])
            .doUpdateSet({ value: text, bytes: entry.bytes, updated: entry.updated }),
        )
        .execute();
      await setUse(db, owner, { entries, bytes });
      return before === undefined;
    });
    return { ...entry, made };
  }

  /**
   * Removes a key and its value.
   *
   * @returns `true` if the key existed.
   * @throws MemoryError `key_invalid`
   * @throws StorageError if the database fails.
   */
  async delete(principal: string, key: string): Promise<boolean> {
    assertPlace(principal, key, this.limits);
    const owner = JSON.stringify(principal);
    // This write is allowed on a nearly full disk, because it frees space.
    return this.#database.write(
      async (db) => {
        const { entries, bytes } = await lockedUse(db, owner);
        const before = await bytesAt(db, owner, key);
        if (before === undefined) return false;
        await db
          .deleteFrom("memory_entry")
          .where("principal", "=", owner)
          .where("key", "=", key)
          .execute();
        await setUse(db, owner, { entries: entries - 1, bytes: bytes - before });
        return true;
      },
      { urgent: true },
    );
  }

  /**
   * Lists keys, ordered by their bytes, one page at a time.
   *
   * @throws TypeError if the limit is not 1 to 1,000.
   * @throws MemoryError `key_invalid` if the prefix or `after` cannot be the start of a key.
   * @throws StorageError if the database fails.
   */
  async list(
    principal: string,
    query: MemoryQuery,
  ): Promise<{ readonly entries: readonly MemoryEntry[]; readonly more: boolean }> {
    assertString(principal, "principal");
    const { prefix = "", after = "", limit } = knownMembers(query, QUERY, "query");
    if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_PAGE) {
      throw new TypeError(`limit: must be 1 to ${MAX_PAGE}`);
    }
    assertKeyText(prefix, this.limits.keyBytes, "the prefix");
    assertKeyText(after, this.limits.keyBytes, "the key to go on after");
    const rows = await this.#database.read((db) =>
      db
        .selectFrom("memory_entry")
        .select(["key", "bytes", "updated"])
        .where("principal", "=", JSON.stringify(principal))
        .where("key", ">=", prefix)
        .where("key", "<", `${prefix}${END}`)
        .where("key", ">", after)
        .orderBy("key")
        // Read one key more than a page has, to know whether further keys follow.
        .limit(limit + 1)
        .execute(),
    );
    const entries = readStored(this.#database.name, "an entry of a memory", () =>
      rows.map(entryOf),
    );
    return { entries: entries.slice(0, limit), more: entries.length > limit };
  }

  // A write that does not add entries or bytes is accepted even above a limit, since limits may have been
  // lowered.
  #assertRoom(use: Use, { entries, bytes }: Use): void {
    const most = this.limits;
    if (entries > most.entries && entries > use.entries) {
      const message = `this principal already has ${most.entries} entries, the maximum; delete some`;
      throw new MemoryError("quota_exceeded", message);
    }
    if (bytes > most.bytes && bytes > use.bytes) {
      const message = `${most.bytes} bytes are kept for a principal, and with this there would be ${bytes}`;
      throw new MemoryError("quota_exceeded", message);
    }
  }
}

const QUERY = ["prefix", "after", "limit"];

interface Use {
  readonly entries: number;
  readonly bytes: number;
}

/**
 * @throws TypeError unless `principal` and `key` are strings.
 * @throws MemoryError `key_invalid`
 */
function assertPlace(principal: string, key: string, limits: MemoryLimits): void {
  assertString(principal, "principal");
  assertString(key, "key");
  assertKey(key, limits);
}

async function lockedUse(db: StoreQueries, principal: string): Promise<Use> {
  return db
    .insertInto("memory_use")
    .values({ principal, entries: 0, bytes: 0 })
    .onConflict((conflict) => conflict.column("principal").doUpdateSet({ principal }))
    .returning(["entries", "bytes"])
    .executeTakeFirstOrThrow();
}

async function setUse(db: StoreQueries, principal: string, use: Use): Promise<void> {
  await db.updateTable("memory_use").set(use).where("principal", "=", principal).execute();
}

async function bytesAt(
  db: StoreQueries,
  principal: string,
  key: string,
): Promise<number | undefined> {
  const row = await db
    .selectFrom("memory_entry")
    .select("bytes")
    .where("principal", "=", principal)
    .where("key", "=", key)
    .executeTakeFirst();
  return row?.bytes;
}

function entryOf({ key, bytes, updated }: MemoryEntry): MemoryEntry {
  return { key, bytes: whole(bytes), updated: whole(updated) };
}

/**
 * Opens the memories in a database, which the caller closes.
 *
 * @throws TypeError naming the option that is wrong.
 */
export function openMemory(database: StoreDatabase, options?: MemoryStoreOptions): MemoryStore {
  return new MemoryStore(database, options);
}
