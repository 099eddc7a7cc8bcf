import { expect } from "vitest";
import { Parties } from "../../../src/agent/parties/parties.js";
import type { Approval } from "../../../src/agent/parties/records.js";
import type { Outcome } from "../../../src/agent/parties/refusals.js";
import type { AskedAnswer, Registration } from "../../../src/agent/parties/requests.js";
import type { PartyStore } from "../../../src/agent/parties/store.js";
import type { CapabilityTerm } from "../../../src/agent/parties/terms.js";
import type { RevocationList } from "../../../src/revocation/list.js";
import type { StoreDatabase } from "../../../src/stores/database.js";
import { type LedgerStore, openLedger } from "../../../src/stores/ledger/ledger-store.js";
import { openParties } from "../../../src/stores/parties/party-store.js";

export const NOW: number = Date.parse("2026-01-01T00:00:00Z");
const HOUR = 3_600_000;

/** A process: its parties now, and the same two hours later. */
export interface Side {
  readonly parties: Parties;
  readonly later: Parties;
  readonly store: PartyStore;
  readonly ledger: LedgerStore;
}

/** What is there before a race: the round's own. */
export interface World {
  /** The host's user. */
  readonly user: string;
  readonly round: string;
  readonly host: string;
  readonly agent: string;
  /** The approval that waits, with its user code where it has one. */
  readonly approval: Approval | undefined;
  readonly userCode: string | undefined;
  /** A text besides, of races that have one. */
  readonly more?: string;
}

export type Step = (side: Side, world: World) => Promise<string | undefined>;

const term = (name: string): [string, CapabilityTerm] => [
  name,
  {
    name,
    grant: "bank",
    operation: name,
    description: `Does ${name}`,
    input: {},
    effect: "read",
    legacy: false,
  },
];
const TERMS = new Map(["look", "pay", "move", "print"].map(term));

export function sideOf(revocations: RevocationList): (database: StoreDatabase) => Side {
  return (database) => {
    // However slow the machine is, no change gives up.
    const store = openParties(database, { runs: 1000 });
    const settings = { defaults: ["look"], approval: {} };
    const partiesAt = (now: number): Parties =>
      new Parties({ store, revocations, terms: TERMS, settings, clock: () => now });
    return {
      store,
      parties: partiesAt(NOW),
      later: partiesAt(NOW + 2 * HOUR),
      ledger: openLedger(database),
    };
  };
}

/** A key that stands for itself: its thumbprint is its name. */
export function keyOf(name: string): { key: { kty: string; x: string }; thumbprint: string } {
  return { key: { kty: "OKP", x: name }, thumbprint: name };
}

/** What must not be refused. */
export function done<Answer>(outcome: Outcome<Answer>): Answer {
  if (outcome.ok) return outcome;
  throw new Error(`${outcome.code}: ${outcome.message}`);
}

export function registration(
  round: string,
  more: Partial<Registration> & { readonly agentName?: string } = {},
): Registration {
  const { agentName = "agent", ...rest } = more;
  const [host, agent] = [keyOf(`host ${round}`), keyOf(`${agentName} ${round}`)];
  return {
    hostKey: host.key,
    hostThumbprint: host.thumbprint,
    name: "Payer",
    mode: "delegated",
    agentKey: agent.key,
    agentThumbprint: agent.thumbprint,
    capabilities: [{ name: "look" }],
    ...rest,
  };
}

function worldOf(round: string, user: string, answer: AskedAnswer): World {
  const { host, agent, approval, userCode } = answer;
  return { user, round, host: host.id, agent: agent.id, approval, userCode };
}

/** A host that is linked to a user, and has no agents. */
export async function linked({ parties }: Side, round: string): Promise<World> {
  const user = `user ${round}`;
  const { host } = done(await parties.createHost({ principal: user, key: keyOf(`host ${round}`) }));
  const nothing = { agent: "", approval: undefined, userCode: undefined };
  return { ...nothing, user, round, host: host.id };
}

/** With an active agent that has the defaults. */
export async function active(side: Side, round: string): Promise<World> {
  const { user } = await linked(side, round);
  return worldOf(round, user, done(await side.parties.register(registration(round))));
}

/** Which waits for an approval of more. */
export async function waiting(side: Side, round: string): Promise<World> {
  const { user, agent } = await active(side, round);
  const asked = { capabilities: [{ name: "pay" }], method: "backchannel" } as const;
  return worldOf(round, user, done(await side.parties.requestGrants(agent, asked)));
}

/** Which has more. */
export async function granted(side: Side, round: string): Promise<World> {
  const world = await waiting(side, round);
  expect(await approve(side, world)).toBe("approved");
  return world;
}

/** A host of no user, whose agent waits for one. */
export async function unlinked({ parties }: Side, round: string): Promise<World> {
  return worldOf(round, `user ${round}`, done(await parties.register(registration(round))));
}

/** A host of no user with an autonomous agent. */
export async function autonomous({ parties }: Side, round: string): Promise<World> {
  const asked = registration(round, { mode: "autonomous" });
  return worldOf(round, `user ${round}`, done(await parties.register(asked)));
}

/** Which a user is asked to take over. */
export async function claimed(side: Side, round: string): Promise<World> {
  const { agent } = await autonomous(side, round);
  const asked = await side.parties.claim({ agent, by: { agent } });
  return worldOf(round, `user ${round}`, done(asked));
}

/** Codes of decisions that came too late: who is first to read may see what another changes in part. */
const TOO_LATE = [
  "approval_settled",
  "approval_expired",
  "approver_denied",
  "agent_ended",
  "host_taken",
];

const decision =
  (answer: "approve" | "deny", word: string, as?: string): Step =>
  async ({ parties }, { approval, userCode, user }) => {
    const { id = "", digest = "" } = approval ?? {};
    const by = { principal: as ?? user, userCode };
    const decided = await parties.approvals.decide(id, by, { answer, digest });
    if (decided.ok) return word;
    expect(TOO_LATE).toContain(decided.code);
    return undefined;
  };

export const approve: Step = decision("approve", "approved");
export const deny: Step = decision("deny", "denied");
export const approveAs = (user: string): Step => decision("approve", `approved by ${user}`, user);

export const cancel: Step = async ({ parties }, { approval, agent }) =>
  (await parties.approvals.cancel(approval?.id ?? "", { agent })) ? "cancelled" : undefined;

/** Looks at the approval when its time is over. */
export const expire: Step = async ({ later }, { approval }) => {
  await later.approvals.get(approval?.id ?? "");
  return undefined;
};

/** Of a call that may be refused: what it did, or by which code it did not. */
export const tried =
  (
    word: string,
    call: (parties: Parties, world: World) => Promise<Outcome<object>>,
    refusals: readonly string[] = [],
  ): Step =>
  async ({ parties }, world) => {
    const outcome = await call(parties, world);
    if (outcome.ok) return word;
    expect(refusals, outcome.message).toContain(outcome.code);
    return undefined;
  };
