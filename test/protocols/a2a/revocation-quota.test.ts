import { expect, test } from "vitest";
import { attenuated } from "../../capability/support.js";
import { at, rpc } from "./callers.js";
import { agentFor, held } from "./set-up.js";

test("a caller's revocations are limited, but a caller can always revoke capabilities issued to that caller", async () => {
  const agent = await agentFor({ maxRevocations: 2 });
  const [one, other] = [await held(agent), await held(agent)];
  const revoke = async (who: "alice" | "bob" | "calendar", params: object): Promise<unknown> => {
    const { body, headers } = await rpc(agent, who, "a2a/capabilities/revoke", params);
    return headers.get("Proviso-Denial") ?? at(body, "result", "revoked");
  };
  const child = (name: string): { readonly token: string } => ({
    token: attenuated(one.token, { purpose: name }),
  });

  // Making narrowed tokens costs nothing, so a revocation of such a token uses the quota of the party that
  // revokes.
  const again = child("a");
  expect([await revoke("bob", again), await revoke("bob", child("b"))]).toEqual([true, true]);
  expect(await revoke("bob", child("c"))).toBe("too_many_revocations");
  // Holding the original token does not help bob, because the agent issued it to another party.
  expect(await revoke("bob", { token: one.token })).toBe("too_many_revocations");
  // Revoking a token again uses no quota.
  expect(await revoke("bob", again)).toBe(true);
  // The same user through another agent has a separate quota.
  expect(await revoke("calendar", child("c"))).toBe(true);
  expect(await revoke("alice", child("d"))).toBe(true);
  expect(await revoke("alice", child("e"))).toBe(true);
  expect(await revoke("alice", child("f"))).toBe("too_many_revocations");
  expect(await revoke("alice", { token: one.token })).toBe(true);
  expect(await revoke("alice", { capabilityId: other.id })).toBe(true);

  const { body } = await rpc(agent, "bob", "a2a/capabilities/revoke", {
    token: attenuated((await held(agent)).token, { purpose: "g" }),
  });
  expect(at(body, "error", "message")).toMatch(
    /2 live revocations.* The party that the capability was issued to can still revoke/,
  );
  // The operator has no quota.
  const id = `rv_${"A".repeat(22)}`;
  expect(await agent.revocations.add({ kind: "link", id, at: "2026-01-01T00:00:00Z" })).toBe(
    "added",
  );
});
