import { expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import type { SessionPlugin } from "../../../../src/protocols/a2e/index.js";
import { hosted, Peer } from "../support.js";
import { entry, KEY, memory, opened, sdk } from "./support.js";

// Attempts to exceed a token's limit with the SDK's messages about memories. Each message makes several calls.

test("a limit on keys holds for every entry of a message, and a refused entry is not stored", async () => {
  const { plugin, keys } = await memory();
  const hop = { constraints: { key: { in: [KEY("a"), KEY("b")] } } };
  const { ask, answer } = await opened({ memory: hop }, { plugins: [plugin] });
  const memory_id = "default";
  expect(
    await answer("memory/store", { memory_id, entries: [entry("a"), entry("c"), entry("b")] }),
  ).toMatchObject({
    stored: [{ name: "a" }, { name: "b" }],
    errors: [expect.stringMatching(/^entries\[1\]: permission_denied: /)],
  });
  const outside: readonly JsonObject[] = [
    { memory_id, entries: [entry("c")] },
    { memory_id, entries: [entry("a", { tier: "semantic" })] },
    { memory_id: "other", entries: [entry("a")] },
    { memory_id: 'default{"user":"b"}', entries: [entry("a")] },
    { memory_id, entries: [entry("a", { key: { name: "a", more: 1 } })] },
  ];
  for (const members of outside) {
    expect([members, await ask("memory/store", members)]).toEqual([members, "permission_denied"]);
  }
  for (const id of [
    "",
    "default/episodic",
    'default{"user":1}',
    'default{ "user":"b"}',
    "a/b",
    'x{"a":"b"}/y',
    'default{"b":"1","a":"2"}',
    'default{"a":"1","a":"2"}',
    "default\n",
    "ä",
  ]) {
    const members = { memory_id: id, entries: [entry("a")] };
    expect([id, await ask("memory/store", members)]).toEqual([id, "arguments_invalid"]);
  }
  expect(await keys()).toEqual([KEY("a"), KEY("b")]);
  expect(await ask("memory/retrieve", { memory_id, keys: [{ name: "c" }] })).toBe(
    "permission_denied",
  );
  // The token limits `key`, and a call that lists entries has no `key`. Such a call is refused in proviso's own
  // dialect, too.
  expect(await ask("memory/retrieve", { memory_id, tier: "episodic" })).toBe("permission_denied");
  expect(await ask("memory/forget", { memory_id, tags: ["x"] })).toBe("permission_denied");
  expect(await ask("memory/forget", { memory_id, keys: [{ name: "c" }] })).toBe(
    "permission_denied",
  );
  expect(await answer("memory/forget", { memory_id, keys: [{ name: "b" }] })).toMatchObject({
    deleted: 1,
  });
  expect(await keys()).toEqual([KEY("a")]);
});

test("an SDK message is refused if the token lacks an operation that the message needs", async () => {
  const { plugin, keys } = await memory();
  const reader = await opened({ memory: { operations: ["memory/get"] } }, { plugins: [plugin] });
  const memory_id = "default";
  expect(await reader.ask("memory/store", { memory_id, entries: [entry("a")] })).toBe(
    "permission_denied",
  );
  expect(await reader.ask("memory/forget", { memory_id, keys: [{ name: "a" }] })).toBe(
    "permission_denied",
  );
  expect(await reader.ask("memory/retrieve", { memory_id })).toBe("permission_denied");
  expect(
    await reader.answer("memory/retrieve", { memory_id, keys: [{ name: "a" }] }),
  ).toMatchObject({ entries: [], total: 0 });
  expect(await keys()).toEqual([]);
  const events = await reader.host.ledger.list();
  // The ledger has one event for each call: the key was looked up in two tiers.
  expect(events.map(({ operation, decision }) => [operation, decision]).sort()).toEqual([
    ["memory/delete", "refused"],
    ["memory/get", "allowed"],
    ["memory/get", "allowed"],
    ["memory/list", "refused"],
    ["memory/set", "refused"],
  ]);
});

test("malformed entries and filters are refused with arguments_invalid", async () => {
  const { plugin, keys } = await memory();
  const { ask } = await opened({ memory: {} }, { plugins: [plugin], limits: { faults: 1000 } });
  const memory_id = "default";
  const wrong: readonly JsonObject[] = [
    entry("a", { key: "a" }),
    entry("a", { key: ["a"] }),
    entry("a", { tier: "working" }),
    entry("a", { tier: "../semantic" }),
    entry("a", { ttl: 5 }),
    entry("a", { ttl: "0" }),
    entry("a", { tags: "x" }),
    entry("a", { score: "1" }),
    entry("a", { contents: 1 }),
    entry("a", { source: 1 }),
    { key: {}, tier: "episodic" },
  ];
  for (const one of wrong) {
    expect([one, await ask("memory/store", { memory_id, entries: [one] })]).toEqual([
      one,
      "arguments_invalid",
    ]);
  }
  const retrieve: readonly JsonObject[] = [
    { limit: "5" },
    { limit: 0 },
    { limit: 101 },
    { limit: 1.5 },
    { min_score: "0" },
    { keys: ["a"] },
    { keys: { name: "a" } },
    { query: "a" },
    { tags: [1] },
    { tier: "all" },
  ];
  for (const members of retrieve) {
    expect([members, await ask("memory/retrieve", { memory_id, ...members })]).toEqual([
      members,
      "arguments_invalid",
    ]);
  }
  expect(await ask("memory/forget", { memory_id })).toBe("arguments_invalid");
  for (const members of [
    { namespace: "a/b" },
    { scope: { a: 1 } },
    { metadata: { a: 1 } },
  ] as JsonObject[]) {
    expect([members, await ask("memory/init", members)]).toEqual([members, "arguments_invalid"]);
  }
  expect(await keys()).toEqual([]);
});

test("each call in an SDK message counts towards the rate limit, and a message with more than 100 entries is refused", async () => {
  const { plugin, keys } = await memory();
  const { ask, answer, host } = await opened(
    { memory: {} },
    { plugins: [plugin], rate: { messages: 6, seconds: 10 }, limits: { parallel: 1 } },
  );
  const memory_id = "default";
  const entries = Array.from({ length: 20 }, (_, at) => entry(`${at}`));
  // The handshake counts as one of the six messages that the rate allows.
  const { stored, errors } = await answer("memory/store", { memory_id, entries });
  expect(stored).toHaveLength(5);
  expect(errors).toHaveLength(15);
  expect(errors).toContain(
    "entries[5]: rate_limited: the session makes calls more often than it may",
  );
  expect(await ask("memory/store", { memory_id, entries })).toBe("rate_limited");
  expect(await keys()).toHaveLength(5);
  host.clock.now += 10_000;
  const many = Array.from({ length: 101 }, (_, at) => entry(`m${at}`));
  expect(await ask("memory/store", { memory_id, entries: many })).toBe("arguments_invalid");
  const all = many.map(({ key = null }) => key);
  expect(await ask("memory/retrieve", { memory_id, keys: all })).toBe("arguments_invalid");
  expect(await keys()).toHaveLength(5);
});

test("if a token is revoked during an SDK message, the message's remaining calls do not run", async () => {
  const set: string[] = [];
  let revoke = (): void => {};
  const { plugin } = await memory();
  const slow: SessionPlugin = {
    ...plugin,
    operations: {
      "memory/set": {
        run: async ({ arguments: { key } }) => {
          set.push(String(key));
          if (set.length === 2) revoke();
          return null;
        },
      },
    },
  };
  const host = await hosted({ plugins: [slow] });
  const token = host.token("memory");
  const peer = await Peer.at(host.port);
  peer.send(sdk("handshake", { agent_caps: ["memory"], auth_token: token }));
  await peer.next();
  revoke = () => {
    const revocation = host.issuer.revocationOf(token);
    if (!revocation.ok) throw new Error("there is nothing to revoke");
    host.revocations.add(revocation.entry);
  };
  const entries = ["a", "b", "c", "d"].map((name) => entry(name));
  peer.send(sdk("memory/store", { memory_id: "default", entries }));
  const answer = (await peer.next()) ?? {};
  expect(set).toEqual([KEY("a"), KEY("b")]);
  expect(JSON.stringify(answer)).toMatch(/permission_denied|capability_ended/);
});
