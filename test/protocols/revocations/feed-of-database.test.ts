import { renameSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createKeyring, importKeyring } from "../../../src/issuer/index.js";
import {
  createRevocationFeed,
  followRevocations,
} from "../../../src/protocols/revocations/index.js";
import { createStores, openRevocations } from "../../../src/stores/index.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const AT = "2026-01-01T00:00:00Z";

test("a feed of a database has whole entries; while the database is away it fails, then goes on", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "proviso.db");
  const database = await createStores(path);
  onTestFinished(() => database.close());
  const revocations = await openRevocations(database, { staleAfter: 3600 });
  const root = createKeyring();
  const feed = createRevocationFeed({ keys: root, revocations });
  const service = followRevocations({
    url: "https://agent.example/revocations",
    keys: importKeyring(root.serviceKeys("documents")),
    fetch: (input, init) => feed.fetch(new Request(input, init)),
  });
  onTestFinished(() => service.close());
  const find = (capability: string) => service.find({ links: [], capability, keys: [], issued: 0 });

  await service.refresh();
  expect(service.size).toBe(0);
  const first = { kind: "capability", id: "cap_1", at: AT, reason: "task done" } as const;
  await revocations.add(first);
  await service.refresh();
  expect([service.version, find("cap_1")]).toEqual([1, [first]]);

  await revocations.add({ ...first, id: "cap_2" });
  renameSync(path, join(folder, "away.db"));
  await expect(service.refresh()).rejects.toThrow();
  expect([service.version, find("cap_2")]).toEqual([1, []]);
  renameSync(join(folder, "away.db"), path);
  await service.refresh();
  expect([service.version, find("cap_2").length]).toEqual([2, 1]);
});
