// src/protocols/mcp/tools: pins the definitions of servers' tools, so that a changed definition is noticed.

import { canonicalCopy, type Json, type JsonObject } from "../../../bytes/json.js";
import { digestOfText } from "../../../macaroon/hmac.js";
import {
  type StoreDatabase,
  type StoreQueries,
  type TableDatabase,
  tablesOf,
} from "../../../stores/database.js";
import { readStored, textOf, whole } from "../../../stores/stored-values.js";

/** A tool as its server defines it. */
export type ToolDefinition = JsonObject & {
  readonly name: string;
  readonly inputSchema: JsonObject;
};

/** The pinned definitions of tools: the first definition that was seen, or the last one that the user accepted. */
export interface ToolPins {
  /**
   * Compares definitions with the pinned definitions, and pins the definitions of new tools.
   *
   * @param server - The server's name; `undefined` for a gate's only server.
   * @returns The names of tools whose definition has changed.
   */
  check(server: string | undefined, tools: readonly ToolDefinition[]): Promise<ReadonlySet<string>>;
  /**
   * Compares definitions as {@link check} does, but writes nothing.
   *
   * @returns The names of tools that `check` would not report: their definition is the pinned one, or `check` would pin
   *   it.
   */
  unchanged(
    server: string | undefined,
    tools: readonly ToolDefinition[],
  ): Promise<ReadonlySet<string>>;
}

/** A pinned definition. */
export interface ToolPin {
  /** The string that identifies the server, as {@link PinStoreOptions.titleOf} returns it. */
  readonly server: string;
  readonly tool: string;
  readonly definition: Json;
  /** The time at which the definition was pinned, in milliseconds since 1970. */
  readonly pinned: number;
  /**
   * The server's present definition, if it differs from the pinned one. The gate refuses the tool until the user
   * accepts this definition.
   */
  readonly changed?: Json | undefined;
}

export interface PinStoreOptions {
  /**
   * Returns a string that identifies a server among the servers of all gates of the home, such as its command.
   * Unless given, the string is the server's name, or "" for a server without a name.
   */
  readonly titleOf?: ((server: string | undefined) => string) | undefined;
  /** Returns the present time in milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

/** Maximum number of pinned tools of one server. */
const MOST_TOOLS = 1000;
/** Longest definition that is pinned, in UTF-16 code units. */
const LONGEST = 256 * 1024;
/** Maximum number of pins that one statement selects. */
const CHUNK = 1000;

/**
 * Pins in a database that several gates may use at the same time. If two gates see different first definitions of a
 * tool, only one is pinned. A definition that is too long, or that belongs to a tool over the maximum number, is
 * treated as changed.
 */
export class PinStore implements ToolPins {
  readonly #database: TableDatabase;
  readonly #options: PinStoreOptions;

  /** @param database - The calling code closes it. */
  constructor(database: StoreDatabase, options: PinStoreOptions = {}) {
    this.#database = tablesOf(database);
    this.#options = options;
  }

  async check(
    server: string | undefined,
    tools: readonly ToolDefinition[],
  ): Promise<ReadonlySet<string>> {
    const title = this.#titleOf(server);
    const seen = seenIn(title, tools);
    const rows = await this.#database.read((db) => rowsOf(db, seen));
    const isKnown = seen.every(({ id, text }) => {
      const row = rows.get(id);
      return row !== undefined && text === (row.changed ?? row.definition);
    });
    const pinned = isKnown ? rows : await this.#database.write((db) => this.#note(db, title, seen));
    const changed = seen.filter(({ id, text }) => pinned.get(id)?.definition !== text);
    return new Set(changed.map(({ name }) => name));
  }

