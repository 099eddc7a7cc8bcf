import { expect, test } from "vitest";
import { attenuate } from "../../src/capability/attenuate.js";
import { denialOf, grantedOne, NOW, world } from "./support.js";

// A rule with invokers prevents a sub-agent that has its user's access token from requesting capabilities for
// itself.

const LEAD = { principal: "alice", invoker: "orchestrator" };
const SUB = { principal: "alice", invoker: "sub-agent" };
const TELL = { grant: "clock:read", operations: "*" } as const;
const RULES = { rules: [{ principal: "alice", ...TELL, invokers: ["orchestrator"] }] };
const ASK = { grants: ["clock:read"] };
const CALL = { skill: "tell", arguments: {} };

test("an invoker that the rule does not name gets no capability, but may use a capability that it is given", async () => {
  const { agent } = await world({ rules: RULES });
  expect(denialOf(await agent.request(SUB, ASK))).toMatchObject({ code: "nothing_left" });
  const { token } = await grantedOne(agent, ASK, LEAD);
  const handed = attenuate(token, { invokers: ["sub-agent"] }, { now: NOW });
  if (!handed.ok) throw new Error("not attenuated");
  const capabilities = [{ token: handed.token }];
  expect(await agent.invoke(SUB, { ...CALL, capabilities })).toMatchObject({ ok: true });
  expect(await agent.admit(SUB, capabilities)).toMatchObject({ allowed: true });
});

test("without a capability, only invokers that the rule names are allowed", async () => {
  const { agent } = await world({ rules: RULES, mode: "prefer" });
  const call = { ...CALL, capabilities: [] };
  expect(await agent.invoke(LEAD, call)).toMatchObject({ ok: true, authority: "ambient" });
  expect(await agent.admit(LEAD, [])).toMatchObject({ allowed: true });
  const denials = [{ code: "policy_denied" }];
  expect(await agent.invoke(SUB, call)).toMatchObject({ ok: false, denials });
  expect(await agent.admit(SUB, [])).toMatchObject({ allowed: false, denials });
});

test("a capability is refused once the rule no longer names the invoker that it was issued to", async () => {
  const { agent, policy } = await world({ rules: RULES });
  const { token } = await grantedOne(agent, ASK, LEAD);
  policy.replace({ rules: [{ principal: "alice", ...TELL, invokers: ["another"] }] });
  const denials = [{ code: "policy_denied" }];
  const call = { ...CALL, capabilities: [{ token }] };
  expect(await agent.invoke(LEAD, call)).toMatchObject({ ok: false, denials });
});

test("a rule with invokers refuses a capability that is not in the ledger", async () => {
  const { agent, issuer } = await world({ rules: RULES });
  const { token } = issuer.mint({ grant: "clock:read", operations: ["tell"], principal: "alice" });
  const call = { ...CALL, capabilities: [{ token }] };
  const denials = [{ code: "policy_denied" }];
  expect(await agent.invoke(LEAD, call)).toMatchObject({ ok: false, denials });
});
