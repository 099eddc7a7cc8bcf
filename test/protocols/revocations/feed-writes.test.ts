import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";
import { createKeyring, createRevocationList, importKeyring } from "../../../src/issuer/index.js";
import { createRevocationFeed } from "../../../src/protocols/revocations/index.js";
import { AT, NOW, SERVICE } from "./support.js";

test("questions that come while a list is written out share the next write, and miss nothing", async () => {
  const [keys, list] = [createKeyring(), createRevocationList()];
  const { kid } = importKeyring(keys.serviceKeys(SERVICE)).minting;
  let written = 0;
  const gate = new EventEmitter();
  const begun = once(gate, "begun");
  const goOn = once(gate, "go on");
  const revocations = {
    find: list.find.bind(list),
    isCurrent: list.isCurrent.bind(list),
    get version(): number {
      return list.version;
    },
    snapshot: async (until: string) => {
      const snapshot = list.snapshot(until);
      gate.emit("begun");
      if (++written === 1) await goOn;
      return snapshot;
    },
  };
  const feed = createRevocationFeed({ keys, revocations });
  const answers = [feed.answer(kid)];
  await begun;
  for (const id of ["key_1", "key_2", "key_3"]) {
    list.add({ kind: "key", id, at: AT });
    answers.push(feed.answer(kid));
  }
  gate.emit("go on");
  const versions = (await Promise.all(answers)).map(({ body }) => JSON.parse(body).version);
  expect(versions).toEqual([0, 3, 3, 3]);
  expect(written).toBe(2);
});

test("while the next list takes long, the finished one is answered, no longer than it may be relied on", async () => {
  const [keys, list] = [createKeyring(), createRevocationList()];
  const { kid } = importKeyring(keys.serviceKeys(SERVICE)).minting;
  list.add({ kind: "key", id: "key_1", at: AT });
  const gate = new EventEmitter();
  let isSlow = false;
  const revocations = {
    find: list.find.bind(list),
    isCurrent: list.isCurrent.bind(list),
    get version(): number {
      return list.version;
    },
    snapshot: async (until: string) => {
      const snapshot = list.snapshot(until);
      if (isSlow) await once(gate, "go on");
      return snapshot;
    },
  };
  let now = NOW;
  const feed = createRevocationFeed({ keys, revocations, maxAge: 60, clock: () => now });
  const first = await feed.answer(kid);
  const index = JSON.parse(first.body);
  expect(index).toMatchObject({ version: 1, trustedUntil: "2030-01-01T00:01:00Z" });

  list.add({ kind: "key", id: "key_2", at: AT });
  isSlow = true;
  now += 30_000;
  const slow = await feed.answer(kid);
  expect(slow.body).toBe(first.body);
  expect(slow.headers["ETag"]).toBe(first.headers["ETag"]);
  expect((await feed.answer(kid, { known: slow.headers["ETag"] })).status).toBe(304);
  expect((await feed.answer(kid, { page: index.pages[0] })).status).toBe(200);
  expect((await feed.answer(kid, { page: "another" })).status).toBe(503);
  now += 30_000;
  expect((await feed.answer(kid)).status).toBe(503);
  // A clock that is set back does not make the list younger.
  now = NOW;
  const back = JSON.parse((await feed.answer(kid)).body);
  expect(Date.parse(back.trustedUntil)).toBeLessThan(NOW + 57_000);

  gate.emit("go on");
  isSlow = false;
  list.add({ kind: "key", id: "key_3", at: AT });
  const next = JSON.parse((await feed.answer(kid)).body);
  expect(next).toMatchObject({ version: 3, trustedUntil: "2030-01-01T00:01:00Z" });
});

test("the finished list of a copy is relied on no longer than its issuer said of it, though the next is", async () => {
  const [keys, original] = [createKeyring(), createRevocationList()];
  const { kid } = importKeyring(keys.serviceKeys(SERVICE)).minting;
  const copy = createRevocationList(original.snapshot("2030-01-01T00:00:10Z"));
  let snapshot = async (until: string) => copy.snapshot(until);
  const revocations = {
    find: copy.find.bind(copy),
    isCurrent: copy.isCurrent.bind(copy),
    get version(): number {
      return copy.version;
    },
    get trustedUntil(): number {
      return copy.trustedUntil;
    },
    snapshot: (until: string) => snapshot(until),
  };
  const feed = createRevocationFeed({ keys, revocations, clock: () => NOW });
  const of10 = { version: 0, trustedUntil: "2030-01-01T00:00:10Z" };
  expect(JSON.parse((await feed.answer(kid)).body)).toMatchObject(of10);
  original.add({ kind: "key", id: "key_1", at: AT });
  copy.replace(original.snapshot("2030-01-01T01:00:00Z"));
  snapshot = () => new Promise<never>(() => {});
  expect(JSON.parse((await feed.answer(kid)).body)).toMatchObject(of10);
});
