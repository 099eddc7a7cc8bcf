import { beforeEach, expect } from "vitest";
import type { AgentGrant, Approval } from "../../../src/agent/parties/records.js";
import { RevocationList } from "../../../src/revocation/list.js";
import { type Did, onlyOne, type Race, runRaces, won } from "../../support/races.js";
import {
  active,
  approve,
  approveAs,
  autonomous,
  cancel,
  claimed,
  deny,
  done,
  expire,
  granted,
  keyOf,
  linked,
  NOW,
  registration,
  type Side,
  type Step,
  sideOf,
  tried,
  unlinked,
  type World,
  waiting,
} from "./race-world.js";

const revocations = new RevocationList();
const GONE = [
  "agent_revoked",
  "host_revoked",
  "agent_claimed",
  "agent_not_found",
  "grant_not_found",
];

const revokeAgent: Step = tried("agent revoked", (parties, { agent, user }) =>
  parties.revokeAgent(agent, { principal: user }),
);
const revokeHost: Step = tried("host revoked", (parties, { host }) =>
  parties.revokeHost(host, { operator: true }),
);
const revokeGrants: Step = tried(
  "grants revoked",
  (parties, { agent, user }) => parties.revokeGrants(agent, ["pay"], { principal: user }),
  GONE,
);
const revokeEach: Step = async ({ parties }, { agent, user }) => {
  const grants = await parties.grantsOf(agent);
  for (const { id } of grants) await parties.revokeGrant(id, { principal: user });
  return "each revoked";
};
const asks = (capability: string, idempotencyKey?: string): Step =>
  tried(
    `asked for ${capability}`,
    (parties, { agent }) =>
      parties.requestGrants(agent, {
        capabilities: [{ name: capability }],
        method: "backchannel",
        idempotencyKey,
      }),
    [...GONE, "already_granted"],
  );
const registers = (more: Parameters<typeof registration>[1] = {}): Step =>
  tried(
    `registered ${more.agentName ?? ""}`,
    (parties, { round }) => parties.register(registration(round, more)),
    [...GONE, "agent_exists", "unsupported_mode"],
  );
const rotatesAgent = (to: string): Step =>
  tried(
    `agent has ${to}`,
    (parties, { agent, round }) => {
      const key = { ...keyOf(`${to} ${round}`), proven: true };
      return parties.rotateAgentKey(agent, key);
    },
    [...GONE, "key_in_use"],
  );
const rotatesHost = (to: string): Step =>
  tried(
    `host has ${to}`,
    (parties, { host, round }) => {
      const key = { ...keyOf(`${to} ${round}`), proven: true };
      return parties.rotateHostKey(host, key);
    },
    [...GONE, "key_in_use"],
  );
const claims: Step = tried(
  "claim asked",
  (parties, { agent }) => parties.claim({ agent, by: { agent } }),
  GONE,
);
const reactivates: Step = async ({ later }, { agent }) => {
  const outcome = await later.reactivate(agent);
  if (!outcome.ok) expect(GONE).toContain(outcome.code);
  return outcome.ok ? "reactivated" : undefined;
};
const uses: Step = async ({ parties }, { agent }) => {
  const [grant] = await parties.grantsOf(agent);
  await parties.used(agent, grant?.id);
  return undefined;
};
const usesUp: Step = async ({ parties }, { approval }) => {
  await parties.approvals.use(approval?.id ?? "", [0]);
  return undefined;
};
const oncePerId: Step = async ({ parties }, { round }) =>
  (await parties.useOnce({ scope: "jwt", id: round, expires: NOW + 60_000 })) === "first"
    ? "first"
    : undefined;

