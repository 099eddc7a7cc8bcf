import { describe, expect, test } from "vitest";
import {
  CAPABILITY_NAMES,
  pluginGrants,
  pluginOperations,
} from "../../../src/protocols/a2e/index.js";
import { ALICE } from "../../agent/support.js";
import { hosted, joined, newHeld, Peer, plugins, toolCall } from "./support.js";

const CAPS = ["tools", "memory", "chains", "multi_agent", "toolz"];

test("the handshake enables a capability only if the peer requests it, a plugin serves it and a token allows it", async () => {
  const host = await hosted();
  const peer = await Peer.at(host.port);
  const answer = await peer.greet(CAPS, [host.token("tools")]);
  expect(answer).toEqual({
    a2e: "1.0",
    type: "handshake/resp",
    id: "h1",
    ts: host.clock.now / 1000,
    req_id: "hs",
    session_id: expect.stringMatching(/^ses_[\w-]{22}$/),
    accepted_caps: [
      {
        capability: "tools",
        enabled: true,
        metadata: { name: "sums", type: "tools", priority: 0, exclusive: false },
      },
      {
        capability: "memory",
        enabled: false,
        metadata: { code: "token_missing", reason: "no token is of the grant a2e:memory" },
      },
      {
        capability: "chains",
        enabled: false,
        metadata: { code: "plugin_missing", reason: "no plugin loaded" },
      },
      {
        capability: "multi_agent",
        enabled: false,
        metadata: {
          code: "reserved",
          reason: "multi_agent is reserved for agents that work together, and has no messages yet",
        },
      },
      {
        capability: "toolz",
        enabled: false,
        metadata: {
          code: "capability_unknown",
          reason: 'A2E has no such capability; did you mean "tools"?',
        },
      },
    ],
    max_parallel: 4,
    ok: true,
    reason: "",
  });
});

test("with omitUnavailable, the answer to a handshake leaves out capabilities that are not enabled", async () => {
  const host = await hosted({ omitUnavailable: true });
  const peer = await Peer.at(host.port);
  const { accepted_caps: caps } = await peer.greet(CAPS, [host.token("tools")]);
  expect(caps).toHaveLength(1);
});

test("a token that allows none of the plugins' operations does not enable its capability", async () => {
  // The agent may have operations that no plugin of the host serves.
  const drop = { operation: "memory/drop", reach: "none" } as const;
  const [tools, memory] = pluginGrants(plugins());
  const host = await hosted({
    world: {
      operations: [...pluginOperations(plugins()), drop],
      grants: [
        tools ?? missing(),
        { ...(memory ?? missing()), operations: ["memory/drop", "memory/get", "memory/set"] },
      ],
    },
  });
  const peer = await Peer.at(host.port);
  const tokens = [host.token("tools"), host.token("memory", { operations: ["memory/drop"] })];
  const { accepted_caps: caps } = await peer.greet(["tools", "memory"], tokens);
  expect(caps).toMatchObject([
    { enabled: true },
    { enabled: false, metadata: { code: "operations_none" } },
  ]);
});

function missing(): never {
  throw new Error("there is no such grant");
}

test("one session can enable all capabilities that can have a plugin", async () => {
  const names = CAPABILITY_NAMES.filter(
    (name) => !["multi_agent", "planning", "test"].includes(name),
  );
  const served = names.map((type) => ({
    name: type,
    type,
    operations: { [`${NAMESPACES[type] ?? type}/ask`]: { run: async () => type } },
  }));
  const host = await hosted({ plugins: served });
  const session = await joined(
    host,
    CAPABILITY_NAMES,
    names.map((name) => host.token(name)),
  );
  expect(names).toHaveLength(9);
  for (const [type, { operations }] of served.map((one) => [one.type, one] as const)) {
    expect(await session.call(Object.keys(operations)[0] ?? "")).toBe(type);
  }
  const reserved = ["multi_agent", "planning", "test"].map((name) =>
    session.capabilities.get(name),
  );
  expect(reserved).toMatchObject(
    Array.from({ length: 3 }, () => ({ enabled: false, metadata: { code: "reserved" } })),
  );
});

