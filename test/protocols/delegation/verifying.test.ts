import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonObject, type JsonObject } from "../../../src/bytes/json.js";
import type { HopInit } from "../../../src/caveats/hop.js";
import { attenuate, chainId, encodeHop } from "../../../src/index.js";
import { createIssuer, createKeyring, createRevocationList } from "../../../src/issuer/index.js";
import { sized } from "../../support/size.js";
import {
  ACCESS,
  AGENTS,
  delegate,
  issued,
  NOW,
  register,
  revoke,
  send,
  summary,
  verify,
  world,
} from "./support.js";

const SECOND = 1000;
const HOP = { operations: ["read"], invokers: ["summarizer"] } as const;

/** Narrows a token offline. */
function narrowed(token: string, hop: HopInit, now: number = NOW): string {
  const child = attenuate(token, hop, { now });
  if (!child.ok) throw new Error(child.overreaches[0]?.message);
  return child.token;
}

function time(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}

/** Formats a time as hops do. */
function second(milliseconds: number): string {
  return time(milliseconds).replace(".000", "");
}

describe("a value that is not a delegation by this issuer", () => {
  test("is reported as invalid, with a reason and nothing else", async () => {
    const parts = await world();
    const { token } = await issued(parts);
    const made = (await delegate(parts, token)).body["delegationToken"];
    const text = String(made);
    const keys = createKeyring({ clock: () => NOW });
    const revocations = createRevocationList();
    const ask = { grant: "agents", operations: ["read"] };
    const issuer = (name: string): string =>
      createIssuer({ name, keys, revocations, clock: () => NOW }).mint(ask).token;
    const texts = [
      ["", "token_malformed"],
      ["x", "token_truncated"],
      ["sa_del_a1b2c3d4e5f6", "token_malformed"],
      [text.slice(0, -8), "token_truncated"],
      [`${text}AAAA`, "token_malformed"],
      ["A".repeat(50_000), "token_too_large"],
      [issuer("another-agent"), "foreign_issuer"],
      [issuer("documents-agent"), "unknown_key"],
      [
        `${text.slice(0, -2)}${text.at(-2) === "A" ? "B" : "A"}${text.slice(-1)}`,
        "signature_mismatch",
      ],
      [token, "not_delegated"],
      [narrowed(token, { operations: ["read"] }), "not_delegated"],
      [narrowed(token, { invokers: ["summarizer", "archiver"] }), "several_delegatees"],
    ] as const;
    for (const [one, reason] of texts) {
      expect(await verify(parts, one), reason).toEqual({ valid: false, reason });
    }
    const bound = await issued(parts, { invokers: ["orchestrator"] });
    expect(await verify(parts, bound.token)).toEqual({ valid: false, reason: "not_delegated" });
  });

  test("is reported as invalid, even if it is a random string", async () => {
    const parts = await world({ rate: { requests: 1e6, seconds: 1 } });
    const any = fc.oneof(fc.string({ unit: "grapheme" }), fc.base64String(), fc.json());
    await fc.assert(
      fc.asyncProperty(any, async (text) => {
        const { valid, reason, ...more } = await verify(parts, text);
        expect([valid, typeof reason, more]).toEqual([false, "string", {}]);
      }),
      { numRuns: sized(200, 50, 500) },
    );
  });

  test("gets 400 if it is not a string", async () => {
    const parts = await world();
    for (const body of [{}, { delegationToken: 1 }, { delegationToken: null }, { token: "x" }]) {
      const path = "/oauth2/token/verify-delegation";
      const answer = await send(parts, "POST", path, ACCESS.summarizer, body);
      expect(summary(answer)).toMatch(/^400 VALIDATION_ERROR (delegationToken|token) /);
    }
  });
});

