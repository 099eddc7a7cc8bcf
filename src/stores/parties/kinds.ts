import { type RawBuilder, sql } from "kysely";
import { isFromStranger } from "../../agent/parties/approval-results.js";
import type { Approval } from "../../agent/parties/records.js";
import type { PartyRecords } from "../../agent/parties/store.js";

/** The kinds of records. */
export type Kind = keyof PartyRecords;

/** Encodes a string for a column by which records are looked up. */
export function key(text: string): string;

export function key(text: string | undefined): string | null;

export function key(text: string | undefined): string | null {
  return text === undefined ? null : JSON.stringify(text);
}

/** The table of each kind. */
export const TABLES: { readonly [K in Kind]: string } = {
  hosts: "party_host",
  agents: "party_agent",
  grants: "party_grant",
  approvals: "approval",
  delegations: "delegation",
  requests: "answered_request",
};

/** The columns of each table besides the body. */
export const COLUMNS: {
  readonly [K in Kind]: (kept: PartyRecords[K]) => { readonly [column: string]: Column };
} = {
  hosts: ({ thumbprint, unproven, principal, status, from }) => ({
    // A revoked host must not keep other hosts from using a key that the revoked host has never proven.
    thumbprint: key(thumbprint ?? (status === "revoked" ? undefined : unproven?.thumbprint)),
    held: status === "revoked" ? null : key(thumbprint),
    principal: key(principal),
    address: key(from?.address),
    network: key(from?.network),
  }),
  agents: ({ host, thumbprint, principal }) => ({
    host: key(host),
    thumbprint: key(thumbprint),
    principal: key(principal),
  }),
  grants: ({ agent, host, approval }) => ({
    agent: key(agent),
    host: key(host),
    approval: key(approval),
  }),
  approvals: (approval) => ({
    request: key(approval.subject.request),
    code: key(approval.codeHash),
    agent: key(approval.subject.agent.id),
    state: key(approval.state),
    until: endOf(approval),
  }),
  delegations: ({ delegator, expires }) => ({ delegator: key(delegator), expires }),
  requests: ({ expires }) => ({ expires }),
};

/**
 * The value of a record that must be unique within its kind; `undefined` if there is none. Random ids are not
 * included.
 */
export const CLAIMS: { readonly [K in Kind]: (kept: PartyRecords[K]) => string | undefined } = {
  hosts: ({ thumbprint, status }) => (status === "revoked" ? undefined : thumbprint),
  agents: () => undefined,
  grants: () => undefined,
  approvals: ({ subject }) => subject.request,
  delegations: ({ id }) => id,
  requests: ({ id }) => id,
};

type Column = string | number | null;

/** Returns the SQL condition for a property of a query; `undefined` if the value has the wrong type. */
type Lookup = (value: unknown) => RawBuilder<unknown> | undefined;

const by =
  (column: string): Lookup =>
  (value) =>
    typeof value === "string" ? sql`${sql.ref(column)} = ${key(value)}` : undefined;

const unlinkedSince: Lookup = (moment) =>
  Number.isSafeInteger(moment) ? sql`principal IS NULL AND created > ${moment}` : undefined;

const overAt: Lookup = (moment) =>
  Number.isSafeInteger(moment)
    ? sql`until <= ${moment} AND state IN (${key("pending")}, ${key("approved")})`
    : undefined;

const byApprover: Lookup = (who) =>
  typeof who === "string"
    ? sql`id IN (SELECT approval FROM approver WHERE principal = ${key(who)})`
    : undefined;

const decidedFor: Lookup = (who) =>
  typeof who === "string"
    ? sql`id IN (SELECT approval FROM approver WHERE principal = ${key(who)} AND decided = 1)`
    : undefined;

const aliveAt: Lookup = (moment) =>
  Number.isSafeInteger(moment) ? sql`expires > ${moment}` : undefined;

const openAt: Lookup = (moment) =>
  Number.isSafeInteger(moment) ? sql`until > ${moment}` : undefined;

/** The conditions of each kind, by property of its query. */
export const LOOKUPS: { readonly [K in Kind]: { readonly [member: string]: Lookup } } = {
  hosts: {
    thumbprint: by("thumbprint"),
    held: by("held"),
    principal: by("principal"),
    unlinkedSince,
    address: by("address"),
    network: by("network"),
  },
  agents: { host: by("host"), thumbprint: by("thumbprint"), principal: by("principal") },
  grants: { agent: by("agent"), host: by("host"), approval: by("approval") },
  approvals: {
    request: by("request"),
    overAt,
    codeHash: by("code"),
    agent: by("agent"),
    state: by("state"),
    approver: byApprover,
    decidedFor,
    openAt,
  },
  delegations: {
    delegator: by("delegator"),
    aliveAt,
  },
  requests: {},
};

/** Returns the time when an approval ended, or will end at the latest. */
function endOf({ state, updated, expires }: Approval): number {
  return state === "pending" || state === "approved" ? Math.max(updated, expires) : updated;
}

/** A principal that may decide an approval, or has decided it. */
export interface Approver {
  readonly principal: string;
  /** 1 if the principal has decided, or if anyone has decided about a request of a linked host. */
  readonly decided: 0 | 1;
}

const none = (): readonly Approver[] => [];

/** Returns the approvers of a record, by kind. */
export const APPROVERS: {
  readonly [K in Kind]: (kept: PartyRecords[K]) => readonly Approver[];
} = {
  hosts: none,
  agents: none,
  grants: none,
  approvals: approversOf,
  delegations: none,
  requests: none,
};

function approversOf(approval: Approval): readonly Approver[] {
  const { rule, subject, decisions } = approval;
  const { principal, hintedUser } = subject;
  const { approvers = principal === undefined ? [] : [principal] } = rule;
  const hinted = hintedUser === undefined ? [] : [hintedUser];
  const deciders = decisions.map(({ approver }) => approver);
  // A stranger can name any user. Decisions of other people about a stranger's request therefore do not appear
  // in that user's history.
  const concernsAll = deciders.length > 0 && !isFromStranger(approval);
  return [...new Set([...approvers, ...hinted, ...deciders])].map((one) => ({
    principal: one,
    decided: concernsAll || deciders.includes(one) ? 1 : 0,
  }));
}
