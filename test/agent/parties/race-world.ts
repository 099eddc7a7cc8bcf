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

/** One process: its parties, and the same parties two hours later. */
export interface Side {
  readonly parties: Parties;
  readonly later: Parties;
  readonly store: PartyStore;
  readonly ledger: LedgerStore;
}

/** The records of a round before the race. */
export interface World {
  /** The host's user. */
  readonly user: string;
  readonly round: string;
  readonly host: string;
  readonly agent: string;
  /** The pending approval, with its user code if it has one. */
  readonly approval: Approval | undefined;
  readonly userCode: string | undefined;
  /** A string that some races need, such as an enrolment token. */
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
    // Retries without limit, so that a slow machine does not make a change fail.
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

/** Returns a fake key whose thumbprint is its name. */
export function keyOf(name: string): { key: { kty: string; x: string }; thumbprint: string } {
  return { key: { kty: "OKP", x: name }, thumbprint: name };
}

/** Returns the answer; throws if the call was refused. */
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

/** Makes a host linked to a user, without agents. */
export async function linked({ parties }: Side, round: string): Promise<World> {
  const user = `user ${round}`;
  const { host } = done(await parties.createHost({ principal: user, key: keyOf(`host ${round}`) }));
  const nothing = { agent: "", approval: undefined, userCode: undefined };
  return { ...nothing, user, round, host: host.id };
}

/** Makes a linked host with an active agent that has the defaults. */
export async function active(side: Side, round: string): Promise<World> {
  const { user } = await linked(side, round);
  return worldOf(round, user, done(await side.parties.register(registration(round))));
}

/** Makes an active agent of a linked host, with a pending approval of another capability. */
export async function waiting(side: Side, round: string): Promise<World> {
  const { user, agent } = await active(side, round);
  const asked = { capabilities: [{ name: "pay" }], method: "backchannel" } as const;
  return worldOf(round, user, done(await side.parties.requestGrants(agent, asked)));
}

/** Makes an active agent of a linked host, with another capability approved. */
export async function granted(side: Side, round: string): Promise<World> {
  const world = await waiting(side, round);
  expect(await approve(side, world)).toBe("approved");
  return world;
}

/** Makes a host without a user, with an agent that waits for a user. */
export async function unlinked({ parties }: Side, round: string): Promise<World> {
  return worldOf(round, `user ${round}`, done(await parties.register(registration(round))));
}

/** Makes a host without a user, with an autonomous agent. */
export async function autonomous({ parties }: Side, round: string): Promise<World> {
  const asked = registration(round, { mode: "autonomous" });
  return worldOf(round, `user ${round}`, done(await parties.register(asked)));
}

/** Makes an autonomous agent with a pending claim. */
export async function claimed(side: Side, round: string): Promise<World> {
  const { agent } = await autonomous(side, round);
  const asked = await side.parties.claim({ agent, by: { agent } });
  return worldOf(round, `user ${round}`, done(asked));
}

/** Codes of decisions that came too late. The code depends on how much of the concurrent change was read. */
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

/** Reads the approval after its expiry. */
export const expire: Step = async ({ later }, { approval }) => {
  await later.approvals.get(approval?.id ?? "");
  return undefined;
};

/** Makes a step that may be refused: it returns the word for success, or `undefined` for an expected refusal. */
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