describe("a delegation made offline", () => {
  test("is verified, recorded and revoked like a delegation made by request", async () => {
    const parts = await world();
    const { token } = await issued(parts);
    const online = (await delegate(parts, token)).body;
    const hop = { ...HOP, notBefore: second(NOW), expires: second(NOW + 600 * SECOND) };
    const offline = narrowed(token, hop);
    const { chainId: onlineId, ...first } = await verify(parts, online["delegationToken"]);
    const { chainId: offlineId, ...other } = await verify(parts, offline);
    expect(other).toEqual(first);
    expect([onlineId, offlineId]).toEqual([
      chainId(String(online["delegationToken"])),
      chainId(offline),
    ]);
    const records = await parts.parties.read((view) => view.delegations.find({}));
    expect(records).toHaveLength(2);
    const [{ id: _, revocationId: __, ...one } = {}, { id: ___, revocationId: ____, ...two } = {}] =
      records;
    expect(two).toEqual(one);
    const events = await parts.ledger.list({ kind: "registration" });
    expect(events.map(({ change, invoker }) => [change, invoker])).toEqual([
      ["delegation.made", "orchestrator"],
      ["delegation.seen", "summarizer"],
    ]);
    expect((await revoke(parts, token, offlineId)).status).toBe(204);
    expect(await verify(parts, offline)).toMatchObject({ valid: false, revokedAt: time(NOW) });
  });

  test("without notBefore gets the time of its first verification as issuedAt", async () => {
    const parts = await world();
    const { token } = await issued(parts);
    const offline = narrowed(token, { ...HOP, expires: "30s" });
    const id = chainId(offline);
    expect((await revoke(parts, token, id)).status).toBe(404);
    parts.clock.now += 5 * SECOND;
    const seen = await verify(parts, offline);
    expect(seen).toMatchObject({
      valid: true,
      chainId: id,
      delegatorAgentId: AGENTS.orchestrator,
      issuedAt: time(NOW + 5 * SECOND),
      issuedAtSource: "first_seen",
    });
    parts.clock.now += 5 * SECOND;
    expect(await verify(parts, offline)).toEqual(seen);
    expect((await revoke(parts, token, id)).status).toBe(204);
  });

  test("is invalid if it breaks a rule for requested delegations", async () => {
    const parts = await world();
    const { token } = await issued(parts);
    await register(parts, "pending", { status: "pending" });
    const cases: readonly (readonly [HopInit, string])[] = [
      [{ invokers: ["summarizer"], expires: "10m" }, "scope_not_subset"],
      [{ ...HOP, invokers: ["orchestrator"], expires: "10m" }, "delegatee_is_delegator"],
      [{ ...HOP, invokers: ["stranger"], expires: "10m" }, "tenant_mismatch"],
      [{ ...HOP, invokers: ["nobody"], expires: "10m" }, "delegatee_unknown"],
      [{ ...HOP, invokers: ["pending"], expires: "10m" }, "delegatee_inactive"],
      [{ ...HOP, notBefore: second(NOW), expires: second(NOW + 59_000) }, "ttl_out_of_range"],
      [
        { ...HOP, notBefore: second(NOW + 60_000), expires: second(NOW + 600_000) },
        "not_yet_valid",
      ],
    ];
    for (const [hop, reason] of cases) {
      const verdict = await verify(parts, narrowed(token, hop));
      expect(verdict).toMatchObject({ valid: false, reason });
      expect(Object.keys(verdict).length, reason).toBeGreaterThanOrEqual(9);
    }
    expect(await parts.parties.read((view) => view.delegations.find({}))).toEqual([]);
  });

  test("is valid with limits on arguments and with an audience, and if made from a narrowed token", async () => {
    const parts = await world();
    const { token } = await issued(parts);
    const own = narrowed(token, { operations: ["read", "write"], purpose: "a report" });
    const limits = { constraints: { amount: { max: 100 } }, audience: ["payments"] };
    const offline = narrowed(own, { ...HOP, ...limits, expires: "10m" });
    expect(await verify(parts, offline)).toMatchObject({ valid: true, scopes: ["agents:read"] });
    // The delegatee may narrow a delegation to any lifetime.
    const start = { notBefore: second(NOW), expires: "10m" };
    const brief = narrowed(narrowed(token, { ...HOP, ...start }), { expires: "5s" });
    expect(await verify(parts, brief)).toMatchObject({
      valid: true,
      issuedAt: time(NOW),
      expiresAt: time(NOW + 5 * SECOND),
    });
  });

  test("of a capability without a known holder is not valid", async () => {
    const parts = await world();
    const minted = parts.issuer.mint({ grant: "agents" }).token;
    expect(await verify(parts, narrowed(minted, { ...HOP, expires: "5m" }))).toMatchObject({
      valid: false,
      reason: "delegator_unknown",
      delegatorAgentId: null,
    });
  });
});

