import { describe, expect, test } from "vitest";
import { openMemory } from "../../../src/stores/index.js";
import { LOSSY, mistake } from "../../support/lossy.js";
import { activeAgent, bank, registration } from "./support.js";

// Objects passed to parties and their stores are read completely, or refused with an error that names the wrong
// value.

const BY = { principal: "alice" };

describe.each(LOSSY)("%s", (_, make) => {
  test("is refused by every method of Parties that takes an object, and changes nothing", async () => {
    const given = await bank();
    const { parties } = given;
    const { agent } = await activeAgent(given);
    const hosts = await parties.hostsOf("alice");
    const value = make();
    const places: readonly (readonly [string, () => unknown])[] = [
      ["asked", () => parties.createHost(value)],
      ["asked.principal", () => parties.createHost({ principal: value })],
      ["asked", () => parties.enrollHost(value)],
      ["asked", () => parties.register(value)],
      ["asked.hostKey", () => parties.register({ ...registration(), hostKey: value })],
      [
        "asked.capabilities[0].constraints",
        () =>
          parties.register({
            ...registration(),
            capabilities: [{ name: "a", constraints: value }],
          }),
      ],
      ["asked", () => parties.requestGrants(agent.id, value)],
      ["agent", () => parties.requestGrants(value, { capabilities: [] })],
      ["asked", () => parties.claim(value)],
      ["key", () => parties.rotateAgentKey(agent.id, value)],
      ["key", () => parties.rotateHostKey(agent.host, value)],
      ["agent", () => parties.revokeAgent(value, BY)],
      ["by", () => parties.revokeAgent(agent.id, value)],
      ["host", () => parties.revokeHost(value, BY)],
      ["principal", () => parties.revokeUser(value, BY)],
      ["names", () => parties.revokeGrants(agent.id, value, BY)],
      ["grant", () => parties.revokeGrant(value, BY)],
    ];
    for (const [place, call] of places) {
      const message = await mistake(call);
      expect(message.startsWith(`${place} must be`), `${place}: ${message}`).toBe(true);
    }
    expect(await parties.hostsOf("alice")).toEqual(hosts);
    expect(await parties.agent(agent.id)).toEqual(agent);
  });

  test("is refused as a memory value, owner or key", async () => {
    const { database } = await bank();
    const memory = openMemory(database);
    const value = make();
    const places: readonly (readonly [string, () => unknown])[] = [
      ["principal", () => memory.set(value, "k", 1)],
      ["key", () => memory.set("alice", value, 1)],
      ["value", () => memory.set("alice", "k", value)],
      ["value.a", () => memory.set("alice", "k", { a: value })],
      ["principal", () => memory.get(value, "k")],
      ["principal", () => memory.delete(value, "k")],
      ["query", () => memory.list("alice", value)],
    ];
    for (const [place, call] of places) {
      const message = await mistake(call);
      expect(message.startsWith(`${place} must be`), `${place}: ${message}`).toBe(true);
    }
    expect((await memory.list("alice", { limit: 10 })).entries).toEqual([]);
  });

  test("is refused as a key id, scope or stored identifier of an issuer", async () => {
    const { issuer, keys } = await bank();
    const value = make();
    const places: readonly (readonly [string, () => unknown])[] = [
      ["kid", () => keys.find(value)],
      ["scope.id", () => issuer.openHandles(value, [])],
      ["scope.ambient", () => issuer.sealHandles({ ambient: value }, [1])],
      ["handles", () => issuer.openHandles({ ambient: "alice" }, value)],
      ["issued", () => issuer.remake(value)],
      ["issued.identifier", () => issuer.remake({ identifier: value, hop: "{}" })],
    ];
    for (const [place, call] of places) {
      const message = await mistake(call);
      expect(message.startsWith(`${place} must be`), `${place}: ${message}`).toBe(true);
    }
  });
});
