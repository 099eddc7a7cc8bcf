import { describe, expect, test } from "vitest";
import { attenuate, inspect, revocationId } from "../../../src/index.js";
import { chainIdOf } from "../../../src/revocation/id.js";
import { throughStores } from "../../support/databases.js";
import { ACCESS, AGENTS, delegate, issued, NOW, revoke, send, verify, world } from "./support.js";

const [HOUR, MINUTE] = [3_600_000, 60_000];
const SUMMARIZER = { operation: "read", grant: "agents", invoker: "summarizer" } as const;

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

describe("a delegation", () => {
  throughStores((place) => {
    test("can be made and verified, and can be revoked only by its delegator", async () => {
      const parts = await world({ place: await place() });
      const { token } = await issued(parts);
      const made = await delegate(parts, token, { ttlSeconds: 3600 });
      const { delegationToken, chainId } = made.body;
      expect(made).toMatchObject({
        status: 201,
        body: {
          delegatorAgentId: AGENTS.orchestrator,
          delegateeAgentId: AGENTS.summarizer,
          scopes: ["agents:read"],
          expiresAt: time(NOW + HOUR),
        },
      });
      expect(Object.keys(made.body)).toHaveLength(6);
      expect(made.headers.get("Cache-Control")).toBe("no-store");
      const all = {
        chainId,
        delegatorAgentId: AGENTS.orchestrator,
        delegateeAgentId: AGENTS.summarizer,
        scopes: ["agents:read"],
        issuedAt: time(NOW),
        expiresAt: time(NOW + HOUR),
        revokedAt: null,
      };
      expect(await verify(parts, delegationToken)).toEqual({ valid: true, ...all });
      expect(await verify(parts, delegationToken, token)).toMatchObject({ valid: true });

      // The token is an ordinary capability, bound to the delegatee.
      const { issuer, agent } = parts;
      const text = String(delegationToken);
      expect(chainIdOf(revocationId(text))).toBe(chainId);
      expect(issuer.authorize(text, SUMMARIZER).allowed).toBe(true);
      expect(issuer.authorize(text, { ...SUMMARIZER, operation: "write" }).allowed).toBe(false);
      expect(issuer.authorize(text, { ...SUMMARIZER, invoker: "archiver" }).allowed).toBe(false);
      const call = { skill: "do_read", arguments: {}, capabilities: [{ token: text }] };
      const by = { principal: "alice", invoker: "summarizer" };
      expect((await agent.invoke(by, call)).ok).toBe(true);

      // Only the delegator can revoke the delegation. Revoking it twice succeeds too.
      expect(await revoke(parts, ACCESS.summarizer, chainId)).toMatchObject({ status: 403 });
      expect(await revoke(parts, ACCESS.bob, chainId)).toMatchObject({ status: 403 });
      parts.clock.now += MINUTE;
      for (const bearer of [token, token, ACCESS.orchestrator]) {
        expect(await revoke(parts, bearer, chainId)).toMatchObject({ status: 204, body: {} });
        parts.clock.now += MINUTE;
      }
      const revoked = { ...all, revokedAt: time(NOW + MINUTE) };
      expect(await verify(parts, delegationToken)).toEqual({
        valid: false,
        ...revoked,
        reason: "revoked",
      });
      expect((await agent.invoke(by, call)).ok).toBe(false);
      // The delegator's token is still valid.
      expect((await delegate(parts, token)).status).toBe(201);

      parts.clock.now += HOUR;
      expect(await verify(parts, delegationToken)).toMatchObject({ valid: false, ...revoked });
    });
  });

  throughStores((place) => {
    test("expires no later than its capability, and its expiresAt is the actual expiry", async () => {
      const parts = await world({ place: await place() });
      const end = NOW + HOUR;
      const expires = `${time(end).slice(0, 19)}Z`;
      const { token } = await issued(parts, { expires });
      // The delegation expires with the delegator's token. In the first round that is in almost an hour; in the
      // second, it is sooner than the minimum lifetime that can be requested.
      for (const after of [1000, HOUR - 30_000]) {
        parts.clock.now = NOW + after;
        const made = await delegate(parts, token, { ttlSeconds: 86_400 });
        expect(made).toMatchObject({ status: 201, body: { expiresAt: time(end) } });
        const { delegationToken } = made.body;
        expect(inspect(String(delegationToken)).authority.expires).toBe(expires);
        expect(await verify(parts, delegationToken)).toMatchObject({
          valid: true,
          expiresAt: time(end),
        });
        const offline = attenuate(token, {
          operations: ["read"],
          invokers: ["summarizer"],
          notBefore: new Date(parts.clock.now),
          expires: new Date(end),
        });
        expect(offline.ok && (await verify(parts, offline.token))).toMatchObject({ valid: true });
      }
      parts.clock.now = end;
      expect((await delegate(parts, token)).status).toBe(401);
    });
  });

  test("is still described by verify-delegation after the delegation has expired", async () => {
    const parts = await world();
    const { token } = await issued(parts);
    const { body } = await delegate(parts, token, { ttlSeconds: 60 });
    parts.clock.now += 59_999;
    expect(await verify(parts, body["delegationToken"])).toMatchObject({ valid: true });
    parts.clock.now += 1;
    const expired = await verify(parts, body["delegationToken"]);
    expect(expired).toMatchObject({ valid: false, reason: "expired", revokedAt: null });
    expect(Object.keys(expired)).toHaveLength(9);
    // The answers stay the same when the ledger no longer has the delegator's capability.
    parts.clock.now += 48 * HOUR;
    expect(await verify(parts, body["delegationToken"])).toEqual(expired);
    expect(await revoke(parts, ACCESS.orchestrator, body["chainId"])).toMatchObject({
      status: 204,
    });
  });

  test("cannot be delegated further", async () => {
    const parts = await world();
    const { token } = await issued(parts);
    const { body } = await delegate(parts, token, { scopes: ["agents:read", "agents:write"] });
    const text = String(body["delegationToken"]);
    const further = await delegate(parts, text, { delegateeAgentId: AGENTS.archiver });
    expect(further).toMatchObject({
      status: 400,
      body: {
        code: "VALIDATION_ERROR",
        details: { field: "Authorization", reason: "capability_bound" },
      },
    });
    // Offline, the delegatee cannot name another agent either: the resulting token allows no agent anything.
    const hop = { invokers: ["archiver"] };
    expect(attenuate(text, hop).ok).toBe(false);
    const forced = attenuate(token, { operations: ["read"], invokers: ["summarizer", "archiver"] });
    expect(forced.ok && (await verify(parts, forced.token))).toEqual({
      valid: false,
      reason: "several_delegatees",
    });
    // The delegatee may narrow the delegation for its own use.
    const own = attenuate(text, { operations: ["read"] });
    expect(own.ok && (await verify(parts, own.token))).toMatchObject({
      valid: true,
      scopes: ["agents:read"],
      delegateeAgentId: AGENTS.summarizer,
      delegatorAgentId: AGENTS.orchestrator,
      issuedAt: body["issuedAt"] ?? time(NOW),
    });
  });

  test("is revoked if its capability or the delegator's token is revoked", async () => {
    const parts = await world();
    const { token, id } = await issued(parts);
    const narrowed = attenuate(token, { operations: ["read", "write"] });
    if (!narrowed.ok) throw new Error("not narrowed");
    const ofAll = (await delegate(parts, token)).body;
    const ofNarrowed = (await delegate(parts, narrowed.token)).body;
    const entry = { kind: "link", id: narrowed.revocationId, at: "2030-01-01T00:00:00Z" } as const;
    await parts.revocations.add(entry);
    expect(await verify(parts, ofAll["delegationToken"])).toMatchObject({ valid: true });
    expect(await verify(parts, ofNarrowed["delegationToken"])).toMatchObject({
      valid: false,
      reason: "revoked",
      revokedAt: time(NOW),
      scopes: ["agents:read"],
    });
    // A token whose capability was revoked can no longer be delegated.
    expect((await delegate(parts, narrowed.token)).status).toBe(401);
    await parts.revocations.add({ kind: "capability", id, at: "2030-01-01T00:00:00Z" });
    expect((await delegate(parts, token)).status).toBe(401);
    expect(await delegate(parts, ACCESS.orchestrator)).toMatchObject({ status: 403 });
    expect(await verify(parts, ofAll["delegationToken"])).toMatchObject({ reason: "revoked" });
  });

  test("requested with an access token must name its capability only if the caller has several", async () => {
    const parts = await world();
    const first = await issued(parts);
    const byAccess = await delegate(parts, ACCESS.orchestrator);
    expect(byAccess.status).toBe(201);
    const said = inspect(String(byAccess.body["delegationToken"]));
    expect(said.capability?.id).toBe(first.id);
    const second = await issued(parts);
    const several = await delegate(parts, ACCESS.orchestrator);
    expect(several).toMatchObject({
      status: 400,
      body: { details: { field: "Authorization", reason: "capability_ambiguous" } },
    });
    expect(several.body["message"]).toContain(second.id);
    for (const picked of [second.id, second.token]) {
      const header = { "Proviso-Capability": picked };
      const made = await delegate(parts, ACCESS.orchestrator, {}, header);
      const text = String(made.body["delegationToken"]);
      expect(inspect(text).capability?.id, made.body["message"]?.toString()).toBe(second.id);
    }
  });
});