test("a delegation of a capability for another service is valid only at that service", async () => {
  const parts = await world();
  await register(parts, "payer");
  const who = { principal: "alice", invoker: "payer" };
  const service = "https://payments.example";
  const { capability, identifier } = parts.issuer.issue(
    () => ({ grant: "agents", principal: "alice" }),
    { service },
  );
  const { id, token, expires, hop } = capability;
  const kept = { id, identifier, expires, hop: new TextDecoder().decode(encodeHop(hop)), ...who };
  const at = time(NOW);
  await parts.ledger.commit({ kind: "issuance", at, decision: "allowed", capability: id, ...who }, [
    kept,
  ]);
  expect(summary(await delegate(parts, token))).toBe("401 UNAUTHORIZED - token_invalid");
  const made = narrowed(token, { ...HOP, expires: "5m" });
  expect(await verify(parts, made)).toMatchObject({
    valid: false,
    reason: "audience_denied",
    delegatorAgentId: "payer",
    audience: [service],
  });
  const call = { operation: "read", grant: "agents", invoker: "summarizer" };
  expect(parts.issuer.authorize(made, { ...call, audience: service }).allowed).toBe(true);
  expect(parts.issuer.authorize(made, call).allowed).toBe(false);
});

test("a delegation is invalid once the registration of its delegator or delegatee is no longer active", async () => {
  const parts = await world();
  for (const id of ["one", "two"]) await register(parts, id);
  const { token } = await issued(parts, {}, { principal: "alice", invoker: "one" });
  const { body } = await delegate(parts, token, { delegateeAgentId: "two" });
  const made = body["delegationToken"];
  expect(await verify(parts, made)).toMatchObject({
    valid: true,
    delegatorAgentId: "one",
    delegateeAgentId: "two",
  });
  await register(parts, "two", { status: "revoked" });
  expect(await verify(parts, made)).toMatchObject({ valid: false, reason: "delegatee_inactive" });
  await register(parts, "two");
  await register(parts, "one", { status: "expired" });
  expect(await verify(parts, made)).toMatchObject({ valid: false, reason: "delegator_inactive" });
});

