// Stored records are checked against these shapes when they are read. A record that does not have its shape is
// reported as a damaged database.

import type {
  AgentGrant,
  AgentGrantStatus,
  AgentMode,
  AgentRecord,
  AgentStatus,
  Approval,
  ApprovalCause,
  ApprovalDecision,
  ApprovalKind,
  ApprovalRule,
  ApprovalState,
  ApprovalSubject,
  AskedGrant,
  DelegationRecord,
  GrantHop,
  HostRecord,
  HostStatus,
  Origin,
  PublicKey,
} from "../../agent/parties/records.js";
import type { AnsweredRequest, PartyRecords } from "../../agent/parties/store.js";
import type { Resource } from "../../agent/resources/resource.js";
import { canonicalBytes, isObject, isTexts, type Json } from "../../bytes/json.js";
import { readHop } from "../../caveats/read-hop.js";

/** Returns whether a value has a shape. */
type Shape = (value: unknown) => boolean;

/** Returns the shape of an object whose named properties each have a shape; other properties are not checked. */
function record<Kept>(
  members: {
    readonly [Name in keyof Required<Kept>]: Shape;
  },
): (value: unknown) => value is Kept {
  const shapes = Object.entries<Shape>(members);
  return (value): value is Kept =>
    isObject(value) && shapes.every(([name, fits]) => fits(value[name]));
}

const text: Shape = (value) => typeof value === "string";

const moment: Shape = Number.isSafeInteger;

const texts: Shape = isTexts;

const object: Shape = isObject;

const isTrue: Shape = (value) => value === true;

/** Returns whether a value is a valid hop. */
function hop(value: unknown): boolean {
  try {
    // The value was parsed from JSON.
    return readHop(canonicalBytes(value as Json)).ok;
  } catch {
    return false;
  }
}

/** Returns the shape of a string that is one of the given values. */
function oneOf<Value extends string>(values: { readonly [One in Value]: true }): Shape {
  return (value) => typeof value === "string" && Object.hasOwn(values, value);
}

/** Returns the shape of a property that may be absent. */
function maybe(fits: Shape): Shape {
  return (value) => value === undefined || fits(value);
}

function listOf(fits: Shape): Shape {
  return (value) => Array.isArray(value) && value.every(fits);
}

/** Returns the shape of an object whose property values all have one shape. */
function mapOf(fits: Shape): Shape {
  return (value) => isObject(value) && Object.values(value).every(fits);
}

const grantHops = listOf(
  record<GrantHop>({
    by: oneOf<GrantHop["by"]>({ agent: true, server: true, approver: true }),
    who: maybe(text),
    hop,
  }),
);

/** The shapes of the stored records of each kind. */
export const SHAPES: {
  readonly [Kind in keyof PartyRecords]: (value: unknown) => value is PartyRecords[Kind];
} = {
  hosts: record<HostRecord>({
    id: text,
    tenant: text,
    name: maybe(text),
    named: maybe(isTrue),
    status: oneOf<HostStatus>({ enrolling: true, pending: true, active: true, revoked: true }),
    key: maybe(object),
    thumbprint: maybe(text),
    unproven: maybe(record<PublicKey>({ key: object, thumbprint: text })),
    principal: maybe(text),
    from: maybe(record<Origin>({ address: text, network: text })),
    defaults: texts,
    enrolment: maybe(record<NonNullable<HostRecord["enrolment"]>>({ hash: text, expires: moment })),
    created: moment,
    updated: moment,
    lastUsed: maybe(moment),
  }),
  agents: record<AgentRecord>({
    id: text,
    host: text,
    tenant: text,
    name: text,
    mode: oneOf<AgentMode>({ delegated: true, autonomous: true }),
    status: oneOf<AgentStatus>({
      pending: true,
      active: true,
      expired: true,
      revoked: true,
      rejected: true,
      claimed: true,
    }),
    key: object,
    thumbprint: text,
    unproven: maybe(isTrue),
    principal: maybe(text),
    denial: maybe(text),
    withheld: maybe(texts),
    created: moment,
    updated: moment,
    activated: maybe(moment),
    expires: maybe(moment),
    lastUsed: maybe(moment),
  }),
  grants: record<AgentGrant>({
    id: text,
    agent: text,
    host: text,
    capability: text,
    grant: text,
    operation: text,
    status: oneOf<AgentGrantStatus>({ active: true, pending: true, denied: true, revoked: true }),
    hops: grantHops,
    capabilityId: text,
    principal: maybe(text),
    approval: maybe(text),
    purpose: maybe(text),
    grantedBy: maybe(text),
    reason: maybe(text),
    created: moment,
    updated: moment,
    expires: maybe(moment),
    lastUsed: maybe(moment),
  }),
  approvals: record<Approval>({
    id: text,
    digest: text,
    subject: record<ApprovalSubject>({
      kind: oneOf<ApprovalKind>({ "agent-claim": true, "agent-grants": true, capabilities: true }),
      request: text,
      asked: listOf(asked),
      principal: maybe(text),
      hintedUser: maybe(text),
      agent: record<ApprovalSubject["agent"]>({ id: text, name: maybe(text) }),
      host: maybe(
        record<NonNullable<ApprovalSubject["host"]>>({
          id: text,
          name: maybe(text),
          named: maybe(isTrue),
        }),
      ),
      audience: maybe(texts),
      purpose: maybe(text),
      bindingMessage: maybe(text),
      lifetime: moment,
      query: maybe(text),
      whole: maybe(text),
    }),
    state: oneOf<ApprovalState>({
      pending: true,
      approved: true,
      used: true,
      denied: true,
      expired: true,
      cancelled: true,
    }),
    cause: maybe(oneOf<ApprovalCause>({ principal_revoked: true, approvers_changed: true })),
    rule: record<ApprovalRule>({ approvers: maybe(texts), needed: maybe(moment) }),
    method: oneOf<Approval["method"]>({ user_code: true, backchannel: true }),
    codeHash: maybe(text),
    decisions: listOf(
      record<ApprovalDecision>({
        approver: text,
        at: moment,
        answer: oneOf<ApprovalDecision["answer"]>({ approve: true, deny: true }),
        takesOn: maybe((value) => value === true),
        granted: maybe(listOf(moment)),
        hops: maybe(mapOf(hop)),
        reason: maybe(text),
      }),
    ),
    collected: maybe(mapOf(text)),
    created: moment,
    updated: moment,
    expires: moment,
  }),
  delegations: record<DelegationRecord>({
    id: text,
    tenant: text,
    delegator: text,
    delegatee: text,
    scopes: texts,
    revocationId: text,
    ancestors: texts,
    capabilityId: text,
    principal: maybe(text),
    issued: maybe(moment),
    expires: moment,
    created: moment,
    revoked: maybe(moment),
  }),
  requests: record<AnsweredRequest>({
    id: text,
    digest: text,
    made: texts,
    created: moment,
    expires: moment,
  }),
};

function asked(value: unknown): boolean {
  return isAsked(value);
}

const isAsked = record<AskedGrant>({
  grant: text,
  operations: texts,
  resources: maybe(
    listOf(
      record<NonNullable<AskedGrant["resources"]>[number]>({
        name: text,
        displayName: text,
        kind: oneOf<Resource["kind"]>({ item: true, collection: true }),
      }),
    ),
  ),
  hops: grantHops,
  agentGrant: maybe(text),
  name: maybe(text),
  description: text,
});
