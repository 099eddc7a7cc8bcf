import { expect, test } from "vitest";
import { createStores, openStores } from "../../src/stores/database.js";
import { onBothDatabases } from "../support/databases.js";

onBothDatabases((place) => {
  test("the tables of every store are made, and are there for the next that opens it", async () => {
    const where = await place();
    await (await createStores(where)).close();
    const stores = await openStores(where);
    const [state] = await stores.read((db) =>
      db.selectFrom("revocation_state").selectAll().execute(),
    );
    expect(state).toEqual({ one: 1, version: 0, pruned: 0 });
    await stores.close();
  });
});
