import { expect, test } from "vitest";
import { createDelegations } from "../../../src/protocols/delegation/index.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { activeAgent, bank, done, registration } from "../parties/support.js";

// Registered agents delegate capabilities that were granted to them.

test("a registered agent delegates its grant to another agent; the delegation ends when the delegating agent is revoked", async () => {
  const given = await bank();
  const { parties, agent, issuer, revocations, ledger, database, clock } = given;
  const first = await activeAgent(given);
  const other = registration({ agentThumbprint: "helper", agentKey: { kty: "OKP", x: "helper" } });
  const second = done(await parties.register(other));
  const delegations = createDelegations({
    agent,
    parties: openParties(database),
    revocations,
    ledger,
    allowEqual: true,
    clock: () => clock.now,
  });
  const [grant = { id: "" }] = first.grants;
  const token = (await agent.grantToken(grant))?.token ?? "";
  const identity = await delegations.identify(token);
  if (identity?.ok !== true) throw new Error("not identified");
  const { caller, credential } = identity;
  expect(caller).toEqual({ principal: "alice", invoker: first.agent.id });

  const asked = { delegatee: second.agent.id, scopes: ["accounts:read:balance"], ttl: 300 };
  const made = await delegations.delegate({ caller, credential }, asked);
  if (!made.ok) throw new Error(made.problems[0].message);
  const by = { caller: { principal: "alice", invoker: second.agent.id } };
  expect(await delegations.verify(by, made.token)).toMatchObject({
    valid: true,
    chain: { delegator: first.agent.id, delegatee: second.agent.id, scopes: asked.scopes },
  });
  const call = { grant: "accounts:read", operation: "balance", invoker: second.agent.id };
  expect(issuer.authorize(made.token, call).allowed).toBe(true);
  const self = { ...asked, delegatee: first.agent.id };
  expect(await delegations.delegate({ caller, credential }, self)).toMatchObject({
    problems: [{ code: "delegatee_is_delegator" }],
  });

  done(await parties.revokeAgent(first.agent.id, { principal: "alice" }));
  expect(issuer.authorize(made.token, call).allowed).toBe(false);
  expect(await delegations.verify(by, made.token)).toMatchObject({
    valid: false,
    reason: "revoked",
    chain: { revoked: clock.now },
  });
  expect(await delegations.identify(token)).toMatchObject({ denial: { code: "revoked" } });
});
