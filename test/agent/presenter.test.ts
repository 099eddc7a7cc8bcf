import { expect, test } from "vitest";
import { grantedOne, REPORTS, reading, world } from "./support.js";

// Capabilities presented by a party that is not authenticated otherwise.

const OPERATIONS = [{ operation: "count", reach: "none" }] as const;

async function counting() {
  const parts = await world({
    operations: OPERATIONS,
    skills: [],
    grants: [{ id: "counter:use", description: "Count", operations: ["count"] }],
    rules: { rules: [{ principal: "alice", grant: "counter:use", operations: "*" }] },
  });
  const mint = (more = {}): string =>
    parts.issuer.mint({ grant: "counter:use", principal: "alice", expires: "1h", ...more }).token;
  return { ...parts, mint };
}

const ASKED = { operation: "count", arguments: {} };

test("an unauthenticated call is allowed by its capability, and recorded for the capability's principal", async () => {
  const { agent, mint, ledger } = await counting();
  const capabilities = await agent.authenticate({}, [{ token: mint() }]);
  const clearance = await agent.clearOperation({}, { ...ASKED, capabilities });
  if (!clearance.allowed) throw new Error("it is refused");
  expect(clearance.principal).toBe("alice");
  await agent.begin(clearance, {});
  const [event] = await ledger.list();
  expect(event).toMatchObject({ decision: "allowed", principal: "alice", operation: "count" });
  expect(event).not.toHaveProperty("invoker");
});

test("in an unauthenticated call, a capability that names invokers is refused, and so is an id without its token", async () => {
  const { agent, mint, ledger } = await counting();
  const bound = await agent.clearOperation(
    {},
    { ...ASKED, capabilities: [{ token: mint({ invokers: ["assistant"] }) }] },
  );
  expect(bound).toMatchObject({ allowed: false, denials: [{ code: "invoker_denied" }] });
  const documents = await reading();
  const [answer] = await documents.agent.authenticate({}, [{ id: documents.one.id }]);
  expect(answer).toMatchObject({ ok: false, denials: [{ code: "capability_unknown" }] });
  expect(await documents.agent.authenticate({}, [{ id: "cap_unknown" }])).toMatchObject([
    { ok: false, denials: [{ code: "capability_unknown" }] },
  ]);
  const own = await grantedOne(documents.agent, REPORTS);
  expect(await documents.agent.introspect({}, { token: own.token })).toMatchObject({
    active: true,
  });
  expect(await ledger.list()).toMatchObject([{ decision: "refused", principal: "alice" }]);
});

test("an unauthenticated call has no ambient authority", async () => {
  const { again } = await counting();
  const agent = await again({ mode: "prefer" });
  expect(await agent.clearOperation({}, { ...ASKED, capabilities: [] })).toMatchObject({
    allowed: false,
    denials: [{ code: "capability_missing" }],
  });
  expect(await agent.admit({}, [])).toMatchObject({
    allowed: false,
    denials: [{ code: "policy_denied" }],
  });
});
