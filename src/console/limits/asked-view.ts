import { principalOf } from "../../agent/parties/approval-results.js";
import type { AgentGrant, Approval, AskedGrant } from "../../agent/parties/records.js";
import type { Skill } from "../../agent/skill.js";
import { textsIn } from "../../bytes/json.js";
import type { Authority } from "../../caveats/authority.js";
import { meetOf } from "../../caveats/meet.js";
import type { Arguments, ArgumentsOf } from "./arguments.js";

/** Functions that read the agent's skills for the pages. */
export interface Reading {
  readonly argumentsOf: ArgumentsOf;
  readonly onlyReads: OnlyReads;
}

/** A requested or granted capability, in the form that pages show. */
export interface AskedView {
  readonly place: number;
  readonly asked: AskedGrant;
  /** The authority that remains under all existing limits. */
  readonly authority: Authority;
  readonly limitable: Arguments;
  /** True if the capability can change data. */
  readonly changes: boolean;
  /** Strings that come from this server or its users, not from the party that asks. */
  readonly own: ReadonlySet<string>;
}

/** @param place - The index of the grant in the request. */
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

/** Returns the view of a grant that an agent has, or has requested. */
export function viewOfGrant(grant: AgentGrant, reading: Reading): AskedView {
  const { grant: id, operation, capability: name, hops } = grant;
  const asked = { grant: id, operations: [operation], name, hops, description: "" };
  return viewOf(asked, 0, reading);
}

/** Returns whether a requested grant can only read data. */
export type OnlyReads = (asked: AskedGrant) => boolean;

/**
 * Returns a function that tells whether a requested grant can only read data. Every skill of every operation in
 * the grant must be declared as reading. An operation without a skill may change data.
 */
export function onlyReadsBy(skills: Iterable<Pick<Skill, "operation" | "effect">>): OnlyReads {
  const reading = new Map<string, boolean>();
  for (const { operation, effect } of skills) {
    reading.set(operation, effect === "read" && reading.get(operation) !== false);
  }
  return ({ operations }) => operations.every((one) => reading.get(one) === true);
}

/**
 * Returns whether an approval needs proof that the user is present, because it can change data or links a host to
 * the user.
 */
export function isWeighty(approval: Approval, onlyReads: OnlyReads): boolean {
  const { kind, asked } = approval.subject;
  const takesOn = principalOf(approval) === undefined || kind === "agent-claim";
  return takesOn || !asked.every(onlyReads);
}
