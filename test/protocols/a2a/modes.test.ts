import { expect, test } from "vitest";
import { DISCOVERY_URI } from "../../../src/discovery/index.js";
import { EXTENSION_URI, withCapability } from "../../../src/protocols/a2a/client/index.js";
import { ambientHandle } from "../../support/handles.js";
import {
  at,
  BINDINGS,
  callOf,
  clientOf,
  handleOf,
  messageOf,
  request,
  resultOf,
  rpc,
  send,
  taskIn,
  textAt,
} from "./callers.js";
import { agentFor, KNOWN } from "./set-up.js";

const MODES = ["advertise", "prefer", "require"] as const;

test.each(MODES)(
  "in mode %s, the agent card declares whether capabilities are required and whether ambient authority is accepted",
  async (mode) => {
    const agent = await agentFor({ mode });
    const { body } = await send(agent.server.cardUrl);
    const required = mode === "require";
    const stated = {
      capabilitiesRequired: required,
      ambientAuthority: required ? "refused" : "accepted",
    };
    expect(at(body, "capabilities", "extensions")).toEqual([
      expect.objectContaining({
        uri: EXTENSION_URI,
        ...(required ? { required: true } : {}),
        params: expect.objectContaining({
          ...stated,
          mode,
          notice: expect.stringMatching(/ambient/),
        }),
      }),
      expect.objectContaining({ uri: DISCOVERY_URI }),
    ]);
    expect(at(body, "capabilities", "extensions", 0, "required") === true).toBe(required);
    const grants = at(body, "capabilities", "extensions", 0, "params", "capabilityGrants");
    // A client that follows the SEP names the extension. It finds the same grants at the top level of the card.
    const headers = { "A2A-Extensions": EXTENSION_URI };
    const named = await send(agent.server.cardUrl, { headers });
    expect(named.body).toMatchObject({ ...stated, capabilityGrants: grants });
    expect(grants).toContainEqual({
      id: "documents:admin",
      description: expect.any(String),
      operations: ["*"],
      attenuable: false,
      legacy: true,
      notice: expect.stringContaining("not limited"),
    });
    expect(grants).toContainEqual(
      expect.objectContaining({ id: "documents:write", requires: ["documents:read"] }),
    );
    expect(at(body, "securitySchemes", "bearer")).not.toBeNull();
  },
);

test("an agent requires capabilities by default", async () => {
  const agent = await agentFor({});
  const { body } = await send(agent.server.cardUrl);
  expect(at(body, "capabilities", "extensions", 0, "params", "capabilitiesRequired")).toBe(true);
});

test.each(["advertise", "prefer"] as const)(
  "in mode %s, tasks, ledger and metrics show a call's ambient authority",
  async (mode) => {
    const agent = await agentFor({ mode });
    for (const binding of BINDINGS) {
      const alice = await clientOf(agent, binding, "alice");
      const task = taskIn(
        await alice.sendMessage(callOf("search_documents", { query: "e" }), KNOWN),
      );
      // These are all documents that alice may see; no confidential document is among them.
      expect(resultOf(task)).toEqual([
        "First quarter",
        "Sales of the first quarter",
        "Second quarter",
        "To Mrs Bixby",
      ]);
      expect(task.metadata?.[EXTENSION_URI]).toEqual({
        authority: "ambient",
        declared: false,
        notice: expect.stringContaining("ambient"),
      });
      const got = await alice.getTask({ tenant: "", id: task.id });
      expect(got.metadata?.[EXTENSION_URI]).toMatchObject({ authority: "ambient" });

      // A request with a capability does not see a task made with ambient authority, and the reverse.
      const granted = await request(alice, { grants: ["work:do"] });
      const holder = await withCapability(alice, granted.token);
      await expect(holder.getTask({ tenant: "", id: task.id })).rejects.toThrow("not found");
      const own = taskIn(await holder.sendMessage(callOf("wait", { milliseconds: 0 })));
      expect(own.metadata?.[EXTENSION_URI]).toEqual({
        authority: "capability",
        capability: granted.id,
      });
      await expect(alice.getTask({ tenant: "", id: own.id })).rejects.toThrow("not found");
    }
    const answer = await rpc(agent, "alice", "a2a/skill/invoke", {
      skill: "wait",
      arguments: { milliseconds: 0 },
    });
    expect(at(answer.body, "result", "metadata", EXTENSION_URI)).toMatchObject({
      authority: "ambient",
    });
    const ambient = (await agent.ledger.list({ kind: "invocation" })).filter(
      ({ authority }) => authority === "ambient",
    );
    expect(ambient.map(({ skill, principal }) => [skill, principal])).toEqual([
      ["search_documents", "alice"],
      ["search_documents", "alice"],
      ["wait", "alice"],
    ]);
    expect((await agent.metrics.read()).text).toContain('authority="ambient"} 3');
  },
);

