import { describe, expect, test } from "vitest";
import { attenuate } from "../../../src/index.js";
import { createIssuer, createRevocationList, importKeyring } from "../../../src/issuer/index.js";
import {
  ACCESS,
  AGENTS,
  delegate,
  issued,
  NOW,
  revoke,
  send,
  summary,
  verify,
  type World,
  world,
} from "./support.js";

const HOP = { operations: ["read"], invokers: ["summarizer"], expires: "10m" } as const;

/** Returns a token that a service has made. Its id is the id of a capability of alice's orchestrator. */
function madeBy({ keys }: World, service: string, id: string, grant = "agents"): string {
  const own = importKeyring(keys.serviceKeys(service));
  const revocations = createRevocationList();
  const issuer = createIssuer({
    name: "documents-agent",
    keys: own,
    revocations,
    clock: () => NOW,
  });
  const operations = ["read", "write", "delete"];
  return issuer.issue(() => ({ grant, operations, principal: "alice" }), { id, service }).capability
    .token;
}

function narrowed(token: string, more: { readonly audience?: readonly string[] } = {}): string {
  const child = attenuate(token, { ...HOP, ...more }, { now: NOW });
  if (!child.ok) throw new Error(child.overreaches[0]?.message);
  return child.token;
}

describe("a token made with another service's key", () => {
  test("is refused as a credential, and cannot delegate or revoke", async () => {
    const parts = await world();
    const { id, token } = await issued(parts);
    const forged = madeBy(parts, "files.example", id);
    const chain = (await delegate(parts, token)).body["chainId"];

    const refused = "401 UNAUTHORIZED - token_invalid";
    expect(summary(await delegate(parts, forged))).toBe(refused);
    expect(summary(await revoke(parts, forged, chain))).toBe(refused);
    expect(summary(await send(parts, "GET", "/token/introspect", forged))).toBe(refused);
    const picked = { "Proviso-Capability": forged };
    expect(summary(await delegate(parts, ACCESS.orchestrator, {}, picked))).toBe(
      "403 FORBIDDEN Proviso-Capability audience_denied",
    );
    expect(summary(await delegate(parts, token))).toContain("201");
  });

  test("is not a valid delegation, even with the capability id of an agent's capability", async () => {
    const parts = await world();
    const { id, token } = await issued(parts);
    const verdict = await verify(parts, narrowed(madeBy(parts, "files.example", id)));
    expect(verdict).toMatchObject({ valid: false, reason: "audience_denied" });
    expect(verdict["delegatorAgentId"]).toBeNull();
    expect(await verify(parts, narrowed(token))).toMatchObject({
      valid: true,
      delegatorAgentId: AGENTS.orchestrator,
    });
  });
});

describe("a token made with the key of the agent's own audience", () => {
  test("is refused if the issuer recorded the capability with another key", async () => {
    const parts = await world();
    const { id } = await issued(parts);
    const own = madeBy(parts, "documents-agent", id);
    expect(summary(await delegate(parts, own))).toBe("401 UNAUTHORIZED - token_invalid");
    expect(await verify(parts, narrowed(own))).toMatchObject({
      valid: false,
      reason: "delegator_unknown",
      delegatorAgentId: null,
    });
  });
});

describe("a token with another capability's id", () => {
  test.each([
    ["grant", { grant: "documents:read", principal: "alice" }],
    ["principal", { grant: "agents", principal: "bob" }],
  ])(
    "is refused if the recorded capability has another %s",
    async (_what, { grant, principal }) => {
      const parts = await world();
      const { id } = await issued(parts);
      const operations = grant === "agents" ? ["read", "write"] : ["retrieve", "list"];
      const other = parts.issuer.issue(() => ({ grant, operations, principal }), { id });
      expect(summary(await delegate(parts, other.capability.token))).toBe(
        "401 UNAUTHORIZED - token_invalid",
      );
      // The same is true after the capability has expired, when only its event is left in the ledger.
      parts.clock.now += 2 * 60 * 60 * 1000;
      const later = parts.issuer.issue(() => ({ grant, operations, principal }), { id });
      expect(summary(await delegate(parts, later.capability.token))).toBe(
        "401 UNAUTHORIZED - token_invalid",
      );
    },
  );
});

test("verify-delegation returns the audience of a delegation, if the delegation has one", async () => {
  const parts = await world();
  const { token } = await issued(parts);
  expect(await verify(parts, narrowed(token))).not.toHaveProperty("audience");
  const bound = narrowed(token, { audience: ["documents-agent", "files.example"] });
  expect(await verify(parts, bound)).toMatchObject({
    valid: true,
    audience: ["documents-agent", "files.example"],
  });
});

test("introspection finds an agent's own capability among 256 capabilities of the user's other agents", async () => {
  const parts = await world();
  const { id } = await issued(parts);
  const at = new Date(NOW).toISOString();
  // These events fill one page of the ledger.
  const other = { principal: "alice", invoker: "Orchestrator" };
  for (let more = 0; more < 256; more++) {
    const capability = `cap_${String(more).padStart(16, "0")}`;
    parts.ledger.note({ kind: "issuance", at, decision: "allowed", capability, ...other });
  }
  const { body } = await send(parts, "GET", "/token/introspect", ACCESS.orchestrator);
  expect(body["capabilities"]).toMatchObject([{ capabilityId: id }]);
});
