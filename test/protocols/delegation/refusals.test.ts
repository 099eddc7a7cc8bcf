import { describe, expect, test } from "vitest";
import { Scopes } from "../../../src/agent/delegation/options.js";
import type { JsonObject } from "../../../src/bytes/json.js";
import { attenuate } from "../../../src/index.js";
import { createDelegations } from "../../../src/protocols/delegation/index.js";
import {
  ACCESS,
  AGENTS,
  type Answer,
  delegate,
  issued,
  NOW,
  register,
  revoke,
  send,
  summary,
  verify,
  type World,
  world,
} from "./support.js";

const INVALID = "400 VALIDATION_ERROR";

describe("a request to delegate", () => {
  const bodies: readonly (readonly [what: string, body: JsonObject, expected: string])[] = [
    ["no scopes", { scopes: [] }, `${INVALID} scopes invalid_request`],
    [
      "scopes that are not an array",
      { scopes: "agents:read" },
      `${INVALID} scopes invalid_request`,
    ],
    ["scopes that are not strings", { scopes: [1] }, `${INVALID} scopes invalid_request`],
    ["an unknown scope", { scopes: ["agents:raed"] }, `${INVALID} scopes scope_unknown`],
    [
      "a scope named like an inherited property",
      { scopes: ["constructor"] },
      `${INVALID} scopes scope_unknown`,
    ],
    ["a scope of another grant", { scopes: ["sealed:open"] }, `${INVALID} scopes scope_not_held`],
    [
      "a scope beyond the capability",
      { scopes: ["agents:delete"] },
      `${INVALID} scopes scope_not_held`,
    ],
    [
      "a whole grant beyond the capability",
      { scopes: ["agents"] },
      `${INVALID} scopes scope_not_held`,
    ],
    [
      "all scopes of the capability",
      { scopes: ["agents:read", "agents:write"] },
      `${INVALID} scopes scope_not_subset`,
    ],
    ["a lifetime of 59 seconds", { ttlSeconds: 59 }, `${INVALID} ttlSeconds ttl_out_of_range`],
    [
      "a lifetime of more than a day",
      { ttlSeconds: 86_401 },
      `${INVALID} ttlSeconds ttl_out_of_range`,
    ],
    [
      "a lifetime with a fraction of a second",
      { ttlSeconds: 60.5 },
      `${INVALID} ttlSeconds ttl_out_of_range`,
    ],
    ["a lifetime as a string", { ttlSeconds: "600" }, `${INVALID} ttlSeconds invalid_request`],
    [
      "the delegator as delegatee",
      { delegateeAgentId: AGENTS.orchestrator },
      `${INVALID} delegateeAgentId delegatee_is_delegator`,
    ],
    ["no delegatee", { delegateeAgentId: "" }, `${INVALID} delegateeAgentId invalid_request`],
    [
      "an unknown delegatee",
      { delegateeAgentId: "summarizer" },
      "404 AGENT_NOT_FOUND delegateeAgentId delegatee_unknown",
    ],
    [
      "a delegatee of another tenant",
      { delegateeAgentId: AGENTS.stranger },
      "403 FORBIDDEN delegateeAgentId tenant_mismatch",
    ],
    [
      "a delegatee whose registration is not active",
      { delegateeAgentId: "pending-agent" },
      "409 AGENT_NOT_ACTIVE delegateeAgentId delegatee_inactive",
    ],
    [
      "a delegatee whose registration has expired",
      { delegateeAgentId: "expired-agent" },
      "409 AGENT_NOT_ACTIVE delegateeAgentId delegatee_inactive",
    ],
    ["an unknown property", { scope: ["a"] }, `${INVALID} scope invalid_request`],
  ];

  test("is refused with the reason of the violated rule", async () => {
    const parts = await narrowed();
    await register(parts, "pending-agent", { status: "pending" });
    await register(parts, "expired-agent", { expires: NOW });
    for (const [what, body, expected] of bodies) {
      const answer = await delegate(parts, parts.token, body);
      expect(summary(answer), what).toBe(expected);
      expect(answer.headers.get("Proviso-Denial"), what).toBe(expected.split(" ").at(-1));
      expect(answer.body["message"], what).not.toBe("");
    }
  });

  test("is refused with a list of all its faults", async () => {
    const parts = await narrowed();
    const body = {
      delegateeAgentId: AGENTS.orchestrator,
      ttlSeconds: 1,
      scopes: ["agents:raed", "sealed"],
    };
    const answer = await delegate(parts, parts.token, body);
    expect(answer.body).toEqual({
      code: "VALIDATION_ERROR",
      message: 'there is no scope "agents:raed"; did you mean "agents:read"?',
      details: {
        field: "scopes",
        reason: "scope_unknown",
        problems: [
          ["scopes", "scope_unknown"],
          ["scopes", "scope_not_held"],
          ["ttlSeconds", "ttl_out_of_range"],
          ["delegateeAgentId", "delegatee_is_delegator"],
        ].map(([field, reason]) => ({ field, reason, message: expect.any(String) })),
      },
    });
  });

  test("with 256 faults is refused with an answer of fewer than 4,096 characters", async () => {
    const parts = await narrowed();
    const scopes = Array.from({ length: 256 }, (_, at) => `${"x".repeat(500)}${at}`);
    const { body } = await delegate(parts, parts.token, { scopes });
    expect(JSON.stringify(body).length).toBeLessThan(4096);
  });

  test.each(["delegateeAgentId", "scopes", "ttlSeconds"])(
    "is refused if %s is missing",
    async (name) => {
      const parts = await narrowed();
      const whole: JsonObject = {
        delegateeAgentId: AGENTS.summarizer,
        scopes: ["agents:read"],
        ttlSeconds: 60,
      };
      const { [name]: _, ...body } = whole;
      const answer = await send(parts, "POST", "/oauth2/token/delegate", parts.token, body);
      expect(summary(answer)).toBe(`${INVALID} ${name} invalid_request`);
    },
  );
});

