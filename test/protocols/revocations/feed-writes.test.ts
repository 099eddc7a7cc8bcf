import { EventEmitter, once } from "node:events";
import { expect, test } from "vitest";
import { createKeyring, createRevocationList, importKeyring } from "../../../src/issuer/index.js";
import { createRevocationFeed } from "../../../src/protocols/revocations/index.js";
import { AT, SERVICE } from "./support.js";

test("feed requests that arrive during a write share the next write, and get all entries", async () => {
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
