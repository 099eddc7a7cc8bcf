import { join } from "node:path";
import Database from "libsql";
import type { Skill, SkillCall } from "../../../src/agent/skill.js";
import type { Json } from "../../../src/bytes/json.js";
import type { Grant } from "../../../src/issuer/grant.js";
import { openTables } from "../../../src/sources/table.js";
import type { Collection } from "../../../src/sources/table-columns.js";
import {
  HANDLE,
  type Holdings,
  mark,
  objectSchema,
  ownerRules,
  placeOf,
  type Seed,
} from "./holdings.js";
import type { Service } from "./people.js";
import { CALENDAR, CALENDAR_OWNERS, EMAIL, EMAIL_OWNERS } from "./seeds.js";
import { Watched } from "./watched.js";

const TEXT = { type: "string", maxLength: 20_000 };

/** A row in the agent's state. */
interface Row {
  readonly id: number;
  readonly collection: string;
  readonly title: string;
  readonly text: string;
}

type Connection = InstanceType<typeof Database>;

/** Opens the calendar agent: events in SQLite. */
export async function openCalendar(home: string): Promise<Holdings> {
  return openTableAgent(home, "calendar", "event", CALENDAR, CALENDAR_OWNERS, (database) => [
    ...changing(database, "event"),
  ]);
}

/** Opens the email agent: sent and received messages in SQLite. */
export async function openEmail(home: string): Promise<Holdings> {
  return openTableAgent(home, "email", "message", EMAIL, EMAIL_OWNERS, (database) => [
    ...sending(database),
  ]);
}

async function openTableAgent(
  home: string,
  service: Service,
  noun: string,
  seeds: readonly Seed[],
  owners: { readonly [user: string]: readonly string[] },
  more: (database: Connection) => readonly Skill[],
): Promise<Holdings> {
  const file = join(home, `${service}.db`);
  const database = new Database(file);
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = OFF");
  database.exec(
    "CREATE TABLE item (id INTEGER PRIMARY KEY, collection TEXT, title TEXT, text TEXT)",
  );
  const insert = database.prepare("INSERT INTO item VALUES (?, ?, ?, ?)");
  for (const { collection, key, title, text } of seeds) {
    const place = placeOf(service, collection, key);
    insert.run(Number(key), collection, title, `${text} ${mark(place)}`);
  }
  const collections: { [collection: string]: Collection } = {};
  for (const { collection } of seeds) {
    database.exec(
      `CREATE VIEW IF NOT EXISTS in_${collection} AS SELECT * FROM item WHERE collection = '${collection}'`,
    );
    const table = `in_${collection}`;
    collections[collection] = {
      table,
      name: "id",
      displayName: "title",
      fields: { title: "title" },
    };
  }
  const source = await openTables({ database: file, collections });
  const skills = [...reading(database, noun), ...more(database), deleting(database, noun)];
  const items = new Watched(file, "SELECT id, collection, title, text FROM item", (row) => {
    const { id, collection, title, text } = row as Row;
    const whole = JSON.stringify({ id, collection, title, text });
    return [placeOf(service, collection, String(id)), whole];
  });
  return {
    source,
    skills,
    grants: grantsOf(service, skills),
    rules: ownerRules(owners),
    state: () => items.read(),
    restore: (state) => {
      const own = [...state].filter(([place]) => place.startsWith(`${service}/`));
      database.exec("DELETE FROM item");
      for (const [, row] of own) {
        const { id, collection, title, text }: Row = JSON.parse(row);
        insert.run(id, collection, title, text);
      }
    },
    close: () => {
      items.close();
      source.close();
      database.close();
    },
  };
}

function grantsOf(service: Service, skills: readonly Skill[]): readonly Grant[] {
  const changing = ["create", "update", "delete", "forward"];
  const has = (operation: string): boolean => skills.some((skill) => skill.operation === operation);
  return [
    { id: `${service}:read`, description: "Read and list", operations: ["read", "list"] },
    {
      id: `${service}:write`,
      description: "Change what is there",
      operations: changing.filter(has),
      requires: [`${service}:read`],
    },
    ...(has("send")
      ? [{ id: `${service}:send`, description: "Send messages", operations: ["send"] }]
      : []),
    {
      id: `${service}:legacy`,
      description: "Everything, without limits to resources",
      operations: ["*"],
      attenuable: false,
      legacy: true,
    },
  ];
}