describe("a request to delegate without a suitable capability", () => {
  const cases: readonly (readonly [
    what: string,
    ask: (parts: World) => Promise<Answer>,
    expected: string,
  ])[] = [
    [
      "no capability is presented",
      (parts) => delegate(parts, ACCESS.summarizer),
      "403 FORBIDDEN Authorization capability_missing",
    ],
    [
      "the capability was issued bound to an agent",
      async (parts) => {
        const { token } = await issued(parts, { invokers: ["orchestrator"] });
        return delegate(parts, token);
      },
      `${INVALID} Authorization capability_bound`,
    ],
    [
      "the capability cannot be narrowed",
      async (parts) => {
        const { token } = await issued(parts, { grants: ["sealed"] });
        return delegate(parts, token, { scopes: ["sealed:open"] });
      },
      `${INVALID} Authorization capability_sealed`,
    ],
    [
      "no further hop fits into the token",
      async (parts) => {
        let { token } = await issued(parts);
        for (let hop = 1; hop < 32; hop++) {
          const child = attenuate(token, {}, { nonce: true });
          if (child.ok) token = child.token;
        }
        return delegate(parts, token);
      },
      `${INVALID} Authorization capability_full`,
    ],
    [
      "the capability has expired",
      async (parts) => {
        const { token } = await issued(parts);
        parts.clock.now += 25 * 3_600_000;
        return delegate(parts, token);
      },
      "401 UNAUTHORIZED - token_invalid",
    ],
    [
      "no record says to whom the capability was issued",
      (parts) => delegate(parts, parts.issuer.mint({ grant: "agents" }).token),
      "401 UNAUTHORIZED - token_invalid",
    ],
    [
      "the capability was issued to an unknown agent",
      async (parts) => {
        const { token } = await issued(parts, {}, { principal: "alice", invoker: "unlisted" });
        return delegate(parts, token);
      },
      "403 FORBIDDEN - delegator_unknown",
    ],
    [
      "the capability was issued to an agent that is no longer active",
      async (parts) => {
        await register(parts, "gone", { status: "revoked" });
        const { token } = await issued(parts, {}, { principal: "alice", invoker: "gone" });
        return delegate(parts, token);
      },
      "403 FORBIDDEN - delegator_inactive",
    ],
    [
      "the capability id in the header is another party's",
      async (parts) => {
        const { id } = await issued(parts);
        return delegate(parts, ACCESS.summarizer, {}, { "Proviso-Capability": id });
      },
      "403 FORBIDDEN Proviso-Capability capability_unknown",
    ],
    [
      "the token in the header is another party's",
      async (parts) => {
        const { token } = await issued(parts);
        return delegate(parts, ACCESS.summarizer, {}, { "Proviso-Capability": token });
      },
      "403 FORBIDDEN Proviso-Capability capability_foreign",
    ],
    [
      "the token in the header is bound to the caller",
      async (parts) => {
        const { body } = await delegate(parts, (await issued(parts)).token);
        const header = { "Proviso-Capability": String(body["delegationToken"]) };
        return delegate(parts, ACCESS.summarizer, { delegateeAgentId: AGENTS.archiver }, header);
      },
      `${INVALID} Proviso-Capability capability_bound`,
    ],
    [
      "the token in the header is forged",
      async (parts) => {
        const { token } = await issued(parts);
        const header = { "Proviso-Capability": forged(token) };
        return delegate(parts, ACCESS.orchestrator, {}, header);
      },
      "403 FORBIDDEN Proviso-Capability signature_mismatch",
    ],
    [
      "the header names two capabilities",
      (parts) => delegate(parts, ACCESS.orchestrator, {}, { "Proviso-Capability": "a, b" }),
      `${INVALID} Proviso-Capability invalid_request`,
    ],
    [
      "the header and the bearer token are of different capabilities",
      async (parts) => {
        const { id, token } = await issued(parts);
        return delegate(parts, token, {}, { "Proviso-Capability": id });
      },
      `${INVALID} Proviso-Capability invalid_request`,
    ],
  ];

  test.each(cases)("is refused because %s", async (_what, ask, expected) => {
    expect(summary(await ask(await world()))).toBe(expected);
  });
});

