import {
  causeWords,
  isFromStranger,
  principalOf,
  resultOf,
} from "../../src/agent/parties/approval-results.js";
import { approversOf } from "../../src/agent/parties/approval-rules.js";
import type {
  AgentGrant,
  Approval,
  AskedGrant,
  GrantHop,
} from "../../src/agent/parties/records.js";
import type { Hop } from "../../src/caveats/hop.js";
import { formatTime } from "../../src/caveats/time.js";
import { seenFromNow, spanInWords } from "../moment.js";
import { type Paint, printable, quoted, type Row, renderRows } from "../output.js";
import { hopRows } from "../token-words.js";

// Describes approvals and grants for the operator. Strings from agents and hosts are quoted, or have their
// control characters escaped.

export function approvalLine(approval: Approval, paint: Paint, now: number): string {
  const { id, state, subject, expires } = approval;
  const waits = state === "pending" ? ` ${seenFromNow(formatTime(expires), now)}` : "";
  return [
    formatTime(approval.updated),
    stateWords(state, paint, LONGEST_STATE),
    id,
    `${whoWords(approval)} asks for ${subject.asked.map(nameOf).map(printable).join(", ") || "nothing yet"}`,
    ...(waits === "" ? [] : [`ends${waits}`]),
  ].join("  ");
}

export function grantLine(grant: AgentGrant, paint: Paint, now: number): string {
  const { id, status, agent, capability, expires, lastUsed, updated } = grant;
  const used =
    lastUsed === undefined ? "never used" : `used ${seenFromNow(formatTime(lastUsed), now)}`;
  return [
    formatTime(updated),
    stateWords(status, paint, LONGEST_STATE),
    id,
    `${printable(agent)} may ${printable(capability)}`,
    ...(status === "active" && expires !== undefined
      ? [`expires ${seenFromNow(formatTime(expires), now)}`]
      : []),
    ...(status === "active" ? [used] : []),
  ].join("  ");
}

export function approvalLines(approval: Approval, paint: Paint, now: number): readonly string[] {
  const { id, state, subject, rule, decisions, digest, expires } = approval;
  const { agent, host, purpose, bindingMessage, audience, lifetime } = subject;
  const principal = principalOf(approval);
  const cause = causeWords(approval);
  const approvers = approversOf(approval);
  const needed = rule.needed ?? 1;
  const rows: Row[] = [
    ["asked by", nameAndId(agent)],
    ...(host === undefined ? [] : ([["on host", nameAndId(host)]] as const)),
    ...(isFromStranger(approval) ? [STRANGER] : []),
    ["for", principal === undefined ? takerWords(subject) : printable(principal)],
    ...(purpose === undefined ? [] : ([["why", quoted(purpose)]] as const)),
    ...(bindingMessage === undefined ? [] : ([["message", quoted(bindingMessage)]] as const)),
    ...(audience === undefined ? [] : ([["at", audience.map(printable).join(", ")]] as const)),
    ["lives", spanInWords(lifetime * 1000)],
    [
      "decided by",
      approvers === undefined
        ? "the user who enters the code"
        : `${needed} of ${approvers.map(printable).join(", ")}`,
    ],
    ["until", `${formatTime(expires)} (${seenFromNow(formatTime(expires), now)})`],
    ["digest", digest],
    ...(cause === undefined ? [] : ([["ended", cause]] as const)),
  ];
  const results = resultOf(approval, now);
  return [
    `${paint.bold(id)}  ${stateWords(state, paint)}`,
    ...renderRows(rows, paint, "  "),
    ...results.flatMap(({ asked, place, hops, granted, reason }) => [
      `  ${paint.bold(`${place}: ${printable(nameOf(asked))}`)}  ${quoted(asked.description)}`,
      ...renderRows(askedRows(asked), paint, "     "),
      ...asked.hops.flatMap(({ by, hop }) => hopLines(partyWords(by), hop, paint, now)),
      ...hops.flatMap(({ who, hop }) => hopLines(partyWords("approver", who), hop, paint, now)),
      ...(granted ? [] : [`     ${paint.red("not granted")}: ${quoted(reason ?? "")}`]),
    ]),
    ...decisions.map(({ approver, at, answer, reason }) => {
      const why = reason === undefined ? "" : `: ${quoted(reason)}`;
      const said = answer === "approve" ? paint.green("approved") : paint.red("denied");
      return `  ${formatTime(at)}  ${said} by ${printable(approver)}${why}`;
    }),
  ];
}

