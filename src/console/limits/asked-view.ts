import { principalOf } from "../../agent/parties/approval-results.js";
import type { AgentGrant, Approval, AskedGrant } from "../../agent/parties/records.js";
import type { Skill } from "../../agent/skill.js";
import { textsIn } from "../../bytes/json.js";
import type { Authority } from "../../caveats/authority.js";
import { meetOf } from "../../caveats/meet.js";
import type { Arguments, ArgumentsOf } from "./arguments.js";

/** The properties of the agent's skills that pages show. */
export interface Reading {
  readonly argumentsOf: ArgumentsOf;
  readonly onlyReads: OnlyReads;
}

/** A requested or granted capability, as pages show it. */
export interface AskedView {
  readonly place: number;
  readonly asked: AskedGrant;
  /** The authority that is left after all existing limits. */
  readonly authority: Authority;
  readonly limitable: Arguments;
  /** True if it can change data. */
  readonly changes: boolean;
  /** Texts that come from this server or its users rather than from the asker. */
  readonly own: ReadonlySet<string>;
}

/** @param place - The grant's index in the request. */
export function viewOf(asked: AskedGrant, place: number, reading: Reading): AskedView {
  const authority = meetOf([asked.hops.map(({ hop }) => hop)]);
  const limitable = reading.argumentsOf(asked, authority);
  const own = new Set(asked.operations);
  for (const { name, choices = [], fromSkill } of limitable.known) {
    if (!fromSkill) continue;
    own.add(name);
    for (const choice of choices) if (typeof choice === "string") own.add(choice);
  }
  for (const names of limitable.shown.values()) for (const name of names) own.add(name);
  for (const { by, hop } of asked.hops)
    if (by !== "agent") for (const text of textsIn(hop)) own.add(text);
  return { place, asked, authority, limitable, changes: !reading.onlyReads(asked), own };
}

/** Returns the view of a grant that an agent has or waits for. */
export function viewOfGrant(grant: AgentGrant, reading: Reading): AskedView {
  const { grant: id, operation, capability: name, hops } = grant;
  const asked = { grant: id, operations: [operation], name, hops, description: "" };
  return viewOf(asked, 0, reading);
}

/** Returns whether a requested grant changes nothing. */
export type OnlyReads = (asked: AskedGrant) => boolean;

/**
 * Returns a test for grants that change nothing. A token allows operations, so every skill with one of them
 * must be declared as reading. An operation without a skill counts as changing something.
 */
export function onlyReadsBy(skills: Iterable<Pick<Skill, "operation" | "effect">>): OnlyReads {
  const reading = new Map<string, boolean>();
  for (const { operation, effect } of skills) {
    reading.set(operation, effect === "read" && reading.get(operation) !== false);
  }
  return ({ operations }) => operations.every((one) => reading.get(one) === true);
}

/** Returns whether the user's presence matters for approving: it changes data, or lets a host act for its user. */
export function isWeighty(approval: Approval, onlyReads: OnlyReads): boolean {
  const { kind, asked } = approval.subject;
  const takesOn = principalOf(approval) === undefined || kind === "agent-claim";
  return takesOn || !asked.every(onlyReads);
}