describe("a caller of the delegation service", () => {
  test("gets 401 if its credential is missing, invalid or a bound capability", async () => {
    const parts = await world();
    const { token } = await issued(parts);
    const { body } = await delegate(parts, token);
    const bound = String(body["delegationToken"]);
    const asked = { delegationToken: bound };
    const address = "/oauth2/token/verify-delegation";
    for (const bearer of [undefined, "unknown-access-token", forged(token), bound]) {
      const verified = await send(parts, "POST", address, bearer, asked);
      expect(verified.status, bearer).toBe(401);
      expect(verified.body["code"]).toBe("UNAUTHORIZED");
      expect(verified.headers.get("WWW-Authenticate")).toMatch(/^Bearer /);
      expect((await send(parts, "GET", "/token/introspect", bearer)).status).toBe(401);
      expect(
        await send(parts, "DELETE", `/oauth2/token/delegate/${body["chainId"]}`, bearer),
      ).toMatchObject({ status: 401 });
    }
    for (const line of parts.logged)
      for (const secret of [token, bound]) expect(line).not.toContain(secret);
  });

  test("can revoke only delegations that it made or that descend from its capability", async () => {
    const parts = await world();
    const { token } = await issued(parts);
    const other = await issued(parts);
    const narrowed = attenuate(token, { operations: ["read", "write"] });
    if (!narrowed.ok) throw new Error("not narrowed");
    const chainId = (await delegate(parts, narrowed.token)).body["chainId"];
    const sibling = attenuate(token, { operations: ["read"] });
    if (!sibling.ok) throw new Error("not narrowed");
    for (const bearer of [other.token, sibling.token, ACCESS.archiver, ACCESS.unlisted]) {
      expect(summary(await revoke(parts, bearer, chainId))).toBe(
        "403 FORBIDDEN chainId not_the_delegator",
      );
    }
    for (const unknown of ["00000000-0000-8000-8000-000000000000", "x", "%00", "..%2Fdelegate"]) {
      expect(summary(await revoke(parts, token, unknown))).toBe(
        "404 NOT_FOUND chainId chain_unknown",
      );
    }
    expect((await revoke(parts, token, String(chainId).toUpperCase())).status).toBe(204);
  });

  test("has a rate limit and a limit of body size, and can send only JSON", async () => {
    const parts = await world({ rate: { requests: 4, seconds: 60 }, body: { bytes: 2048 } });
    const path = "/oauth2/token/delegate";
    const sent = async (body: unknown, headers = {}): Promise<string> =>
      summary(await send(parts, "POST", path, ACCESS.orchestrator, body, headers));
    expect(await sent("{")).toBe(`${INVALID} - parse_error`);
    expect(await sent({ scopes: ["a".repeat(3000)] })).toBe("413 PAYLOAD_TOO_LARGE - too_large");
    expect(await sent("a=b", { "Content-Type": "application/x-www-form-urlencoded" })).toBe(
      "415 UNSUPPORTED_MEDIA_TYPE - content_type",
    );
    expect(await sent([])).toBe(`${INVALID} - invalid_request`);
    const over = await send(parts, "POST", path, ACCESS.orchestrator, {});
    expect(summary(over)).toBe("429 RATE_LIMITED - rate_limited");
    expect(Number(over.headers.get("Retry-After"))).toBeGreaterThan(0);
  });

  test("has a limited number of live delegations, of which offline delegations use at most half", async () => {
    const parts = await world({ maxDelegations: 4 });
    const { token } = await issued(parts);
    const offline = (): string => {
      const child = attenuate(token, OFFLINE, { now: parts.clock.now });
      if (!child.ok) throw new Error("not narrowed");
      return child.token;
    };
    const seen = [offline(), offline(), offline()];
    for (const one of seen) expect(await verify(parts, one)).toMatchObject({ valid: true });
    const ids = await Promise.all(seen.map((one) => verify(parts, one)));
    const kept = ids.map(({ chainId }) => revoke(parts, token, chainId));
    expect((await Promise.all(kept)).map(({ status }) => status)).toEqual([204, 204, 404]);
    expect((await delegate(parts, token)).status).toBe(201);
    expect((await delegate(parts, token)).status).toBe(201);
    expect(summary(await delegate(parts, token))).toBe("429 LIMIT_REACHED - too_many_delegations");
    parts.clock.now += 600_000;
    expect((await delegate(parts, token)).status).toBe(201);
  });

  test("is not blocked if the holders of its narrowed tokens use up their limits of delegations and revocations", async () => {
    const parts = await world({ maxDelegations: 4, maxRevocations: 2 });
    const { token } = await issued(parts);
    const narrowed = (from: string) => {
      const child = attenuate(from, { operations: ["read", "write"] });
      if (!child.ok) throw new Error("not narrowed");
      return child;
    };
    const first = narrowed(token);
    // Each new copy of the token has a different last link, but copies do not evade the limit.
    const copies = [first, narrowed(first.token), narrowed(token)];
    const made = [];
    for (const one of copies) made.push(await delegate(parts, one.token));
    expect(made.map(({ status }) => status)).toEqual([201, 201, 429]);
    expect(made[2]?.body["message"]).toContain("2 delegations");
    const ids = made.map(({ body }) => body["chainId"]);
    const events = await parts.ledger.list();
    const paths = events.flatMap(({ change, path = [] }) =>
      change === "delegation.made" ? [path.map(({ revocationId }) => revocationId)] : [],
    );
    expect(paths).toEqual([
      [copies[0]?.revocationId, expect.any(String)],
      [copies[1]?.revocationId, expect.any(String)],
    ]);

    // The delegator still has the other half of the delegations, and all its own revocations.
    const own = [await delegate(parts, ACCESS.orchestrator), await delegate(parts, token)];
    expect(own.map(({ status }) => status)).toEqual([201, 201]);
    expect((await delegate(parts, ACCESS.orchestrator)).status).toBe(429);
    expect((await revoke(parts, first.token, ids[0])).status).toBe(204);
    expect((await revoke(parts, copies[1]?.token ?? "", ids[1])).status).toBe(429);
    for (const { body } of own) {
      expect((await revoke(parts, ACCESS.orchestrator, body["chainId"])).status).toBe(204);
    }
  });

  test("can add only a limited number of entries to the revocation list", async () => {
    const parts = await world({ maxRevocations: 1 });
    const { token } = await issued(parts);
    const ids = [(await delegate(parts, token)).body, (await delegate(parts, token)).body];
    const answers = [];
    for (const { chainId } of ids) answers.push((await revoke(parts, token, chainId)).status);
    expect(answers).toEqual([204, 429]);
  });
});