  async unchanged(
    server: string | undefined,
    tools: readonly ToolDefinition[],
  ): Promise<ReadonlySet<string>> {
    const title = this.#titleOf(server);
    const seen = seenIn(title, tools);
    const { rows, hasRoom } = await this.#database.read(async (db) => ({
      rows: await rowsOf(db, seen),
      hasRoom: (await countOf(db, title)) < MOST_TOOLS,
    }));
    const same = seen.filter(({ id, text }) => {
      const row = rows.get(id);
      if (row !== undefined) return row.definition === text;
      return hasRoom && text.length <= LONGEST;
    });
    return new Set(same.map(({ name }) => name));
  }

  /** Returns all pins, sorted by server and tool. */
  async list(): Promise<readonly ToolPin[]> {
    const rows = await this.#database.read((db) =>
      db.selectFrom("tool_pin").selectAll().orderBy("server").orderBy("tool").execute(),
    );
    return readStored(this.#database.name, "the pin of a tool", () => rows.map(pinOf));
  }

  /**
   * Replaces the pinned definition of a tool by the changed one.
   *
   * @param pin - A pin from {@link list}.
   * @returns `false`, and no pin changes, if the definition has changed again since `list`, or has become equal to the
   *   pinned definition.
   */
  async accept({ server, tool, changed }: ToolPin): Promise<boolean> {
    return this.#database.write(async (db) => {
      const id = idOf(server, tool);
      const row = await db
        .selectFrom("tool_pin")
        .select("changed")
        .where("id", "=", id)
        .executeTakeFirst();
      if (changed === undefined || row?.changed !== JSON.stringify(changed)) return false;
      const pinned = this.#now();
      await db
        .updateTable("tool_pin")
        .set({ definition: JSON.stringify(changed), changed: null, pinned })
        .where("id", "=", id)
        .execute();
      return true;
    });
  }

  /**
   * Removes all pins of a server, so that its tools are pinned anew when the server next lists them.
   *
   * @returns The number of removed pins.
   */
  async forget(server: string): Promise<number> {
    return this.#database.write(async (db) => {
      const { numDeletedRows } = await db
        .deleteFrom("tool_pin")
        .where("server", "=", JSON.stringify(server))
        .executeTakeFirst();
      return Number(numDeletedRows);
    });
  }

  /**
   * Pins new definitions, and records changed ones.
   *
   * @returns The pins of the tools.
   */
  async #note(db: StoreQueries, title: string, seen: readonly Seen[]): Promise<Pinned> {
    const rows = await rowsOf(db, seen);
    let room = MOST_TOOLS - (await countOf(db, title));
    for (const one of seen) {
      const { id, text } = one;
      if (text.length > LONGEST) continue;
      const row = rows.get(id);
      if (row === undefined) {
        if (room === 0) continue;
        room--;
        await this.#pin(db, title, one);
      } else if (text !== (row.changed ?? row.definition)) {
        const changed = text === row.definition ? null : text;
        await db.updateTable("tool_pin").set({ changed }).where("id", "=", id).execute();
      }
    }
    return rowsOf(db, seen);
  }

  async #pin(db: StoreQueries, title: string, { id, name, text }: Seen): Promise<void> {
    await db
      .insertInto("tool_pin")
      .values({
        id,
        server: JSON.stringify(title),
        tool: JSON.stringify(name),
        definition: text,
        pinned: this.#now(),
        changed: null,
      })
      // Another gate may just have pinned the tool.
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
  }

  #titleOf(server: string | undefined): string {
    const { titleOf = (name) => name ?? "" } = this.#options;
    return titleOf(server);
  }

  #now(): number {
    return (this.#options.clock ?? Date.now)();
  }
}

/** A definition in a server's list. */
interface Seen {
  /** The id of the tool's pin. */
  readonly id: string;
  readonly name: string;
  /** The definition as JSON. */
  readonly text: string;
}

function seenIn(title: string, tools: readonly ToolDefinition[]): readonly Seen[] {
  return tools.map((tool) => ({
    id: idOf(title, tool.name),
    name: tool.name,
    text: textOfDefinition(tool),
  }));
}

/** Pins by their ids. */
type Pinned = ReadonlyMap<string, { readonly definition: string; readonly changed: string | null }>;

async function rowsOf(db: StoreQueries, seen: readonly Seen[]): Promise<Pinned> {
  const pinned = new Map<string, { definition: string; changed: string | null }>();
  for (let at = 0; at < seen.length; at += CHUNK) {
    const ids = seen.slice(at, at + CHUNK).map(({ id }) => id);
    const rows = await db
      .selectFrom("tool_pin")
      .select(["id", "definition", "changed"])
      .where("id", "in", ids)
      .execute();
    for (const { id, ...row } of rows) pinned.set(id, row);
  }
  return pinned;
}

async function countOf(db: StoreQueries, title: string): Promise<number> {
  const { count } = await db
    .selectFrom("tool_pin")
    .select((is) => is.fn.countAll<number>().as("count"))
    .where("server", "=", JSON.stringify(title))
    .executeTakeFirstOrThrow();
  return Number(count);
}

function pinOf(row: {
  readonly server: string;
  readonly tool: string;
  readonly definition: string;
  readonly pinned: number;
  readonly changed: string | null;
}): ToolPin {
  const { server, tool, definition, pinned, changed } = row;
  return {
    server: textOf(server),
    tool: textOf(tool),
    definition: JSON.parse(definition),
    pinned: whole(pinned),
    changed: changed === null ? undefined : JSON.parse(changed),
  };
}

/** Returns the canonical JSON by which definitions are compared. The order of properties has no effect. */
function textOfDefinition(tool: ToolDefinition): string {
  return JSON.stringify(canonicalCopy(tool));
}

function idOf(title: string, tool: string): string {
  return digestOfText(JSON.stringify([title, tool]));
}
