import { onTestFinished } from "vitest";
import type {
  AgentGrant,
  AgentRecord,
  Approval,
  DelegationRecord,
  HostRecord,
} from "../../../src/agent/parties/records.js";
import type { AnsweredRequest } from "../../../src/agent/parties/store.js";
import { openStores, type StoreDatabase } from "../../../src/stores/database.js";

/** The creation time of these tests' records, in milliseconds since 1970. */
export const NOW: number = Date.parse("2026-01-01T00:00:00Z");

/** Opens a database that is closed at the end of the test. */
export async function databaseAt(place: string): Promise<StoreDatabase> {
  // A busy machine may take long for a large change.
  const patient = { patience: 20_000, writeTimeout: 60_000 };
  const stores = await openStores(place, "create", { reserve: 0, ...patient });
  onTestFinished(() => stores.close());
  return stores;
}

export function host(id: string, more: Partial<HostRecord> = {}): HostRecord {
  return {
    id,
    tenant: "default",
    name: "Laptop",
    status: "active",
    defaults: ["list_payees"],
    key: { kty: "OKP", crv: "Ed25519", x: id },
    thumbprint: `thumb-${id}`,
    created: NOW,
    updated: NOW,
    ...more,
  };
}

export function agent(id: string, more: Partial<AgentRecord> = {}): AgentRecord {
  return {
    id,
    host: "h",
    tenant: "default",
    name: "Payments",
    mode: "delegated",
    status: "active",
    key: { kty: "OKP", crv: "Ed25519", x: id },
    thumbprint: `thumb-${id}`,
    created: NOW,
    updated: NOW,
    ...more,
  };
}

export function grant(id: string, more: Partial<AgentGrant> = {}): AgentGrant {
  return {
    id,
    agent: "a",
    host: "h",
    capability: "transfer_funds",
    grant: "payments:write",
    operation: "transfer",
    status: "active",
    capabilityId: `cap_${id}`,
    hops: [
      { by: "agent", hop: { constraints: { amount: { max: 1000 } } } },
      { by: "approver", who: "alice", hop: { expires: "2026-01-02T00:00:00Z" } },
    ],
    created: NOW,
    updated: NOW,
    ...more,
  };
}

export function approval(id: string, more: Partial<Approval> = {}): Approval {
  return {
    id,
    digest: "d",
    state: "pending",
    rule: {},
    method: "backchannel",
    decisions: [],
    subject: subject(`request-${id}`),
    created: NOW,
    updated: NOW,
    expires: NOW + 600_000,
    ...more,
  };
}

export function subject(
  request: string,
  more: Partial<Approval["subject"]> = {},
): Approval["subject"] {
  return {
    kind: "agent-grants",
    request,
    principal: "alice",
    lifetime: 3600,
    agent: { id: "a", name: "Payments" },
    asked: [
      {
        grant: "payments:write",
        operations: ["transfer"],
        agentGrant: "g",
        hops: [{ by: "agent", hop: { constraints: { amount: { max: 1000 } } } }],
        resources: [{ name: "payees/1", displayName: "Rent", kind: "item" }],
        description: "Sends money",
      },
    ],
    ...more,
  };
}

export function delegation(id: string, more: Partial<DelegationRecord> = {}): DelegationRecord {
  return {
    id,
    tenant: "default",
    delegator: "a",
    delegatee: "b",
    scopes: ["payments:write"],
    revocationId: "rv_AAAAAAAAAAAAAAAAAAAAAA",
    ancestors: [],
    capabilityId: "cap_a",
    created: NOW,
    expires: NOW + 600_000,
    ...more,
  };
}

export function answered(id: string, more: Partial<AnsweredRequest> = {}): AnsweredRequest {
  return { id, digest: "d", made: ["g"], created: NOW, expires: NOW + 600_000, ...more };
}