const NAMESPACES: { readonly [type: string]: string } = {
  tools: "tool",
  toolkits: "toolkit",
  learning: "learn",
  chains: "chain",
};

describe("the host refuses a handshake and closes the stream", () => {
  test("if the handshake has more than 8 tokens of one grant", async () => {
    const host = await hosted();
    const many = Array.from({ length: 9 }, () => host.token("tools"));
    const fine = await Peer.at(host.port);
    await fine.open(["tools"], [...many.slice(1), host.token("memory")]);
    const peer = await Peer.at(host.port);
    expect(await peer.greet(["tools"], many)).toMatchObject({
      ok: false,
      reason: "auth_failed",
      detail: { denials: [{ code: "token_too_large", rule: "auth_token" }] },
    });
    await peer.over;
  });

  test("if the handshake has no token", async () => {
    const host = await hosted();
    const peer = await Peer.at(host.port);
    const answer = await peer.greet(["tools"], []);
    expect(answer).toMatchObject({ ok: false, reason: "auth_failed", session_id: "" });
    expect(answer).toMatchObject({ detail: { denials: [{ code: "capability_missing" }] } });
    await peer.over;
  });

  test("if the token is another issuer's, expired or damaged, and records the refusal", async () => {
    const host = await hosted();
    const other = await hosted();
    const dead = host.token("tools", { expires: "1s" });
    host.clock.now += 2000;
    const good = host.token("tools");
    const damaged = `${good.slice(0, -4)}${good.slice(-4) === "AAAA" ? "BBBB" : "AAAA"}`;
    const codes: unknown[] = [];
    for (const token of [other.token("tools"), dead, damaged]) {
      const peer = await Peer.at(host.port);
      const answer = await peer.greet(["tools"], [token]);
      expect(answer).toMatchObject({ ok: false, reason: "auth_failed" });
      expect(JSON.stringify(answer)).not.toContain(token.slice(-30));
      const detail = JSON.parse(JSON.stringify(answer["detail"]));
      codes.push(detail.denials[0].code);
      await peer.over;
    }
    expect(codes.slice(1)).toEqual(["expired", "signature_mismatch"]);
    const events = await host.ledger.list();
    expect(events.map(({ decision, codes: why }) => [decision, why?.[0]])).toEqual(
      codes.map((code) => ["refused", code]),
    );
  });

  test("if the handshake names another A2E version, or none", async () => {
    const host = await hosted();
    for (const a2e of ["2.0", 1, null]) {
      const peer = await Peer.at(host.port);
      const answer = await peer.greet(["tools"], [host.token("tools")], { a2e });
      expect(answer).toMatchObject({ ok: false, reason: "version_mismatch" });
      await peer.over;
    }
  });

  test("if no capability can be enabled, and gives the reasons", async () => {
    const host = await hosted();
    const peer = await Peer.at(host.port);
    const answer = await peer.greet(["memory"], [host.token("tools")]);
    expect(answer).toMatchObject({ ok: false, reason: "no_caps" });
    expect(answer).toMatchObject({ accepted_caps: [{ metadata: { code: "token_missing" } }] });
    await peer.over;
  });

  test("if the policy throws, and reports the error only to onFailure", async () => {
    const host = await hosted({ ambient: ALICE, world: { mode: "prefer", policy: BROKEN } });
    const peer = await Peer.at(host.port);
    const answer = await peer.greet(["tools"], []);
    expect(answer).toMatchObject({ ok: false, reason: "server_error" });
    expect(JSON.stringify(answer)).not.toContain("disk");
    expect(host.failures).toEqual(["handshake: Error: the disk is gone"]);
  });
});

const BROKEN = {
  permissions: () => {
    throw new Error("the disk is gone");
  },
};

