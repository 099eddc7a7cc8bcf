import { expect } from "vitest";
import type { Approval } from "../../../src/agent/parties/records.js";
import type { PartyDraft, PartyStore, PartyView } from "../../../src/agent/parties/store.js";
import { type LedgerStore, openLedger } from "../../../src/stores/ledger/ledger-store.js";
import { openParties } from "../../../src/stores/parties/party-store.js";
import { type Did, onlyOne, type Race, runRaces, won } from "../../support/races.js";
import { agent, answered, approval, delegation, grant, host, NOW, subject } from "./support.js";

// Tests the guarantees of the store with minimal changes. Each change depends on records that it also writes.

interface Side {
  readonly store: PartyStore;
  readonly ledger: LedgerStore;
}
type Contender = (side: Side, round: string) => Promise<string | undefined>;

/** A race of contenders, which find their records by the id of the round. */
interface StoreRace {
  readonly name: string;
  readonly before?: (draft: PartyDraft, round: string) => Promise<void>;
  readonly contenders: readonly [Contender, Contender, ...Contender[]];
  readonly after: (view: PartyView, round: string, did: Did) => Promise<void>;
}

/**
 * Returns a contender that runs `decide` in a change. If `decide` returns `true`, the contender notes the
 * change in the ledger.
 */
function does(
  change: string,
  decide: (draft: PartyDraft, round: string) => Promise<boolean>,
): Contender {
  const at = new Date(NOW).toISOString();
  return ({ store }, round) =>
    store.change(async (draft) => {
      if (!(await decide(draft, round))) return undefined;
      draft.note({ kind: "registration", at, decision: "allowed", change, record: round });
      return change;
    });
}

/** Makes a host with an active agent, and a pending grant that waits for an approval. */
async function waiting(draft: PartyDraft, n: string, more: Partial<Approval> = {}): Promise<void> {
  await draft.put("hosts", host(n));
  await draft.put("agents", agent(n, { host: n }));
  await draft.put("grants", grant(n, { agent: n, host: n, status: "pending", approval: n }));
  await draft.put("approvals", approval(n, { subject: subject(n), ...more }));
}

async function recordsOf(draft: PartyView, n: string) {
  return {
    host: (await draft.hosts.get(n)) ?? expect.fail("no host"),
    agent: (await draft.agents.get(n)) ?? expect.fail("no agent"),
    grant: (await draft.grants.get(n)) ?? expect.fail("no grant"),
    approval: (await draft.approvals.get(n)) ?? expect.fail("no approval"),
  };
}

const approve: Contender = does("approved", async (draft, n) => {
  const its = await recordsOf(draft, n);
  const stands = its.host.status === "active" && its.agent.status === "active";
  if (its.approval.state !== "pending" || its.grant.status !== "pending" || !stands) return false;
  await draft.put("approvals", { ...its.approval, state: "approved" });
  await draft.put("grants", { ...its.grant, status: "active" });
  await draft.put("agents", its.agent);
  await draft.put("hosts", its.host);
  return true;
});

const ends = (state: "denied" | "cancelled" | "expired"): Contender =>
  does(state, async (draft, n) => {
    const its = await recordsOf(draft, n);
    if (its.approval.state !== "pending") return false;
    await draft.put("approvals", { ...its.approval, state });
    await draft.put("grants", { ...its.grant, status: "denied" });
    return true;
  });

const revokeGrant: Contender = does("grant.revoked", async (draft, n) => {
  const its = await recordsOf(draft, n);
  if (its.grant.status === "revoked") return false;
  await draft.put("grants", { ...its.grant, status: "revoked" });
  return true;
});

const revokeAgent: Contender = does("agent.revoked", async (draft, n) => {
  const its = await recordsOf(draft, n);
  if (its.agent.status === "revoked") return false;
  await draft.put("agents", { ...its.agent, status: "revoked" });
  for (const one of await draft.grants.find({ agent: n })) {
    await draft.put("grants", { ...one, status: "revoked" });
  }
  return true;
});

const revokeHost: Contender = does("host.revoked", async (draft, n) => {
  const found = (await draft.hosts.get(n)) ?? expect.fail("no host");
  if (found.status === "revoked") return false;
  await draft.put("hosts", { ...found, status: "revoked" });
  for (const one of await draft.agents.find({ host: n })) {
    await draft.put("agents", { ...one, status: "revoked" });
  }
  for (const one of await draft.grants.find({ host: n })) {
    await draft.put("grants", { ...one, status: "revoked" });
  }
  return true;
});

let made = 0;

/** Requests a grant under an idempotency key. */
const ask: Contender = does("asked", async (draft, n) => {
  if ((await draft.requests.get(n)) !== undefined) return false;
  const its = (await draft.agents.get(n)) ?? expect.fail("no agent");
  if (its.status !== "active") return false;
  const id = `${n}.${made++}`;
  await draft.put("agents", its);
  await draft.put("grants", grant(id, { agent: n, host: n, status: "pending" }));
  await draft.put("requests", answered(n, { made: [id] }));
  return true;
});

