// src/protocols/mcp/tools: the tools of servers: their pinned definitions, and the schemas that tokens narrow.

import { createHash } from "node:crypto";
import { canonicalCopy, type Json, type JsonObject } from "../../../bytes/json.js";
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

/** The definitions that someone has accepted, or that were seen first. */
export interface ToolPins {
  /**
   * Compares definitions with those that are pinned, and pins new ones.
   *
   * @param server - The server's name; `undefined` for a gate's only server.
   * @returns The names of tools whose definition has changed.
   */
  check(server: string | undefined, tools: readonly ToolDefinition[]): Promise<ReadonlySet<string>>;
}

/** A pinned definition. */
export interface ToolPin {
  /** The name of the server, as {@link PinStoreOptions.titleOf} returns it. */
  readonly server: string;
  readonly tool: string;
  readonly definition: Json;
  /** The time at which the definition was pinned, in milliseconds since 1970. */
  readonly pinned: number;
  /** The server's present definition, if it is another one: the tool is refused until the definition is accepted. */
  readonly changed?: Json | undefined;
}

export interface PinStoreOptions {
  /**
   * Returns a text that names a server among those of all gates of the home, such as its command line. Its name unless
   * given, or an empty text.
   */
  readonly titleOf?: ((server: string | undefined) => string) | undefined;
  /** Milliseconds since 1970; `Date.now` unless given. */
  readonly clock?: (() => number) | undefined;
}

/** Maximum number of pinned tools of one server. */
const MOST_TOOLS = 1000;
/** Longest definition that is pinned, in UTF-16 code units. */
const LONGEST = 256 * 1024;

/**
 * Pins in a database of the stores, which several gates may use at once: of two definitions that are seen first at the
 * same time, one is pinned. A definition that is too long, or of one tool too many, counts as changed.
 */
export class PinStore implements ToolPins {
  readonly #database: TableDatabase;
  readonly #options: PinStoreOptions;

  /** @param database - Stays open. */
  constructor(database: StoreDatabase, options: PinStoreOptions = {}) {
    this.#database = tablesOf(database);
    this.#options = options;
  }

  async check(
    server: string | undefined,
    tools: readonly ToolDefinition[],
  ): Promise<ReadonlySet<string>> {
    const { titleOf = (name) => name ?? "" } = this.#options;
    const title = titleOf(server);
    const seen = tools.map((tool) => ({ name: tool.name, text: textOfDefinition(tool) }));
    const rows = await this.#database.read((db) => rowsOf(db, title));
    const known = seen.every(({ name, text }) => {
      const row = rows.get(name);
      return row !== undefined && text === (row.changed ?? row.definition);
    });
    const pinned = known ? rows : await this.#database.write((db) => this.#note(db, title, seen));
    return new Set(
      seen
        .filter(({ name, text }) => pinned.get(name)?.definition !== text)
        .map(({ name }) => name),
    );
  }

  /** Returns all pins, by server and tool. */
  async list(): Promise<readonly ToolPin[]> {
    const rows = await this.#database.read((db) =>
      db.selectFrom("tool_pin").selectAll().orderBy("server").orderBy("tool").execute(),
    );
    return readStored(this.#database.name, "the pin of a tool", () => rows.map(pinOf));
  }

  /**
   * Pins the changed definition of a tool in the place of the pinned one.
   *
   * @param pin - As {@link list} gives it.
   * @returns `false`, and no pin changes, if the definition has changed again since `list`, or is the pinned one again.
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

  /** Removes all pins of a server, so that its tools are pinned anew when next seen. @returns The number of pins. */
  async forget(server: string): Promise<number> {
    return this.#database.write(async (db) => {
      const { size } = await rowsOf(db, server);
      await db.deleteFrom("tool_pin").where("server", "=", JSON.stringify(server)).execute();
      return size;
    });
  }

  /** Pins new definitions, and notes changed ones. @returns All pins of the server. */
  async #note(db: StoreQueries, title: string, seen: readonly Seen[]): Promise<Pinned> {
    const rows = await rowsOf(db, title);
    let room = MOST_TOOLS - rows.size;
    for (const { name, text } of seen) {
      if (text.length > LONGEST) continue;
      const row = rows.get(name);
      if (row === undefined) {
        if (room === 0) continue;
        room--;
        await this.#pin(db, title, { name, text });
      } else if (text !== (row.changed ?? row.definition)) {
        const changed = text === row.definition ? null : text;
        await db
          .updateTable("tool_pin")
          .set({ changed })
          .where("id", "=", idOf(title, name))
          .execute();
      }
    }
    return rowsOf(db, title);
  }

  async #pin(db: StoreQueries, title: string, { name, text }: Seen): Promise<void> {
    await db
      .insertInto("tool_pin")
      .values({
        id: idOf(title, name),
        server: JSON.stringify(title),
        tool: JSON.stringify(name),
        definition: text,
        pinned: this.#now(),
        changed: null,
      })
      // Another gate has just pinned it.
      .onConflict((conflict) => conflict.column("id").doNothing())
      .execute();
  }

  #now(): number {
    return (this.#options.clock ?? Date.now)();
  }
}

interface Seen {
  readonly name: string;
  /** The definition as JSON. */
  readonly text: string;
}

/** The pins of a server by the name of the tool. */
type Pinned = ReadonlyMap<string, { readonly definition: string; readonly changed: string | null }>;

async function rowsOf(db: StoreQueries, title: string): Promise<Pinned> {
  const rows = await db
    .selectFrom("tool_pin")
    .select(["tool", "definition", "changed"])
    .where("server", "=", JSON.stringify(title))
    .execute();
  return new Map(rows.map(({ tool, ...row }) => [textOf(tool), row]));
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

/** Returns a definition as it is compared. The order of properties does not matter. */
function textOfDefinition(tool: ToolDefinition): string {
  return JSON.stringify(canonicalCopy(tool));
}

function idOf(title: string, tool: string): string {
  return createHash("sha256")
    .update(JSON.stringify([title, tool]))
    .digest("base64url");
}