test("GET /token/introspect lists the caller's capabilities and the scopes of each capability", async () => {
  const parts = await world();
  const path = "/token/introspect";
  const none = await send(parts, "GET", path, ACCESS.orchestrator);
  expect(none.body).toEqual({
    active: true,
    agentId: AGENTS.orchestrator,
    scopes: [],
    expiresAt: null,
    capabilities: [],
  });
  const first = await issued(parts, { operations: ["read", "write"] });
  const scopes = ["agents:read", "agents:write"];
  const one = {
    active: true,
    agentId: AGENTS.orchestrator,
    scopes,
    expiresAt: first.expires.replace("Z", ".000Z"),
    capabilities: [
      { capabilityId: first.id, scopes, expiresAt: first.expires.replace("Z", ".000Z") },
    ],
  };
  expect((await send(parts, "GET", path, ACCESS.orchestrator)).body).toEqual(one);
  expect((await send(parts, "GET", path, first.token)).body).toEqual(one);
  await issued(parts, { grants: ["documents:read"] });
  const both = await send(parts, "GET", path, ACCESS.orchestrator);
  expect(both.body["scopes"]).toEqual(["agents:read", "agents:write", "documents:read"]);
  expect((await send(parts, "GET", path, ACCESS.unlisted)).body).toMatchObject({
    agentId: null,
    scopes: [],
  });
});
