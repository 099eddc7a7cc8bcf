import type { KyselyPlugin } from "kysely";
import { expect, test } from "vitest";
import { viewerOf } from "../../../../src/protocols/a2a/tasks/access-rows.js";
import { TaskDatabase } from "../../../../src/protocols/a2a/tasks/task-database.js";
import { listTasks } from "../../../../src/protocols/a2a/tasks/task-list.js";
import { type StoreQueries, tablesOf } from "../../../../src/stores/database.js";
import { throughStores } from "../../../support/databases.js";
import { as, opened, part, task } from "./support.js";

const TEXT = "x".repeat(300_000);

throughStores((place) => {
  test("listTasks reads from the database only the rows of the tasks that it returns", async () => {
    const { store, database } = await opened(await place());
    const artifact = { artifactId: "a", name: "", description: "", metadata: undefined };
    const artifacts = [{ ...artifact, extensions: [], parts: [part(TEXT)] }];
    for (let i = 0; i < 8; i++) {
      await store.save(task(`t${i}`, { metadata: { text: TEXT }, artifacts }), as("alice"));
    }
    const kept = new TaskDatabase(tablesOf(database), Date.now, () => {}, {});
    const listed = async (includeArtifacts: boolean) => {
      const reading = { characters: 0 };
      const page = { ...REQUEST, includeArtifacts };
      const { tasks } = await tablesOf(database).read((db) =>
        listTasks(
          db.withPlugin(counting(reading)) as StoreQueries,
          page,
          viewerOf(as("alice")),
          kept,
        ),
      );
      return { tasks: tasks.map(({ id }) => id), ...reading };
    };
    const bare = await listed(false);
    expect(bare.tasks).toEqual(["t7", "t6", "t5"]);
    expect(bare.characters).toBeLessThan(3 * TEXT.length + 5000);
    const whole = await listed(true);
    expect(whole.tasks).toEqual(["t7"]);
    expect(whole.characters).toBeLessThan(2 * TEXT.length + 5000);
  });
});

const REQUEST = {
  tenant: "",
  contextId: "",
  status: 0,
  pageToken: "",
  pageSize: 100,
  statusTimestampAfter: undefined,
  historyLength: undefined,
};

/** Counts the characters of all strings that queries return. */
function counting(reading: { characters: number }): KyselyPlugin {
  return {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      for (const value of result.rows.flatMap((row) => Object.values(row))) {
        if (typeof value === "string") reading.characters += value.length;
      }
      return result;
    },
  };
}
