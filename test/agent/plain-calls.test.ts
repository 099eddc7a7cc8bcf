import { describe, expect, test } from "vitest";
import { createDelegations } from "../../src/protocols/delegation/index.js";
import { openRevocations } from "../../src/stores/index.js";
import { openParties } from "../../src/stores/parties/party-store.js";
import { LOSSY, mistake } from "../support/lossy.js";
import { ALICE, granted, type World, world } from "./support.js";

// Objects passed to the agent are read completely, or refused with an error that names the wrong value. No such
// object is read as an empty object.

const GRANTS = { grants: ["documents:read"] };
const QUERY = { collection: "reports" };

/** Returns a call of every method that takes an object, with one invalid value in each place. */
function calls({ agent }: World, value: never): readonly (readonly [string, () => unknown])[] {
  const call = { skill: "retrieve_document", arguments: {}, capabilities: [] };
  const operation = { operation: "retrieve", arguments: {}, capabilities: [] };
  return [
    ["caller", () => agent.request(value, GRANTS)],
    ["params", () => agent.request(ALICE, value)],
    ["params.grants", () => agent.request(ALICE, { grants: value })],
    ["params.resourceQuery", () => agent.request(ALICE, { ...GRANTS, resourceQuery: value })],
    [
      "params.resourceQuery.filter",
      () => agent.request(ALICE, { ...GRANTS, resourceQuery: { ...QUERY, filter: value } }),
    ],
    [
      "params.constraints.amount",
      () => agent.request(ALICE, { ...GRANTS, constraints: { amount: value } }),
    ],
    ["caller", () => agent.collect(value, "ap_1")],
    ["approval", () => agent.collect(ALICE, value)],
    ["caller", () => agent.invoke(value, call)],
    ["invocation", () => agent.invoke(ALICE, value)],
    ["invocation.arguments", () => agent.invoke(ALICE, { ...call, arguments: value })],
    ["invocation.arguments.a", () => agent.invoke(ALICE, { ...call, arguments: { a: value } })],
    ["invocation.capabilities", () => agent.invoke(ALICE, { ...call, capabilities: value })],
    ["capability", () => agent.invoke(ALICE, { ...call, capabilities: [value] })],
    ["caller", () => agent.clearOperation(value, operation)],
    ["invocation", () => agent.clearOperation(ALICE, value)],
    ["caller", () => agent.authenticate(value, [])],
    ["capabilities", () => agent.authenticate(ALICE, value)],
    ["capability", () => agent.authenticate(ALICE, [value])],
    ["caller", () => agent.admit(value, [])],
    ["capability", () => agent.admit(ALICE, [value])],
    ["capability", () => agent.attenuate(ALICE, value, { operations: ["retrieve"] })],
    ["capability", () => agent.revoke(ALICE, value)],
    ["capability", () => agent.introspect(ALICE, value)],
  ];
}

describe.each(LOSSY)("%s", (_, make) => {
  test("is refused by every agent method that takes an object, with an error that names the argument", async () => {
    const parts = await world();
    for (const [place, call] of calls(parts, make())) {
      const message = await mistake(call);
      expect(message.startsWith(place), `${place}: ${message}`).toBe(true);
    }
    expect(await parts.ledger.list()).toEqual([]);
    expect(parts.ran).toEqual([]);
  });

  test("is refused as the hop of agent.attenuate", async () => {
    const { agent } = await world();
    const [one] = await granted(agent, { ...GRANTS, resourceQuery: QUERY });
    const presented = { token: one?.token ?? "" };
    expect(await mistake(() => agent.attenuate(ALICE, presented, make()))).toMatch(/^hop /);
  });

  test("is refused by every delegation method, with an error that names the argument", async () => {
    const { agent, ledger, database } = await world();
    const revocations = await openRevocations(database);
    const parties = openParties(database);
    const delegations = createDelegations({ agent, parties, revocations, ledger });
    const by = { caller: ALICE };
    const asked = { delegatee: "helper", scopes: ["documents:read"], ttl: 600 };
    const value = make();
    const places: readonly (readonly [string, () => unknown])[] = [
      ["by", () => delegations.delegate(value, asked)],
      ["by", () => delegations.verify(value, "text")],
      ["by", () => delegations.revoke(value, "id")],
      ["by", () => delegations.introspect(value)],
      ["caller", () => delegations.introspect({ caller: value })],
      ["request", () => delegations.delegate(by, value)],
      ["request.scopes", () => delegations.delegate(by, { ...asked, scopes: value })],
      ["request.scopes[0]", () => delegations.delegate(by, { ...asked, scopes: [value] })],
      ["request.delegatee", () => delegations.delegate(by, { ...asked, delegatee: value })],
      ["text", () => delegations.verify(by, value)],
    ];
    for (const [place, call] of places) {
      const message = await mistake(call);
      expect(message.startsWith(place), `${place}: ${message}`).toBe(true);
    }
  });
});