/** Opens an approval that two of three approvers must give, for a capability that is then collected. */
async function threefold({ parties, store }: Side, round: string): Promise<World> {
  const approvers = ["ann", "bea", "cy"].map((name) => `${name} ${round}`);
  const { approval } = await store.change((draft) =>
    parties.approvals.open(draft, {
      subject: {
        kind: "capabilities",
        request: round,
        principal: `user ${round}`,
        lifetime: 60,
        asked: [{ grant: "bank", operations: ["pay"], hops: [], description: "Pay" }],
        agent: { id: `agent ${round}` },
      },
      rule: { approvers, needed: 2 },
      method: "backchannel",
      lifetime: 60,
    }),
  );
  const nobody = { user: `user ${round}`, round, host: "", agent: `agent ${round}` };
  return { ...nobody, approval, userCode: undefined };
}

async function twofold(side: Side, round: string): Promise<World> {
  const world = await threefold(side, round);
  for (const name of ["ann", "bea"]) {
    expect(await approveAs(`${name} ${round}`)(side, world)).toBeDefined();
  }
  return world;
}

const asApprover =
  (name: string): Step =>
  (side, world) =>
    approveAs(`${name} ${world.round}`)(side, world);

/** Makes a host by its user; the host is then enrolled under one of several new keys. */
async function enrolling(side: Side, round: string): Promise<World> {
  const user = `user ${round}`;
  const { host, enrolmentToken } = done(await side.parties.createHost({ principal: user }));
  const nothing = { agent: "", approval: undefined, userCode: undefined };
  return { ...nothing, user, round, host: host.id, more: enrolmentToken ?? "" };
}
const enrols = (by: string): Step =>
  tried(
    `enrolled ${by}`,
    (parties, { round, more = "" }) =>
      parties.enrollHost({ token: more, ...keyOf(`${by} ${round}`), proven: true }),
    ["enrolment_token_invalid", "enrolment_token_expired", "host_revoked", "key_in_use"],
  );

/** Records of all rounds, to compare with the ledger. */
const kept: (AgentGrant | Approval)[] = [];
beforeEach(() => {
  kept.length = 0;
});

/** Checks the invariants of the records after any race, and returns the records. */
async function consistent({ store }: Side, world: World) {
  const end = await store.read(async (view) => ({
    host: await view.hosts.get(world.host),
    agents: await view.agents.find({ host: world.host }),
    grants: await view.grants.find({ host: world.host }),
    approvals: await view.approvals.find({ agent: world.agent }),
  }));
  const { host, agents, grants, approvals } = end;
  for (const grant of grants) {
    if (grant.status !== "active") continue;
    const agent = agents.find(({ id }) => id === grant.agent);
    expect(["active", "pending"]).toContain(agent?.status);
    expect(host?.status).not.toBe("revoked");
  }
  for (const { status } of agents) {
    if (host?.status === "revoked") expect(["revoked", "rejected"]).toContain(status);
  }
  kept.push(...grants, ...approvals);
  return end;
}

/** Checks that the ledger has each record's outcome exactly once, and that exactly the ended records are revoked. */
async function agrees({ ledger }: Side): Promise<void> {
  const changes = new Map<string, string[]>();
  for (const kind of ["approval", "registration"] as const) {
    for (const { record = "", change = "" } of await ledger.list({ kind })) {
      changes.set(record, [...(changes.get(record) ?? []), change]);
    }
  }
  for (const one of kept.splice(0)) {
    const noted = changes.get(one.id) ?? [];
    if ("subject" in one) expect(noted.filter(isEnd).sort(), one.id).toEqual(endsOf(one, noted));
    else {
      const { status, capabilityId: capability } = one;
      const dead = revocations.find({ links: [], capability, keys: [], issued: NOW }).length > 0;
      const was = noted.includes("grant.activated");
      expect(dead, one.id).toBe(was && status !== "active");
      const ends = noted.filter((change) => /^grant\.(activated|denied|revoked)$/.test(change));
      const end = status === "active" ? "activated" : status;
      // An immediate denial to an agent without a user has no approval. The server of the protocol records it,
      // not `Parties`.
      if (status === "denied" && one.approval === undefined && noted.length === 0) continue;
      const expected = [
        ...(was ? ["grant.activated"] : []),
        ...(end === "pending" ? [] : [`grant.${end}`]),
      ];
      expect(ends.sort(), one.id).toEqual([...new Set(expected)].sort());
    }
  }
}

