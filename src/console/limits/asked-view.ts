import { principalOf } from "../../agent/parties/approval-results.js";
import type { AgentGrant, Approval, AskedGrant } from "../../agent/parties/records.js";
import type { Skill } from "../../agent/skill.js";
import { textsIn } from "../../bytes/json.js";
import type { Authority } from "../../caveats/authority.js";
import { meetOf } from "../../caveats/meet.js";
import type { Arguments, ArgumentsOf } from "./arguments.js";

/** The parts of the agent's skills that pages read. */
export interface Reading {
  readonly argumentsOf: ArgumentsOf;
  readonly onlyReads: OnlyReads;
}

/** A requested or granted capability, as pages show it. */
export interface AskedView {
  readonly place: number;
  readonly asked: AskedGrant;
  /** The remaining authority after all existing limits. */
  readonly authority: Authority;
  readonly limitable: Arguments;
  /** True if it can change data. */
  readonly changes: boolean;
  /** The texts that are not the asker's, but this server's or of users. */
  readonly own: ReadonlySet<string>;
}

/** @param place - Among the grants that are asked for. */
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

/** A capability that an agent was granted, or waits for. */
export function viewOfGrant(grant: AgentGrant, reading: Reading): AskedView {
  const { grant: id, operation, capability: name, hops } = grant;
  const asked = { grant: id, operations: [operation], name, hops, description: "" };
  return viewOf(asked, 0, reading);
}

/** Finds out whether a grant that is asked for changes nothing. */
export type OnlyReads = (asked: AskedGrant) => boolean;

/**
 * Reads from the skills which grants change nothing. A token allows operations, so each skill with one of them must
 * say that it reads; an operation that no skill has may do anything.
 */
export function onlyReadsBy(skills: Iterable<Pick<Skill, "operation" | "effect">>): OnlyReads {
  const reading = new Map<string, boolean>();
  for (const { operation, effect } of skills) {
    reading.set(operation, effect === "read" && reading.get(operation) !== false);
  }
  return ({ operations }) => operations.every((one) => reading.get(one) === true);
}

/** Returns whether approving changes data or lets a host act for its user, for which presence counts. */
export function isWeighty(approval: Approval, onlyReads: OnlyReads): boolean {
  const { kind, asked } = approval.subject;
  const takesOn = principalOf(approval) === undefined || kind === "agent-claim";
  return takesOn || !asked.every(onlyReads);
}