describe("the delegation service", () => {
  test("answers 404 at every endpoint if delegation is disabled", async () => {
    const parts = await world({ enabled: false });
    for (const [method, path] of [
      ["POST", "/oauth2/token/delegate"],
      ["POST", "/oauth2/token/verify-delegation"],
      ["DELETE", "/oauth2/token/delegate/x"],
      ["GET", "/token/introspect"],
    ] as const) {
      const answer = await send(parts, method, path, ACCESS.orchestrator);
      expect(summary(answer)).toBe("404 NOT_FOUND - delegation_disabled");
    }
  });

  test("answers an unknown URL with 404 in its own error format", async () => {
    const parts = await world({ prefix: "" });
    const answer = await send(parts, "GET", "/oauth2/token/delegate", ACCESS.orchestrator);
    expect(summary(answer)).toBe("404 NOT_FOUND - address_unknown");
  });

  test("with allowEqual allows delegating all scopes, but only within one tenant", async () => {
    const parts = await world({ allowEqual: true });
    const { token } = await issued(parts);
    const scopes = ["agents:delete", "agents:read", "agents:write"];
    const made = await delegate(parts, token, { scopes });
    expect(made.body["scopes"]).toEqual(["agents"]);
    expect(await verify(parts, made.body["delegationToken"])).toMatchObject({ valid: true });
    const theirs = await issued(parts, {}, { principal: "alice", invoker: "stranger" });
    expect((await delegate(parts, theirs.token)).status).toBe(403);
    await register(parts, "their-own", { tenant: "other" });
    expect((await delegate(parts, theirs.token, { delegateeAgentId: "their-own" })).status).toBe(
      201,
    );
  });

  test("records delegations, revocations and refusals in the ledger", async () => {
    const parts = await world();
    const { token, id } = await issued(parts);
    const { body } = await delegate(parts, token);
    parts.clock.now += 1000;
    await delegate(parts, token, { ttlSeconds: 1, scopes: ["agents"] });
    parts.clock.now += 1000;
    await Promise.all([1, 2, 3].map(() => revoke(parts, token, body["chainId"])));
    parts.clock.now += 1000;
    await revoke(parts, ACCESS.archiver, body["chainId"]);
    const events = (await parts.ledger.list()).slice(1);
    const who = { principal: "alice", invoker: "orchestrator" };
    const path = [{ revocationId: expect.stringMatching(/^rv_/) }];
    const about = { capability: id, path, record: body["chainId"], ...who };
    expect(events.map(({ at: _, ...event }) => event)).toEqual([
      { kind: "registration", decision: "allowed", change: "delegation.made", ...about },
      {
        kind: "registration",
        decision: "refused",
        codes: ["scope_not_subset", "ttl_out_of_range"],
        ...who,
      },
      { kind: "revocation", decision: "allowed", change: "delegation.revoked", ...about },
      {
        kind: "revocation",
        decision: "refused",
        codes: ["not_the_delegator"],
        principal: "alice",
        invoker: "archiver",
      },
    ]);
  });

  test("refuses wrong options and ambiguous scopes, and the error names the option or the scopes", async () => {
    const { agent, parties, revocations, ledger } = await world();
    const parts = { agent, parties, revocations, ledger };
    const wrong: readonly (readonly [object, string])[] = [
      [{ alowEqual: true }, 'options.alowEqual: unknown property; did you mean "allowEqual"?'],
      [
        { parties: undefined },
        "options.parties: is missing; it must be a store, as openParties() gives it",
      ],
      [
        { parties: Promise.resolve(parties) },
        "options.parties must be a store, as openParties() gives it, not a Promise: is an await missing?",
      ],
      [{ agents: [{ id: "a" }, { id: "a" }] }, 'agents[1].id: "a" is taken'],
      [{ agents: [{ id: "a" }, { id: "b", invoker: "a" }] }, 'agents[1].invoker: "a" is taken'],
      [{ agents: [{ id: "" }] }, "agents[0].id: must be a non-empty string"],
      [{ maxDelegations: 1001 }, "maxDelegations: must be 1 to 1000"],
      [{ maxRevocations: 0 }, "maxRevocations: must be a whole number of at least 1"],
    ];
    for (const [options, message] of wrong) {
      expect(() => createDelegations({ ...parts, ...options })).toThrow(new TypeError(message));
    }
    const grants = [
      { id: "documents", operations: ["read", "a:b"] },
      { id: "documents:read", operations: ["get"] },
      { id: "documents:a", operations: ["b"] },
    ];
    expect(() => new Scopes(new Map(grants.map((grant) => [grant.id, grant])))).toThrow(
      'grants: scopes of delegation are ambiguous: "documents:read" would be the operation "read" of ' +
        'the grant "documents" and the grant "documents:read"; "documents:a:b" would be the operation ' +
        '"a:b" of the grant "documents" and the operation "b" of the grant "documents:a"',
    );
  });
});

const OFFLINE = { operations: ["read"], invokers: ["summarizer"], expires: "10m" };

/** Starts a world, and issues the orchestrator a capability for two operations that lasts an hour. */
async function narrowed(): Promise<World & { readonly token: string }> {
  const parts = await world();
  const expires = new Date(NOW + 3_600_000).toISOString().replace(".000", "");
  const { token } = await issued(parts, { operations: ["read", "write"], expires });
  return { ...parts, token };
}

/** Returns the token with the last character of its signature changed. */
function forged(token: string): string {
  return `${token.slice(0, -2)}${token.at(-2) === "A" ? "B" : "A"}${token.slice(-1)}`;
}