export function grantLines(grant: AgentGrant, paint: Paint, now: number): readonly string[] {
  const { id, status, agent, host, capability, operation, hops, purpose, grantedBy } = grant;
  const moments: readonly (readonly [string, number | undefined])[] = [
    ["asked", grant.created],
    ["changed", grant.updated],
    ["last used", grant.lastUsed],
    ["expires", grant.expires],
  ];
  const rows: Row[] = [
    ["agent", printable(agent)],
    ["host", printable(host)],
    ["capability", printable(capability)],
    ["under", `${printable(grant.grant)}: ${printable(operation)}`],
    ...(purpose === undefined ? [] : ([["why", quoted(purpose)]] as const)),
    ...(grantedBy === undefined ? [] : ([["granted by", printable(grantedBy)]] as const)),
    ...(grant.reason === undefined ? [] : ([["because", quoted(grant.reason)]] as const)),
    ...(grant.approval === undefined ? [] : ([["approval", grant.approval]] as const)),
    ["token's id", grant.capabilityId],
    ...moments.flatMap(([label, moment]): Row[] => {
      if (moment === undefined) return [];
      const time = formatTime(moment);
      return [[label, `${time} (${seenFromNow(time, now)})`]];
    }),
  ];
  return [
    `${paint.bold(id)}  ${stateWords(status, paint)}`,
    ...renderRows(rows, paint, "  "),
    ...hops.flatMap(({ by, who, hop }) => hopLines(partyWords(by, who), hop, paint, now)),
  ];
}

function askedRows({ grant, operations, resources, agentGrant }: AskedGrant): Row[] {
  const names = resources?.map(({ displayName }) => quoted(displayName));
  return [
    ["grant", `${printable(grant)}: ${operations.map(printable).join(", ")}`],
    ...(names === undefined ? [] : ([["resources", namesWords(names)]] as const)),
    ...(agentGrant === undefined ? [] : ([["becomes", agentGrant]] as const)),
  ];
}

/** Describes the party that set a hop. */
function partyWords(by: GrantHop["by"], who?: string): string {
  const party = who === undefined ? `the ${by}` : printable(who);
  return `taken away by ${party}`;
}

const MOST_NAMES = 20;

function namesWords(names: readonly string[]): string {
  const more = names.length - MOST_NAMES;
  return `${names.slice(0, MOST_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function hopLines(title: string, hop: Hop, paint: Paint, now: number): readonly string[] {
  return [`     ${title}`, ...renderRows(hopRows(hop, now), paint, "       ")];
}

const STRANGER: Row = ["", "unknown: this host was not linked to a user when it asked"];

export function nameOf({ name, grant }: Pick<AskedGrant, "name" | "grant">): string {
  return name ?? grant;
}

function takerWords({ hintedUser }: Approval["subject"]): string {
  if (hintedUser === undefined) return "the first user who approves";
  return `${printable(hintedUser)}, named by the asker, once that user approves`;
}

function whoWords(approval: Approval): string {
  const { agent, principal } = approval.subject;
  const who = agent.name === undefined ? printable(agent.id) : quoted(agent.name);
  if (isFromStranger(approval)) return `${who} on an unknown host`;
  return principal === undefined ? who : `${who} for ${printable(principal)}`;
}

function nameAndId({ id, name }: { readonly id: string; readonly name?: string }): string {
  return name === undefined ? printable(id) : `${quoted(name)} (${printable(id)})`;
}

const LONGEST_STATE = "cancelled".length;

function stateWords(state: State, paint: Paint, width = 0): string {
  const padded = state.padEnd(width);
  if (state === "pending") return paint.yellow(padded);
  return ["active", "approved", "used"].includes(state) ? paint.green(padded) : paint.red(padded);
}

type State = Approval["state"] | AgentGrant["status"];
