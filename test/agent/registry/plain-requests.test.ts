import { describe, expect, test } from "vitest";
import { openMemory } from "../../../src/stores/index.js";
import { LOSSY, mistake } from "../../support/lossy.js";
import { activeAgent, bank, registration } from "./support.js";

// What a program hands to a registry and to the stores beside it is read whole or refused by its place.

const BY = { principal: "alice" };

describe.each(LOSSY)("%s", (_, make) => {
  test("is no request of a registry, and changes nothing", async () => {
    const given = await bank();
    const { registry } = given;
    const { agent } = await activeAgent(given);
    const hosts = await registry.hostsOf("alice");
    const value = make();
    const places: readonly (readonly [string, () => unknown])[] = [
      ["asked", () => registry.createHost(value)],
      ["asked.principal", () => registry.createHost({ principal: value })],
      ["asked", () => registry.enrollHost(value)],
      ["asked", () => registry.register(value)],
      ["asked.hostKey", () => registry.register({ ...registration(), hostKey: value })],
      [
        "asked.capabilities[0].constraints",
        () =>
          registry.register({
            ...registration(),
            capabilities: [{ name: "a", constraints: value }],
          }),
      ],
      ["asked", () => registry.requestGrants(agent.id, value)],
      ["agent", () => registry.requestGrants(value, { capabilities: [] })],
      ["asked", () => registry.claim(value)],
      ["key", () => registry.rotateAgentKey(agent.id, value)],
      ["key", () => registry.rotateHostKey(agent.host, value)],
      ["agent", () => registry.revokeAgent(value, BY)],
      ["by", () => registry.revokeAgent(agent.id, value)],
      ["host", () => registry.revokeHost(value, BY)],
      ["principal", () => registry.revokeUser(value, BY)],
      ["names", () => registry.revokeGrants(agent.id, value, BY)],
      ["grant", () => registry.revokeGrant(value, BY)],
    ];
    for (const [place, call] of places) {
      const message = await mistake(call);
      expect(message.startsWith(`${place} must be`), `${place}: ${message}`).toBe(true);
    }
    expect(await registry.hostsOf("alice")).toEqual(hosts);
    expect(await registry.agent(agent.id)).toEqual(agent);
  });

  test("is nothing that a memory keeps, nor an owner or a key of it", async () => {
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

  test("is no key id, scope or kept identifier of an issuer", async () => {
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