/** Returns the row number of the resource in an argument. */
function rowOf({ arguments: given, resources }: SkillCall): number {
  const name = resources.get(String(given["resource"]))?.name ?? "";
  return Number(name.slice(name.indexOf("/") + 1));
}

function reading(database: Connection, noun: string): readonly Skill[] {
  return [
    {
      id: `list_${noun}s`,
      name: "List",
      description: `Titles and handles of every ${noun} within reach`,
      operation: "list",
      reach: "scoped",
      input: objectSchema({}),
      run: async ({ resources }) =>
        [...resources].map(([handle, { displayName }]) => ({ handle, title: displayName })),
    },
    {
      id: `read_${noun}`,
      name: "Read",
      description: `The text of one ${noun}`,
      operation: "read",
      reach: "named",
      input: objectSchema({ resource: HANDLE }),
      run: async (call) => {
        const row = database.prepare("SELECT text FROM item WHERE id = ?").get(rowOf(call));
        const { text }: { readonly text: Json } = row as Row;
        return { text };
      },
    },
  ];
}

function deleting(database: Connection, noun: string): Skill {
  return {
    id: `delete_${noun}`,
    name: "Delete",
    description: `Removes one ${noun}`,
    operation: "delete",
    reach: "named",
    input: objectSchema({ resource: HANDLE }),
    run: async (call) => {
      database.prepare("DELETE FROM item WHERE id = ?").run(rowOf(call));
      return { deleted: true };
    },
  };
}

function changing(database: Connection, noun: string): readonly Skill[] {
  return [
    {
      id: `create_${noun}`,
      name: "Create",
      description: `A new ${noun} in a calendar`,
      operation: "create",
      reach: "named",
      target: "collection",
      input: objectSchema({ collection: HANDLE, title: TEXT, text: TEXT }),
      run: async ({ arguments: { collection, title, text }, resources }) => {
        const { collection: name = "" } = resources.get(String(collection)) ?? {};
        const sql = "INSERT INTO item (collection, title, text) VALUES (?, ?, ?)";
        database.prepare(sql).run(name, String(title), String(text));
        return { created: true };
      },
    },
    {
      id: `update_${noun}`,
      name: "Update",
      description: `Another text for one ${noun}`,
      operation: "update",
      reach: "named",
      input: objectSchema({ resource: HANDLE, text: TEXT }),
      run: async (call) => {
        const sql = "UPDATE item SET text = ? WHERE id = ?";
        database.prepare(sql).run(String(call.arguments["text"]), rowOf(call));
        return { updated: true };
      },
    },
  ];
}

function sending(database: Connection): readonly Skill[] {
  const put = (to: Json | undefined, title: string, text: string): Json => {
    const sql = "INSERT INTO item (collection, title, text) VALUES ('sent', ?, ?)";
    database.prepare(sql).run(title, JSON.stringify({ to: to ?? null, text }));
    return { sent: true };
  };
  return [
    {
      id: "send_message",
      name: "Send",
      description: "Sends a new message",
      operation: "send",
      reach: "none",
      input: objectSchema({ to: TEXT, subject: TEXT, body: TEXT }),
      run: async ({ arguments: { to, subject, body } }) => put(to, String(subject), String(body)),
    },
    {
      id: "forward_message",
      name: "Forward",
      description: "Sends a message that is there to someone else",
      operation: "forward",
      reach: "named",
      input: objectSchema({ resource: HANDLE, to: TEXT }),
      run: async (call) => {
        const row = database.prepare("SELECT title, text FROM item WHERE id = ?").get(rowOf(call));
        const { title, text } = row as Row;
        return put(call.arguments["to"], title, text);
      },
    },
  ];
}