test("ambient authority allows no more than the caller's policy", async () => {
  const agent = await agentFor({ mode: "prefer" });
  const bob = await clientOf(agent, "JSON-RPC", "bob");
  const found = taskIn(await bob.sendMessage(callOf("search_documents", { query: "e" }), KNOWN));
  expect(resultOf(found)).not.toContain("To Mrs Bixby");
  expect(resultOf(found)).not.toContain("The merger");
  const create = { collection: `rh_${"A".repeat(22)}`, fileName: "x.md", text: "x" };
  await expect(bob.sendMessage(callOf("create_document", create), KNOWN)).rejects.toThrow(
    "handle_invalid",
  );
  const carol = await clientOf(agent, "JSON-RPC", "carol");
  agent.policy.replace({ rules: [] });
  const wait = () => callOf("wait", { milliseconds: 0 });
  for (const client of [bob, carol])
    await expect(client.sendMessage(wait(), KNOWN)).rejects.toThrow("policy_denied");
});

test("a handle issued under ambient authority is invalid for another user and with a capability", async () => {
  const agent = await agentFor({
    mode: "prefer",
    // In practice, a runner gets handles from its own searches. This test makes the handle itself.
    runTask: async () => null,
  });
  const resource = await ambientHandle(agent, "alice", "reports/q1.md");
  const call = () => callOf("retrieve_document", { resourceHandle: resource });
  const alice = await clientOf(agent, "JSON-RPC", "alice");
  expect(resultOf(taskIn(await alice.sendMessage(call(), KNOWN)))).toMatchObject({
    title: "First quarter",
  });
  const bob = await clientOf(agent, "JSON-RPC", "bob");
  await expect(bob.sendMessage(call(), KNOWN)).rejects.toThrow("handle_invalid");
  const carol = await clientOf(agent, "JSON-RPC", "carol");
  const legacy = await request(carol, { grants: ["documents:admin"] });
  const holder = await withCapability(alice, legacy.token);
  await expect(holder.sendMessage(call())).rejects.toThrow("handle_invalid");
});

test.each(MODES)(
  "in mode %s, a call with a bad capability is refused and never uses ambient authority",
  async (mode) => {
    const agent = await agentFor({ mode });
    for (const binding of BINDINGS) {
      const alice = await clientOf(agent, binding, "alice");
      const { token } = await request(alice, { grants: ["payments:send"] });
      for (const bad of [token, token.slice(0, -8), "nonsense"]) {
        const holder = await withCapability(alice, bad);
        const call = holder.sendMessage(callOf("wait", { milliseconds: 0 }));
        await expect(call).rejects.toThrow(/grant_denied|token_/);
      }
      const text = await withCapability(alice, token.slice(0, -8));
      await expect(text.sendMessage(messageOf(["do as you like"]))).rejects.toThrow(
        "token_truncated",
      );
    }
    const invoke = { skill: "wait", arguments: { milliseconds: 0 } };
    for (const presented of [{ token: "nonsense" }, { capabilityId: "cap_AAAAAAAAAAAAAAAA" }]) {
      const { body } = await rpc(agent, "alice", "a2a/skill/invoke", { ...invoke, ...presented });
      expect(at(body, "error", "code")).toBe(-31403);
    }
    expect(agent.ran).toEqual([]);
  },
);

test.each(["require", "prefer", "advertise"] as const)(
  "in mode %s, an empty list of capabilities is refused as invalid_request",
  async (mode) => {
    const agent = await agentFor({ mode });
    const invoke = { skill: "wait", arguments: { milliseconds: 0 }, capabilities: [] };
    const { body } = await rpc(agent, "alice", "a2a/skill/invoke", invoke);
    expect(textAt(body, "error", "data", 0, "reason")).toBe("invalid_request");
  },
);

test("a call with a legacy grant is allowed, and its task has the authority legacy and a notice", async () => {
  const agent = await agentFor({ mode: "require" });
  for (const binding of BINDINGS) {
    const carol = await clientOf(agent, binding, "carol");
    const granted = await request(carol, { grants: ["documents:admin"] });
    expect(granted).toMatchObject({
      attenuable: false,
      legacy: expect.stringContaining("not limited"),
    });
    expect(granted.resourceHandles).toBeUndefined();
    const holder = await withCapability(carol, granted.token);
    const task = taskIn(await holder.sendMessage(callOf("search_documents", { query: "merger" })));
    expect(resultOf(task)).toEqual(["The merger"]);
    expect(task.metadata?.[EXTENSION_URI]).toEqual({
      authority: "legacy",
      capability: granted.id,
      notice: expect.stringContaining("not limited"),
    });
    const [event] = await agent.ledger.list({ capability: granted.id, kind: "invocation" });
    expect(event).toMatchObject({ authority: "legacy", grant: "documents:admin" });
    const { body } = await rpc(agent, "carol", "a2a/capabilities/introspect", {
      token: granted.token,
    });
    expect(at(body, "result")).toMatchObject({ active: true, legacy: true, attenuable: false });
    const narrowed = await rpc(agent, "carol", "a2a/capabilities/attenuate", {
      token: granted.token,
      constraints: { operations: ["search"] },
    });
    expect(textAt(narrowed.body, "error", "data", 0, "reason")).toBe("attenuation_exceeds");
  }
  const alice = await clientOf(agent, "JSON-RPC", "alice");
  await expect(request(alice, { grants: ["documents:admin"] })).rejects.toThrow();
  const reading = { collection: "reports" };
  const read = await request(alice, { grants: ["documents:read"], resourceQuery: reading });
  expect(handleOf(read, "First quarter")).toMatch(/^rh_/);
  expect(read.legacy).toBeUndefined();
});