test("a malformed handshake gets an error, and a valid handshake still works afterwards", async () => {
  const host = await hosted();
  const peer = await Peer.at(host.port);
  const bad = [
    [{ agent_caps: "tools" }, '"agent_caps" must be an array'],
    [{ auth_token: "a,,b" }, '"auth_token" must hold tokens with "," between, no gaps'],
    [{ auth_token: Array.from({ length: 17 }, () => "a").join(",") }, "at most 16 tokens"],
    [{ agent_cap: [] }, 'no property "agent_cap" here; did you mean "agent_caps"?'],
    [{ auth_token: "a", authority: "ambient" }, "drop one"],
    [{ id: "" }, '"id" must be a string'],
  ] as const;
  for (const [more, words] of bad) {
    const answer = await peer.greet(["tools"], [], more);
    expect(answer).toMatchObject({ type: "error", code: "message_invalid" });
    expect(answer["message"]).toContain(words);
  }
  peer.send(toolCall("ses_x", "add"));
  expect(await peer.code()).toBe("not_handshaken");
  await peer.open(["tools"], [host.token("tools")]);
  peer.send({ a2e: "1.0", type: "handshake/req", id: "again", agent_caps: ["tools"] });
  expect(await peer.part("req_id", "code")).toEqual({
    req_id: "again",
    code: "handshake_repeated",
  });
});

test("a message that arrives before the handshake is answered gets not_handshaken", async () => {
  const host = await hosted();
  const peer = await Peer.at(host.port);
  const handshake = {
    a2e: "1.0",
    type: "handshake/req",
    id: "hs",
    agent_caps: ["tools"],
    auth_token: host.token("tools"),
  };
  peer.send(`${JSON.stringify(handshake)}\n{"type":"ping","id":"p"}\n`);
  expect(await peer.next()).toMatchObject({
    req_id: "p",
    code: "not_handshaken",
    message: "the handshake is not answered yet",
  });
  expect(await peer.part("type", "ok")).toEqual({ type: "handshake/resp", ok: true });
  peer.send({ type: "ping", id: "p" });
  expect(await peer.code()).toBe("pong");
});

describe("ambient authority", () => {
  test("is limited by the policy for the host's configured principal, and marked in the ledger", async () => {
    const held = newHeld();
    const rules = {
      rules: [{ principal: "alice", grant: "a2e:tools", operations: ["tool/call"] }],
    };
    const host = await hosted({
      plugins: plugins(held),
      ambient: ALICE,
      world: { mode: "prefer", rules },
    });
    const peer = await Peer.at(host.port);
    const session = await peer.open(["tools", "memory"], []);
    peer.send(toolCall(session, "who"));
    expect(await peer.part("data")).toEqual({ data: ALICE });
    peer.send({ type: "tool/list/req", id: "l", session_id: session });
    expect(await peer.code()).toBe("permission_denied");
    const events = await host.ledger.list();
    expect(events).toMatchObject([
      {
        decision: "allowed",
        authority: "ambient",
        declared: false,
        operation: "tool/call",
        ...ALICE,
      },
      { decision: "refused", codes: ["policy_denied"], operation: "tool/list", ...ALICE },
    ]);
  });

  test("must be declared if the agent refuses undeclared ambient authority", async () => {
    const world = { mode: "prefer", undeclaredAmbient: "refused" } as const;
    const host = await hosted({ ambient: ALICE, world });
    const silent = await Peer.at(host.port);
    expect(await silent.greet(["tools"], [])).toMatchObject({
      ok: false,
      detail: { denials: [{ code: "authority_undeclared" }] },
    });
    const open = await Peer.at(host.port);
    const { session_id: session } = await open.greet(["tools"], [], { authority: "ambient" });
    open.send(toolCall(String(session), "who"));
    expect(await open.part("type")).toEqual({ type: "tool/call/resp" });
    const events = await host.ledger.list({ decision: "allowed" });
    expect(events).toMatchObject([{ authority: "ambient", declared: true }]);
  });

  test("is not used in place of an invalid token", async () => {
    const host = await hosted({ ambient: ALICE, world: { mode: "prefer" } });
    const dead = host.token("tools", { expires: "1s" });
    host.clock.now += 2000;
    const peer = await Peer.at(host.port);
    expect(await peer.greet(["tools"], [dead])).toMatchObject({ ok: false, reason: "auth_failed" });
    const mixed = await Peer.at(host.port);
    const { accepted_caps: caps } = await mixed.greet(
      ["tools", "memory"],
      [host.token("memory"), dead],
    );
    expect(caps).toMatchObject([
      { enabled: false, metadata: { code: "expired" } },
      { enabled: true },
    ]);
  });
});
