import { renameSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { createKeyring, importKeyring } from "../../../src/issuer/index.js";
import {
  createRevocationFeed,
  followRevocations,
} from "../../../src/protocols/revocations/index.js";
import {
  createStores,
  openRevocations,
  openStores,
  type RevocationStore,
  type StoreDatabase,
} from "../../../src/stores/index.js";
import { temporaryFolder } from "../../support/temporary-folder.js";

const AT = "2026-01-01T00:00:00Z";

test("a feed from a database serves whole entries, fails while the database is missing, and recovers when the database is back", async () => {
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

test("a follower keeps its list if another issuer on the same database serves an older list", async () => {
  const path = join(temporaryFolder(), "proviso.db");
  const opened = async (database: Promise<StoreDatabase>): Promise<RevocationStore> => {
    const one = await database;
    onTestFinished(() => one.close());
    // With these settings, the store does not refresh its copy in memory during the test.
    return openRevocations(one, { refreshEvery: 3_600_000, staleAfter: 7200 });
  };
  const [here, there, operator] = [
    await opened(createStores(path)),
    await opened(openStores(path)),
    await opened(openStores(path)),
  ];
  const root = createKeyring();
  const [one, other] = [here, there].map((revocations) =>
    createRevocationFeed({ keys: root, revocations }),
  );
  let asked = other;
  const service = followRevocations({
    url: "https://agent.example/revocations",
    keys: importKeyring(root.serviceKeys("documents")),
    fetch: async (input, init) => asked?.fetch(new Request(input, init)) ?? Response.error(),
  });
  onTestFinished(() => service.close());
  await service.refresh();
  expect([service.version, service.size]).toEqual([0, 0]);

  await operator.add({ kind: "capability", id: "cap_1", at: AT });
  expect([here.version, here.size]).toEqual([0, 0]);
  const until = "2026-01-01T00:05:00Z";
  const entries = [{ kind: "capability", id: "cap_1", at: AT }];
  expect(await here.snapshot(until)).toEqual({ version: 1, trustedUntil: until, entries });
  asked = one;
  await service.refresh();
  expect([service.version, service.size]).toEqual([1, 1]);
  asked = other;
  await expect(service.refresh()).rejects.toThrow("version 0 is older than 1");
  expect([service.version, service.size]).toEqual([1, 1]);
});
