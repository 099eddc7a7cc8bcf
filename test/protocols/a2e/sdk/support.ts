import { expect } from "vitest";
import type { Json, JsonObject } from "../../../../src/bytes/json.js";
import type { HopInit } from "../../../../src/caveats/hop.js";
import { createMemoryPlugin, type SessionPlugin } from "../../../../src/protocols/a2e/index.js";
import { createStores } from "../../../../src/stores/database.js";
import { openMemory } from "../../../../src/stores/memory/memory-store.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { type HostChoices, type Hosted, hosted, Peer } from "../support.js";

/** Returns a request as the SDK's client writes it. */
export const sdk = (type: string, members: JsonObject = {}, id: string = type): JsonObject => ({
  type: `${type}/req`,
  id,
  version: "1.0",
  ts: 1,
  ...members,
});

/** A session in the SDK's dialect, after the handshake. */
interface Opened {
  readonly host: Hosted;
  readonly peer: Peer;
  /** Sends a request. Returns the code of the answer; its type if the answer has no code. */
  ask(type: string, members?: JsonObject): Promise<Json>;
  /** Sends a request. Returns the whole answer. */
  answer(type: string, members?: JsonObject): Promise<JsonObject>;
}

/** Opens a session with a token for each capability. */
export async function opened(
  tokens: { readonly [capability: string]: HopInit },
  choices: HostChoices = {},
): Promise<Opened> {
  const host = await hosted(choices);
  const peer = await Peer.at(host.port);
  const all = Object.entries(tokens).map(([name, hop]) => host.token(name, hop));
  const caps = Object.keys(tokens);
  peer.send(sdk("handshake", { agent_caps: caps, auth_token: all.join(",") }));
  expect(await peer.next()).toMatchObject({ type: "handshake/resp", ok: true });
  const answer = async (type: string, members: JsonObject = {}): Promise<JsonObject> => {
    peer.send(sdk(type, members));
    return (await peer.next()) ?? {};
  };
  const ask = async (type: string, members: JsonObject = {}): Promise<Json> => {
    const { code, type: of = null } = await answer(type, members);
    return code ?? of;
  };
  return { host, peer, ask, answer };
}

/** Returns a plugin for memories, and a function that lists the keys of Alice's memory. */
export async function memory(): Promise<{
  plugin: SessionPlugin;
  keys: () => Promise<readonly string[]>;
}> {
  const store = openMemory(await createStores(`${temporaryFolder()}/memory.db`));
  const keys = async () =>
    (await store.list("alice", { limit: 100 })).entries.map(({ key }) => key);
  return { plugin: createMemoryPlugin({ memory: store }), keys };
}

/** Returns an entry as the SDK's client writes it. */
export const entry = (name: string, more: JsonObject = {}): JsonObject => ({
  key: { name },
  content: name,
  tier: "episodic",
  ...more,
});

/** Returns the key in the store for an entry with a name. */
export const KEY = (name: string): string => `default/episodic/{"name":"${name}"}`;