function isEnd(change: string): boolean {
  return /^approval\.(approved|denied|expired|cancelled)$/.test(change);
}

/** Returns the final events of an approval. An approved request can be cancelled until it is collected. */
function endsOf({ state, subject }: Approval, noted: readonly string[]): readonly string[] {
  if (state === "pending") return [];
  if (state === "used" || state === "approved") return ["approval.approved"];
  const before = subject.kind === "capabilities" && noted.includes("approval.approved");
  return [...(before ? ["approval.approved"] : []), `approval.${state}`];
}

interface Case {
  readonly name: string;
  readonly before: Race<Side, World>["before"];
  readonly contenders: readonly [Step, Step, ...Step[]];
  readonly after?: (end: Awaited<ReturnType<typeof consistent>>, did: Did, world: World) => void;
}

const stateOf = ({ approvals: [approval] }: { readonly approvals: readonly Approval[] }): string =>
  approval?.state ?? "";

const CASES: readonly Case[] = [
  {
    name: "two approvals of one request",
    before: waiting,
    contenders: [approve, approve],
    after: (end, did) => {
      expect(onlyOne(did)).toBe("approved");
      expect(stateOf(end)).toBe("used");
    },
  },
  {
    name: "approve and deny",
    before: waiting,
    contenders: [approve, deny],
    after: (end, did) => {
      expect(stateOf(end)).toBe(onlyOne(did) === "approved" ? "used" : "denied");
      const pay = end.grants.find(({ capability }) => capability === "pay");
      expect(pay?.status).toBe(onlyOne(did) === "approved" ? "active" : "denied");
    },
  },
  {
    name: "approve and cancel",
    before: waiting,
    contenders: [approve, cancel],
    after: (_end, did) => onlyOne(did),
  },
  {
    name: "approve and expire",
    before: waiting,
    contenders: [approve, expire, expire],
    after: (end, did) => expect(stateOf(end)).toBe(did[0] === undefined ? "expired" : "used"),
  },
  {
    name: "expire one request three times",
    before: waiting,
    contenders: [expire, expire, expire],
    after: (end) => expect(stateOf(end)).toBe("expired"),
  },
  {
    name: "approve, deny, cancel and expire",
    before: waiting,
    contenders: [approve, deny, cancel, expire],
    after: (_end, did) => expect(won(did).length).toBeLessThan(2),
  },
  {
    name: "approve and revoke the pending grants",
    before: waiting,
    contenders: [approve, revokeGrants],
  },
  { name: "approve and revoke each grant", before: waiting, contenders: [approve, revokeEach] },
  {
    name: "approve and revoke the agent",
    before: waiting,
    contenders: [approve, revokeAgent],
    after: ({ grants }) => {
      for (const { status } of grants) expect(status).not.toBe("active");
    },
  },
  {
    name: "approve and revoke the host",
    before: waiting,
    contenders: [approve, revokeHost],
    after: ({ grants }) => {
      for (const { status } of grants) expect(status).not.toBe("active");
    },
  },
  {
    name: "approve, revoke the agent and the host",
    before: waiting,
    contenders: [approve, revokeAgent, revokeHost],
  },
  {
    name: "revoke an agent twice",
    before: granted,
    contenders: [revokeAgent, revokeAgent],
    after: ({ agents }) => expect(agents[0]?.status).toBe("revoked"),
  },
  {
    name: "revoke grants, agent and host",
    before: granted,
    contenders: [revokeGrants, revokeAgent, revokeHost],
    after: ({ host }) => expect(host?.status).toBe("revoked"),
  },
  {
    name: "ask three times with one idempotency key",
    before: active,
    contenders: [asks("pay", "k"), asks("pay", "k"), asks("pay", "k")],
    after: ({ grants, approvals }, did) => {
      expect(won(did)).toHaveLength(3);
      expect(grants.filter(({ capability }) => capability === "pay")).toHaveLength(1);
      expect(approvals).toHaveLength(1);
    },
  },
  {
    name: "ask twice for one capability",
    before: active,
    contenders: [asks("pay"), asks("pay")],
    after: ({ grants }) => {
      expect(grants.filter(({ capability }) => capability === "pay")).toHaveLength(1);
    },
  },
  {
    name: "ask for two capabilities",
    before: active,
    contenders: [asks("pay"), asks("move")],
    after: ({ grants, approvals }, did) => {
      expect(won(did)).toHaveLength(2);
      expect(grants).toHaveLength(3);
      expect(approvals).toHaveLength(2);
    },
  },
  { name: "ask and revoke the agent", before: active, contenders: [asks("pay"), revokeAgent] },
  { name: "ask and revoke the host", before: active, contenders: [asks("pay"), revokeHost] },
  {
    name: "ask again for a pending capability and approve",
    before: waiting,
    contenders: [asks("pay"), approve],
  },
  {
    name: "register an agent three times, with its host",
    before: async (_side, round) => ({
      user: `user ${round}`,
      round,
      host: "",
      agent: "",
      approval: undefined,
      userCode: undefined,
    }),
    contenders: [registers(), registers(), registers()],
    after: (_end, did) => expect(won(did)).toHaveLength(3),
  },
  {
    name: "register with one idempotency key",
    before: linked,
    contenders: [registers({ idempotencyKey: "k" }), registers({ idempotencyKey: "k" })],
    after: ({ agents }, did) => {
      expect(won(did)).toHaveLength(2);
      expect(agents).toHaveLength(1);
    },
  },
  {
    name: "register one key twice",
    before: linked,
    contenders: [registers(), registers()],
    after: ({ agents }, did) => {
      expect(onlyOne(did)).toBe("registered ");
      expect(agents).toHaveLength(1);
    },
  },
  {
    name: "register two agents",
    before: linked,
    contenders: [registers({ agentName: "x" }), registers({ agentName: "y" })],
    after: ({ agents }, did) => {
      expect(won(did)).toHaveLength(2);
      expect(agents).toHaveLength(2);
    },
  },
  {
    name: "register and revoke the host",
    before: linked,
    contenders: [registers(), revokeHost],
    after: ({ host }) => expect(host?.status).toBe("revoked"),
  },
  {
    name: "rotate to a key and register an agent with the same key",
    before: active,
    contenders: [rotatesAgent("x"), registers({ agentName: "x" })],
    after: ({ agents }, did, { round }) => {
      onlyOne(did);
      expect(agents.filter(({ thumbprint }) => thumbprint === `x ${round}`)).toHaveLength(1);
    },
  },
  {
    name: "rotate an agent's key twice",
    before: active,
    contenders: [rotatesAgent("x"), rotatesAgent("y")],
    after: ({ agents }, did) => {
      expect(won(did)).toHaveLength(2);
      expect(agents).toHaveLength(1);
    },
  },
  {
    name: "rotate an agent's key and revoke the agent",
    before: active,
    contenders: [rotatesAgent("x"), revokeAgent],
    after: ({ agents }) => expect(agents[0]?.status).toBe("revoked"),
  },
  {
    name: "rotate a host's key and revoke the host",
    before: linked,
    contenders: [rotatesHost("x"), revokeHost],
    after: ({ host }) => expect(host?.status).toBe("revoked"),
  },
  {
    name: "rotate a host's key twice",
    before: linked,
    contenders: [rotatesHost("x"), rotatesHost("y")],
    after: ({ host }, did, { round }) => {
      expect(won(did)).toHaveLength(2);
      expect([`x ${round}`, `y ${round}`]).toContain(host?.thumbprint);
    },
  },
  {
    name: "enrol a host twice with one enrolment token",
    before: enrolling,
    contenders: [enrols("x"), enrols("y")],
    after: ({ host }, did, { round }) => {
      expect(`enrolled ${host?.thumbprint}`).toBe(`${onlyOne(did)} ${round}`);
    },
  },
  {
    name: "enrol a host and revoke the host",
    before: enrolling,
    contenders: [enrols("x"), revokeHost],
    after: ({ host }) => expect(host?.status).toBe("revoked"),
  },
  {
    name: "two users approve with one code",
    before: unlinked,
    contenders: [approve, asApprover("mallory")],
    after: ({ host, agents }, did, { user, round }) => {
      const winner = onlyOne(did) === "approved" ? user : `mallory ${round}`;
      expect(host?.principal).toBe(winner);
      expect(agents[0]?.principal).toBe(winner);
    },
  },
  {
    name: "ask for a claim twice",
    before: autonomous,
    contenders: [claims, claims],
    after: ({ agents }) => expect(agents[0]?.status).toBe("active"),
  },
  {
    name: "two users approve one claim",
    before: claimed,
    contenders: [approve, asApprover("mallory")],
    after: ({ host, agents }, did, { user, round }) => {
      expect(host?.principal).toBe(onlyOne(did) === "approved" ? user : `mallory ${round}`);
      expect(agents[0]?.status).toBe("claimed");
    },
  },
  {
    name: "approve a claim and ask for a capability",
    before: claimed,
    contenders: [approve, asks("pay")],
    after: ({ agents }) => expect(agents[0]?.status).toBe("claimed"),
  },
  {
    name: "approve a claim and revoke the host",
    before: claimed,
    contenders: [approve, revokeHost],
    after: ({ host }) => expect(host?.status).toBe("revoked"),
  },
  {
    name: "reactivate an agent twice",
    before: granted,
    contenders: [reactivates, reactivates],
    after: ({ agents, grants }) => {
      expect(agents[0]?.status).toBe("active");
      const left = grants.filter(({ status }) => status === "active");
      expect(left.map(({ capability }) => capability)).toEqual(["look"]);
    },
  },
  {
    name: "reactivate and revoke an agent",
    before: granted,
    contenders: [reactivates, revokeAgent],
    after: ({ agents }) => expect(agents[0]?.status).toBe("revoked"),
  },
  { name: "reactivate and approve", before: waiting, contenders: [reactivates, approve] },
  {
    name: "use and revoke an agent",
    before: granted,
    contenders: [uses, revokeAgent, uses],
    after: ({ agents }) => expect(agents[0]?.status).toBe("revoked"),
  },
  {
    name: "three approvers approve a request that needs two approvals",
    before: threefold,
    contenders: [asApprover("ann"), asApprover("bea"), asApprover("cy")],
    after: (end, did) => {
      expect(won(did)).toHaveLength(2);
      expect(stateOf(end)).toBe("approved");
      expect(end.approvals[0]?.decisions).toHaveLength(2);
    },
  },
  {
    name: "use an approved request twice and cancel it",
    before: twofold,
    contenders: [usesUp, usesUp, cancel],
    after: (end, did) => {
      expect(stateOf(end)).toBe(did[2] === undefined ? "used" : "cancelled");
    },
  },
  {
    name: "use one id three times",
    before: linked,
    contenders: [oncePerId, oncePerId, oncePerId],
    after: (_end, did) => expect(onlyOne(did)).toBe("first"),
  },
];

const races: readonly Race<Side, World>[] = CASES.map(({ name, before, contenders, after }) => ({
  name,
  before,
  contenders,
  after: async (side, world, did) => after?.(await consistent(side, world), did, world),
}));

runRaces(races, sideOf(revocations), agrees);
