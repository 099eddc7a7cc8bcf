import { expect, test } from "vitest";
import { keepChain } from "../../../src/agent/delegation/chain-records.js";
import type { ApprovalRequest } from "../../../src/agent/parties/approval-requests.js";
import { Approvals } from "../../../src/agent/parties/approvals.js";
import type { DelegationRecord } from "../../../src/agent/parties/records.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { NOW } from "../../caveats/support.js";
import { databaseAt } from "../../stores/parties/support.js";
import { throughStores } from "../../support/databases.js";

const MOST = 3;

function request(principal: string, at: number): ApprovalRequest {
  return {
    subject: {
      kind: "capabilities",
      request: `${principal}-${at}`,
      asked: [],
      principal,
      agent: { id: "client" },
      lifetime: 60,
    },
    rule: {},
    method: "backchannel",
    lifetime: 60,
  };
}

function chain(at: number): DelegationRecord {
  return {
    id: `chain-${at}`,
    tenant: "default",
    delegator: "one",
    delegatee: "two",
    scopes: [],
    revocationId: "rv_AAAAAAAAAAAAAAAAAAAAAA",
    ancestors: [],
    capabilityId: `cap_${at}`,
    created: NOW,
    expires: NOW + 60_000,
  };
}

throughStores((place) => {
  test("concurrent requests never exceed the limit of pending requests per user and agent", async () => {
    const where = await place();
    const sides = [await databaseAt(where), await databaseAt(where)].map(
      (database) => new Approvals({ store: openParties(database), clock: () => NOW }),
    );
    const opened = async (principal: string, at: number): Promise<string> => {
      const outcome = await sides[at % 2]?.openAlone(request(principal, at), MOST);
      return outcome?.ok ? `${principal} waits` : (outcome?.denial.code ?? "");
    };
    const ids = Array.from({ length: 8 }, (_, at) => at);
    const did = await Promise.all(ids.flatMap((at) => [opened("alice", at), opened("bob", at)]));
    for (const principal of ["alice", "bob"]) {
      expect(did.filter((one) => one === `${principal} waits`)).toHaveLength(MOST);
    }
    expect(did.filter((one) => one === "too_many_pending")).toHaveLength(2 * (8 - MOST));
  });

  test("concurrent delegations never exceed the limit of live delegations", async () => {
    const where = await place();
    const [one, other] = [await databaseAt(where), await databaseAt(where)];
    const sides = [openParties(one), openParties(other)] as const;
    const caller = { principal: "alice", invoker: "one" };
    const kept = await Promise.all(
      Array.from({ length: 8 }, (_, at) => {
        const parties = at % 2 === 0 ? sides[0] : sides[1];
        const context = { parties, maxDelegations: MOST, clock: () => NOW, observe: () => {} };
        return keepChain(chain(at), caller, "delegation.made", context);
      }),
    );
    expect(kept.filter((one) => one)).toHaveLength(MOST);
  });

  test("the limit of pending requests holds even after 1,000 expired requests", async () => {
    const clock = { now: NOW };
    const store = openParties(await databaseAt(await place()));
    const approvals = new Approvals({ store, clock: () => clock.now });
    // As many requests as one query returns. They are written in large transactions for speed.
    for (let from = 0; from < 1000; from += 100) {
      await store.change(async (draft) => {
        for (let at = from; at < from + 100; at++) {
          await approvals.open(draft, request("alice", at));
        }
      });
    }
    clock.now += 61_000;
    const outcomes = [];
    for (let at = 1000; at <= 1000 + MOST; at++) {
      outcomes.push((await approvals.openAlone(request("alice", at), MOST)).ok);
    }
    expect(outcomes).toEqual([true, true, true, false]);
  });
});