const open: Contender = does("opened", async (draft, n) => {
  const [found] = await draft.approvals.find({ request: n });
  if (found === undefined) {
    await draft.put("approvals", approval(`${n}.${made++}`, { subject: subject(n) }));
  }
  return found === undefined;
});

const registerHost: Contender = does("host.registered", async (draft, n) => {
  const [found] = await draft.hosts.find({ thumbprint: n });
  if (found === undefined) await draft.put("hosts", host(`${n}.${made++}`, { thumbprint: n }));
  return found === undefined;
});

const rotateHost = (of: string): Contender =>
  does(`rotated ${of}`, async (draft, n) => {
    const found = (await draft.hosts.get(`${n}.${of}`)) ?? expect.fail("no host");
    const [other] = await draft.hosts.find({ thumbprint: n });
    if (other === undefined) await draft.put("hosts", { ...found, thumbprint: n });
    return other === undefined;
  });

const decides = (approver: string): Contender =>
  does(`decided by ${approver}`, async (draft, n) => {
    const its = await recordsOf(draft, n);
    if (its.approval.state !== "pending") return false;
    const decision = { approver, at: NOW, answer: "approve" } as const;
    const decisions = [...its.approval.decisions, decision];
    const isEnough = decisions.length >= (its.approval.rule.needed ?? 1);
    const state = isEnough ? "approved" : "pending";
    await draft.put("approvals", { ...its.approval, decisions, state });
    if (isEnough) await draft.put("grants", { ...its.grant, status: "active" });
    return true;
  });

const uses: Contender = does("used", async (draft, n) => {
  const its = await recordsOf(draft, n);
  if (its.grant.status === "revoked") return false;
  await draft.put("grants", { ...its.grant, lastUsed: (its.grant.lastUsed ?? NOW) + 1 });
  return true;
});

/** Removes a grant that has not been used. */
const forgets: Contender = does("forgotten", async (draft, n) => {
  const found = await draft.grants.get(n);
  if (found === undefined || found.lastUsed !== undefined) return false;
  await draft.remove("grants", found);
  return true;
});

const usesIfThere: Contender = does("used", async (draft, n) => {
  const found = await draft.grants.get(n);
  if (found !== undefined) await draft.put("grants", { ...found, lastUsed: NOW });
  return found !== undefined;
});

const firstSeen: Contender = does("seen", async (draft, n) => {
  const found = await draft.delegations.get(n);
  if (found === undefined) await draft.put("delegations", delegation(n));
  return found === undefined;
});

const revokeDelegation: Contender = does("delegation.revoked", async (draft, n) => {
  const found = (await draft.delegations.get(n)) ?? delegation(n);
  if (found.revoked !== undefined) return false;
  await draft.put("delegations", { ...found, revoked: NOW });
  return true;
});

/** Writes two records in the given order. */
const both = (name: string, first: "x" | "y", second: "x" | "y"): Contender =>
  does(name, async (draft, n) => {
    for (const which of [first, second]) {
      const found = (await draft.hosts.get(`${n}.${which}`)) ?? expect.fail("no host");
      await draft.put("hosts", { ...found, updated: found.updated + 1 });
    }
    return true;
  });

const use: Contender = async (side, n) =>
  (await side.store.useOnce({ scope: "race", id: n, expires: NOW + 1 }, NOW)) === "first"
    ? does("used once", async () => true)(side, n)
    : undefined;

const prune: Contender = async ({ store }) => {
  await store.prune(NOW);
  return undefined;
};

/** Checks that the grant is active if the approval came first and nothing revoked the grant afterwards. */
async function standsTogether(view: PartyView, n: string, did: Did): Promise<void> {
  const its = await recordsOf(view, n);
  const revoked = won(did).some((one) => one.endsWith("revoked"));
  expect(its.grant.status === "active").toBe(!revoked && won(did).includes("approved"));
  expect(its.approval.state === "approved").toBe(won(did).includes("approved"));
  if (its.host.status === "revoked") expect(its.agent.status).toBe("revoked");
  if (its.agent.status !== "active") expect(its.grant.status).toBe("revoked");
}

async function standsAsDecided(view: PartyView, n: string, did: Did): Promise<void> {
  const its = await recordsOf(view, n);
  expect(its.approval.state).toBe(onlyOne(did));
  expect(its.grant.status).toBe(onlyOne(did) === "approved" ? "active" : "denied");
}

const pending = { before: waiting };

