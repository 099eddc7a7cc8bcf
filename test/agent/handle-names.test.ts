import { renameSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { ResourceNumbersInMemory } from "../../src/agent/resources/resource-numbers.js";
import type { Json } from "../../src/bytes/json.js";
import { openStores } from "../../src/stores/database.js";
import { ResourceNumberStore } from "../../src/stores/resource-numbers.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { item, Shelf } from "./shelf.js";
import { call, codes, grantedOne, handleOf, REPORTS, reading, result, world } from "./support.js";

describe("the handle of a resource name", () => {
  test("is refused while the resource is missing, and works again when a resource has the name again", async () => {
    const { agent, root, one, q1 } = await reading();
    const retrieve = () => call(agent, "retrieve", { document: q1 }, [one]);
    const path = join(root, "reports/q1.md");
    renameSync(path, join(root, "reports/renamed.md"));
    expect(codes(await retrieve())).toEqual(["policy_denied"]);
    renameSync(join(root, "reports/renamed.md"), path);
    expect(result(await retrieve())).toContain("Text of reports/q1.md");
    const again = await grantedOne(agent, REPORTS);
    expect(handleOf(again, "First quarter")).not.toBe(q1);
    expect(result(await retrieve())).toContain("Text of reports/q1.md");
  });

  test("works after a restart with the same database, and is invalid with another database", async () => {
    const place = join(temporaryFolder(), "proviso.db");
    const stores = await openStores(place, "create");
    const { again } = await world({ resourceNumbers: new ResourceNumberStore(stores) });
    const one = await grantedOne(await again({}), REPORTS);
    const document = handleOf(one, "First quarter");
    await stores.close();

    const reopened = await openStores(place);
    onTestFinished(() => reopened.close());
    const later = await again({ resourceNumbers: new ResourceNumberStore(reopened) });
    expect(result(await call(later, "compare", { document }, [one]))).toEqual(["reports/q1.md"]);

    const resourceNumbers = new ResourceNumbersInMemory();
    const without = await again({ resourceNumbers });
    await grantedOne(without, REPORTS);
    expect(codes(await call(without, "compare", { document }, [one]))).toEqual(["handle_invalid"]);
  });

  test("works for any name of 1 to 512 bytes of UTF-8", async () => {
    const rules = [{ principal: "alice", grant: "documents:read", operations: "*" as const }];
    const named = async (name: string): Promise<Json> => {
      const resources = new Shelf([{ ...item("c/x", {}), name }], []);
      const { agent } = await world({ resources, rules: { rules } });
      const request = { grants: ["documents:read"], operations: ["retrieve"] };
      const one = await grantedOne(agent, { ...request, resourceQuery: { collection: "c" } });
      const [{ handle } = { handle: "" }] = one.resourceHandles ?? [];
      return result(await call(agent, "compare", { handle }, [one]));
    };
    for (const name of ["a", "a".repeat(512), "é".repeat(256), "a\ud800", "a\0"]) {
      expect(await named(name)).toEqual([name]);
    }
    for (const name of ["", "a".repeat(513), "é".repeat(257)]) {
      await expect(named(name)).rejects.toThrow("name must have 1 to 512 bytes of UTF-8, not");
    }
  });
});
