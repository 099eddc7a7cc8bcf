import { expect, test } from "vitest";
import { ClearanceLostError } from "../../src/agent/clearance.js";
import type { Json } from "../../src/bytes/json.js";
import { attenuate, revocationId } from "../../src/capability/attenuate.js";
import type { HopInit } from "../../src/caveats/hop.js";
import { ALICE, granted, type World, world } from "./support.js";

// Operations without a skill: code outside the agent runs them after clearance.

const GRANTS = [{ id: "notes:write", description: "Write notes", operations: ["note"] }];
const RULES = {
  rules: [{ principal: ALICE.principal, grant: "notes:write", operations: ["note"] }],
};

async function notes(): Promise<World & { readonly token: string }> {
  const made = await world({
    grants: GRANTS,
    skills: [],
    rules: RULES,
    operations: [{ operation: "note", reach: "none" }],
  });
  const [capability] = await granted(made.agent, {
    grants: ["notes:write"],
    constraints: { to: "me" },
  });
  return { ...made, token: capability?.token ?? "" };
}

const asked = (token: string, operation = "note", to = "me") =>
  ({ operation, arguments: { to }, capabilities: [{ token }] }) as const;

test("agent.begin accepts a clearance once, and records the call in the ledger", async () => {
  const { agent, ledger, token } = await notes();
  const clearance = await agent.clearOperation(ALICE, asked(token));
  if (!clearance.allowed) throw new Error(clearance.denials[0].message);
  expect(clearance).toMatchObject({ asked: { operation: "note" }, authority: "capability" });
  expect(await ledger.list({ kind: "invocation" })).toEqual([]);
  const begun = agent.begin(clearance, ALICE);
  await expect(agent.begin(clearance, ALICE)).rejects.toThrow(
    "a call needs a clearance for each time",
  );
  await begun;
  const [line] = await ledger.list({ kind: "invocation" });
  expect(line).toMatchObject({ operation: "note", decision: "allowed" });
  expect(line).not.toHaveProperty("skill");
});

test("a call is refused if its operation is unknown, if it violates a constraint, or if no valid capability is presented", async () => {
  const { agent, ledger, token } = await notes();
  const codes = async (...given: Parameters<typeof asked>) => {
    const answer = await agent.clearOperation(ALICE, asked(...given));
    return answer.allowed ? [] : answer.denials.map(({ code }) => code);
  };
  expect(await codes(token, "nota")).toEqual(["operation_denied"]);
  expect(await codes(token, "note", "you")).toEqual(["constraint_violated"]);
  expect(await codes("no token")).toEqual(["token_malformed"]);
  const bare = await agent.clearOperation(ALICE, { ...asked(token), capabilities: [] });
  expect(bare).toMatchObject({ allowed: false, denials: [{ code: "capability_missing" }] });
  expect(await ledger.list({ decision: "refused", kind: "invocation" })).toHaveLength(4);
});

test("a listing call may omit limited arguments, and limits on the arguments that it gives are enforced", async () => {
  const { agent, token } = await notes();
  const lists = async (
    note: NonNullable<HopInit["operationConstraints"]>[string],
    given: { [name: string]: Json },
  ): Promise<boolean> => {
    const narrowed = attenuate(token, { operationConstraints: { note } });
    if (!narrowed.ok) throw new Error("nothing would be left");
    const capabilities = [{ token: narrowed.token }];
    const call = { operation: "note", arguments: given, capabilities, listing: true };
    return (await agent.clearOperation(ALICE, call)).allowed;
  };
  const inside = { "/at/place": { in: ["here"] } };
  expect(await lists(inside, {})).toBe(true);
  expect(await lists(inside, { to: "me", at: {} })).toBe(true);
  expect(await lists(inside, { at: { place: "here" } })).toBe(true);
  expect(await lists(inside, { at: { place: "there" } })).toBe(false);
  // The pointer leads through a value that is not an object. A constraint on it is never met, and the argument
  // does not count as absent.
  for (const at of ["there", ["place"], [], null, 0] as const) {
    expect([at, await lists(inside, { at })]).toEqual([at, false]);
    expect([at, await lists({ "/at/place": { absent: true } }, { at })]).toEqual([at, false]);
  }
});

test("a capability revoked while the policy is asked gets no clearance", async () => {
  const { again, policy, revocations, token } = await notes();
  const revoked = revocationId(token);
  const agent = await again({
    skills: [],
    operations: [{ operation: "note", reach: "none" }],
    policy: {
      async permissions(...asked) {
        revocations.add({ kind: "link", id: revoked, at: "2026-01-01T00:00:00Z" });
        return policy.permissions(...asked);
      },
    },
  });
  const answer = await agent.clearOperation(ALICE, asked(token));
  expect(answer).toMatchObject({ allowed: false, denials: [{ code: "revoked" }] });
});

test("begin throws ClearanceLostError for a capability revoked after the clearance", async () => {
  const { agent, ledger, token } = await notes();
  const clearance = await agent.clearOperation(ALICE, asked(token));
  if (!clearance.allowed) throw new Error(clearance.denials[0].message);
  await agent.revoke(ALICE, { token });
  await expect(agent.begin(clearance, ALICE)).rejects.toThrow(ClearanceLostError);
  expect(await ledger.list({ kind: "invocation" })).toMatchObject([
    { operation: "note", decision: "refused", codes: ["revoked"] },
  ]);
});

test("declaring an operation twice, or with a wrong name or reach, is refused", async () => {
  const { again } = await notes();
  const declared = (...operations: readonly object[]) =>
    again({ skills: [], operations: JSON.parse(JSON.stringify(operations)) });
  await expect(declared({ operation: "*", reach: "none" })).rejects.toThrow(
    "operations[0].operation: must be the name of one operation",
  );
  await expect(declared({ operation: "note", reach: "all" })).rejects.toThrow(
    'operations[0].reach: must be "named"',
  );
  const note = { operation: "note", reach: "none" };
  await expect(declared(note, note)).rejects.toThrow('operations[1].operation: "note" is taken');
  await expect(declared()).rejects.toThrow('no skill has the operation "note"');
});