const RACES: readonly StoreRace[] = [
  {
    name: "approve, deny, cancel and expire",
    ...pending,
    contenders: [approve, ends("denied"), ends("cancelled"), ends("expired")],
    after: standsAsDecided,
  },
  {
    name: "approve, revoke grant, agent and host",
    ...pending,
    contenders: [approve, revokeGrant, revokeAgent, revokeHost],
    after: standsTogether,
  },
  {
    name: "two approvers approve and a third denies",
    before: (draft, n) => waiting(draft, n, { rule: { needed: 2 } }),
    contenders: [decides("alice"), decides("bob"), ends("denied")],
    after: async (view, n, did) => {
      const its = await recordsOf(view, n);
      const isDenied = won(did).includes("denied");
      expect(its.approval.state).toBe(isDenied ? "denied" : "approved");
      expect(its.grant.status).toBe(isDenied ? "denied" : "active");
    },
  },
  {
    name: "use a grant four times",
    ...pending,
    contenders: [uses, uses, uses, uses],
    after: async (view, n) => expect((await recordsOf(view, n)).grant.lastUsed).toBe(NOW + 4),
  },
  {
    name: "remove a grant and use it",
    ...pending,
    contenders: [forgets, usesIfThere, forgets],
    after: async (view, n, did) => {
      const kept = await view.grants.get(n);
      expect(onlyOne(did)).toBe(kept === undefined ? "forgotten" : "used");
    },
  },
  {
    name: "ask three times with one idempotency key",
    ...pending,
    contenders: [ask, ask, ask],
    after: async (view, n, did) => {
      expect(onlyOne(did)).toBe("asked");
      const grants = await view.grants.find({ agent: n });
      const [made] = (await view.requests.get(n))?.made ?? [];
      expect(grants.map(({ id }) => id).sort()).toEqual([n, made].sort());
    },
  },
  {
    name: "open an approval of one request four times",
    contenders: [open, open, open, open],
    after: async (view, n, did) => {
      expect(onlyOne(did)).toBe("opened");
      expect(await view.approvals.find({ request: n })).toHaveLength(1);
    },
  },
  {
    name: "register hosts with one key",
    contenders: [registerHost, registerHost, registerHost],
    after: async (view, n, did) => {
      expect(onlyOne(did)).toBe("host.registered");
      expect(await view.hosts.find({ thumbprint: n })).toHaveLength(1);
    },
  },
  {
    name: "register a host with a key, and rotate another host to that key",
    before: (draft, n) => draft.put("hosts", host(`${n}.x`)),
    contenders: [registerHost, rotateHost("x")],
    after: async (view, n, did) => {
      onlyOne(did);
      expect(await view.hosts.find({ thumbprint: n })).toHaveLength(1);
    },
  },
  {
    name: "rotate two hosts to one key",
    before: async (draft, n) => {
      for (const which of ["x", "y"]) await draft.put("hosts", host(`${n}.${which}`));
    },
    contenders: [rotateHost("x"), rotateHost("y")],
    after: async (view, n, did) => {
      onlyOne(did);
      expect(await view.hosts.find({ thumbprint: n })).toHaveLength(1);
    },
  },
  {
    name: "record one delegation three times",
    contenders: [firstSeen, firstSeen, firstSeen],
    after: async (_view, _n, did) => expect(onlyOne(did)).toBe("seen"),
  },
  {
    name: "record a delegation and revoke it twice",
    contenders: [firstSeen, revokeDelegation, revokeDelegation],
    after: async (view, n, did) => {
      expect(won(did).filter((one) => one === "delegation.revoked")).toHaveLength(1);
      expect((await view.delegations.get(n))?.revoked).toBe(NOW);
    },
  },
  {
    name: "put two records in opposite orders",
    before: async (draft, n) => {
      for (const which of ["x", "y"]) await draft.put("hosts", host(`${n}.${which}`));
    },
    contenders: [both("xy", "x", "y"), both("yx", "y", "x"), both("xy", "x", "y")],
    after: async (view, n, did) => {
      expect(won(did)).toHaveLength(3);
      for (const which of ["x", "y"]) {
        expect((await view.hosts.get(`${n}.${which}`))?.updated).toBe(NOW + 3);
      }
    },
  },
  {
    name: "use one id, and prune",
    contenders: [use, prune, use, use],
    after: async (_view, _n, did) => expect(onlyOne(did)).toBe("used once"),
  },
];

const races: readonly Race<Side, string>[] = RACES.map(({ name, before, contenders, after }) => ({
  name,
  contenders,
  before: async ({ store }, round) => {
    await store.change(async (draft) => before?.(draft, round));
    return round;
  },
  after: ({ store }, round, did) => store.read((view) => after(view, round, did)),
}));

runRaces(
  races,
  (database) => ({
    // Allow many retries, so that a slow machine does not make a change fail.
    store: openParties(database, { runs: 1000 }),
    ledger: openLedger(database),
  }),
  async ({ ledger }, done) => {
    const events = await ledger.list({ kind: "registration" });
    const noted = events.map(({ record, change }) => `${record} ${change}`).sort();
    const did = done.flatMap(([round, all]) => won(all).map((change) => `${round} ${change}`));
    expect(noted).toEqual(did.sort());
    await ledger.close();
  },
);