describe("a random delegation", () => {
  const OPERATIONS = ["read", "write", "delete"] as const;
  const SCOPES = OPERATIONS.map((operation) => `agents:${operation}`);
  const delegation = fc.record({
    /** The operations to which the delegator narrows its token before it delegates. */
    before: fc.option(fc.subarray([...OPERATIONS], { minLength: 2 }), { nil: undefined }),
    asked: fc.subarray([...OPERATIONS], { minLength: 1 }),
    ttl: fc.integer({ min: 55, max: 7300 }),
    delegatee: fc.constantFrom("summarizer", "archiver"),
    invocation: fc.record({
      operation: fc.constantFrom(...OPERATIONS),
      invoker: fc.constantFrom("summarizer", "archiver", "orchestrator"),
      after: fc.integer({ min: -1, max: 7300 }),
    }),
  });

  test("allows exactly the calls that its parent and its hop allow, whether made online or offline", async () => {
    const parts = await world({ rate: { requests: 1e6, seconds: 1 } });
    const expires = second(NOW + 7200 * SECOND);
    const { token } = await issued(parts, { expires });
    await fc.assert(
      fc.asyncProperty(delegation, async ({ before, asked, ttl, delegatee, invocation }) => {
        const parent = before === undefined ? token : narrowed(token, { operations: before });
        const held: readonly string[] = before ?? OPERATIONS;
        const body: JsonObject = {
          delegateeAgentId: AGENTS[delegatee === "archiver" ? "archiver" : "summarizer"],
          scopes: SCOPES.filter((_, at) => asked.includes(OPERATIONS[at] ?? "read")),
          ttlSeconds: ttl,
        };
        const answer = await delegate(parts, parent, body);
        const isSubset = asked.every((one) => held.includes(one)) && asked.length < held.length;
        const fits = isSubset && ttl >= 60;
        expect(answer.status).toBe(fits ? 201 : 400);
        if (!fits) return;
        const lives = Math.min(ttl, 7200);
        const until = second(NOW + lives * SECOND);
        const hop = {
          operations: asked,
          invokers: [delegatee],
          notBefore: second(NOW),
          expires: until,
        };
        const tokens = [String(answer.body["delegationToken"]), narrowed(parent, hop)];
        const { operation, invoker, after } = invocation;
        const call = { grant: "agents", operation, invoker, time: new Date(NOW + after * SECOND) };
        const hopAllows =
          asked.includes(operation) && invoker === delegatee && after >= 0 && after < lives;
        const isAllowed = parts.issuer.authorize(parent, call).allowed && hopAllows;
        for (const one of tokens) {
          expect(parts.issuer.authorize(one, call).allowed).toBe(isAllowed);
        }
        const [online, offline] = await Promise.all(tokens.map((one) => verify(parts, one)));
        expect({ ...offline, chainId: "" }).toEqual({ ...online, chainId: "" });
        const scopes = [...asked].sort().map((one) => `agents:${one}`);
        expect(online).toMatchObject({ valid: true, scopes });
        await Promise.all([online, offline].map((one) => revoke(parts, parent, one?.["chainId"])));
        for (const one of tokens) expect(parts.issuer.authorize(one, call).allowed).toBe(false);
      }),
      { numRuns: sized(120, 20, 300) },
    );
  });
});

test("argumentsLimited is set only if the arguments of a delegated operation are limited", async () => {
  const parts = await world();
  const { token } = await issued(parts);
  const marked = async (limits: HopInit): Promise<readonly unknown[]> => {
    const held = narrowed(token, { ...limits, operations: ["read", "write"] });
    const { body } = await send(parts, "GET", "/token/introspect", held);
    const delegated = (await delegate(parts, held)).body["delegationToken"];
    const offline = narrowed(token, { ...limits, ...HOP });
    const answers = [await verify(parts, delegated), await verify(parts, offline)];
    const [one] = Array.isArray(body["capabilities"]) ? body["capabilities"] : [];
    return [...answers, one].map((answer) =>
      isJsonObject(answer) ? answer["argumentsLimited"] : answer,
    );
  };
  const yes = [true, true, true];
  expect(await marked({ constraints: { amount: { max: 5 } } })).toEqual(yes);
  expect(await marked({ operationConstraints: { read: { amount: { max: 5 } } } })).toEqual(yes);
  expect(await marked({ operationConstraints: { "*": { amount: { max: 5 } } } })).toEqual(yes);
  expect(await marked({ arguments: { read: ["amount"] } })).toEqual(yes);
  const no = [undefined, undefined, undefined];
  expect(await marked({ purpose: "a report" })).toEqual(no);
  // The delegated token does not include the operation whose arguments are limited.
  const { token: ofWrite } = await issued(parts);
  const limited = narrowed(ofWrite, { operationConstraints: { write: { amount: 1 } } });
  const delegated = (await delegate(parts, limited)).body["delegationToken"];
  expect(await verify(parts, delegated)).not.toHaveProperty("argumentsLimited");
});
