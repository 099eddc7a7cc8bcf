import { TaskState } from "@a2a-js/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { SkillInputError } from "../../../src/agent/index.js";
import type { Json } from "../../../src/bytes/json.js";
import { createCapabilityClient, withCapability } from "../../../src/protocols/a2a/client/index.js";
import { ERROR_DOMAIN } from "../../../src/protocols/a2a/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { LOSSY, mistake } from "../../support/lossy.js";
import {
  type Answer,
  at,
  BINDINGS,
  callOf,
  clientOf,
  failureOf,
  messageOf,
  quietConsole,
  rpc,
  send,
  taskIn,
  textAt,
} from "./callers.js";
import { held, presenting, userMessage } from "./set-up.js";

// The agent reports a caller's mistake as an error of the caller, not as its own failure.

const CHOOSY = { mistake: 'the amount must be "round": 7 is not' };

let agent: TestAgent;
let token: string;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({
    runTask: async ({ invoke, text }) => {
      if (text === "throw") throw new SkillInputError(CHOOSY.mistake);
      const outcome = await invoke("choosy", { amount: 7 });
      return outcome.ok ? outcome.result : null;
    },
  });
  ({ token } = await held(agent));
});

afterAll(() => agent.remove());

test("if a skill refuses the arguments, a2a/skill/invoke answers -32602 with the skill's message", async () => {
  const call = { skill: "choosy", arguments: { amount: 7 }, token };
  const { status, body } = await rpc(agent, "alice", "a2a/skill/invoke", call);
  expect(status).toBe(200);
  expect(at(body, "error")).toMatchObject({
    code: -32602,
    message: CHOOSY.mistake,
    data: [{ reason: "invalid_request", domain: ERROR_DOMAIN }],
  });
  // Any other error of a skill is internal, so the caller does not see its message.
  const { body: failed } = await rpc(agent, "alice", "a2a/skill/invoke", {
    skill: "fail",
    arguments: {},
    token,
  });
  expect(at(failed, "error")).toMatchObject({ code: -32603, data: [{ reason: "skill_failed" }] });
});

test.each(BINDINGS)(
  "if a skill refuses the arguments of a call, the task is rejected with the skill's message (over %s)",
  async (binding) => {
    const before = agent.logged().length;
    const holder = await withCapability(await clientOf(agent, binding, "alice"), token);
    for (const message of [
      callOf("choosy", { amount: 7 }),
      messageOf(["go"]),
      messageOf(["throw"]),
    ]) {
      const task = taskIn(await holder.sendMessage(message));
      expect(task.status?.state).toBe(TaskState.TASK_STATE_REJECTED);
      expect(JSON.stringify(task.status?.message?.parts)).toContain("is not");
    }
    const client = createCapabilityClient(await clientOf(agent, binding, "alice"));
    expect(await failureOf(client.invoke("choosy", { amount: 7 }, token))).toMatchObject({
      message: `the skill rejects the call: ${CHOOSY.mistake}`,
    });
    expect(agent.logged().slice(before)).not.toContain('"msg":"failure"');
  },
);

describe.each(LOSSY)("%s passed to a method of the capability client", (_, make) => {
  test.each(BINDINGS)(
    "causes a TypeError that names the argument, and nothing is sent (over %s)",
    async (binding) => {
      const client = createCapabilityClient(await clientOf(agent, binding, "alice"));
      const before = agent.logged().length;
      const value = make();
      const grants = ["clock:read"];
      const pending = { approvalId: "ap_1", interval: 1 };
      const places: readonly (readonly [string, () => unknown])[] = [
        ["query", () => client.request(value)],
        ["query.grants", () => client.request({ grants: value })],
        ["query.constraints.a", () => client.request({ grants, constraints: { a: value } })],
        [
          "query.resourceQuery.filter",
          () => client.request({ grants, resourceQuery: { collection: "a", filter: value } }),
        ],
        ["approvalId", () => client.collect(value)],
        ["pending", () => client.waitFor(value)],
        ["options", () => client.waitFor(pending, value)],
        ["token", () => client.revoke(value)],
        ["reason", () => client.revoke(token, value)],
        ["token", () => client.introspect(value)],
        ["skill", () => client.invoke(value, {})],
        ["given", () => client.invoke("choosy", value)],
        ["given.amount", () => client.invoke("choosy", { amount: value })],
        ["token", () => client.invoke("choosy", {}, value)],
        ["token[0]", () => client.invoke("choosy", {}, [value])],
      ];
      for (const [place, call] of places) {
        const message = await mistake(call);
        expect(message.startsWith(place), `${place}: ${message}`).toBe(true);
      }
      expect(agent.logged().length).toBe(before);
    },
  );
});

/** The JSON escape of a lone surrogate. */
const HALF = "\\ud83d";

function post(url: string, body: Json): Promise<Answer> {
  const text = JSON.stringify(body).replaceAll("HALF", HALF);
  return send(url, { method: "POST", headers: presenting(token), body: text });
}

describe("surrogates in a request", () => {
  const call = { skill: "wait", arguments: { milliseconds: 0 } };

  test.each<[string, Json]>([
    ["in a text part", { message: userMessage([{ text: "a HALF b" }]) }],
    ["in an argument", { message: userMessage([{ data: { ...call, arguments: { x: "HALF" } } }]) }],
    [
      "in an argument's name",
      { message: userMessage([{ data: { ...call, arguments: { HALF: 0 } } }]) },
    ],
    ["in metadata", { message: userMessage([{ text: "a" }]), metadata: { HALF: 1 } }],
    ["deep in data", { message: userMessage([{ data: [[[{ a: ["HALF"] }]]] }]) }],
    ["in an id", { message: userMessage([{ text: "a" }], { contextId: "HALF" }) }],
  ])("a lone surrogate is refused before any skill runs: %s", async (_, params) => {
    const runs = agent.ran.length;
    const events = (await agent.ledger.list({ kind: "invocation" })).length;
    const { rpcUrl, restUrl } = agent.server;
    for (const method of ["SendMessage", "SendStreamingMessage", "a2a/task/send"]) {
      const answer = await post(rpcUrl, { jsonrpc: "2.0", id: 1, method, params });
      expect(answer.status).toBe(200);
      expect(at(answer.body, "error")).toMatchObject({
        code: -32600,
        data: [{ reason: "invalid_request", domain: ERROR_DOMAIN }],
      });
    }
    for (const path of ["/message:send", "/message:stream"]) {
      const answer = await post(`${restUrl}${path}`, params);
      expect(answer.status).toBe(400);
      expect(textAt(answer.body, "error", "message")).toContain("lone surrogate");
    }
    expect(agent.ran.length).toBe(runs);
    expect((await agent.ledger.list({ kind: "invocation" })).length).toBe(events);
  });

  test("a lone surrogate is refused in the parameters of the extension's methods, and in a method's name", async () => {
    for (const [method, params] of [
      ["a2a/skill/invoke", { ...call, arguments: { text: "HALF" }, token }],
      ["a2a/capabilities/request", { grants: ["work:do"], purpose: "HALF" }],
      ["a2a/capabilities/revoke", { token, reason: "HALF" }],
      ["HALF", {}],
    ] as const) {
      const answer = await post(agent.server.rpcUrl, { jsonrpc: "2.0", id: 1, method, params });
      expect(at(answer.body, "error", "code")).toBe(-32600);
    }
  });

  test("a complete surrogate pair is accepted", async () => {
    const params = {
      message: userMessage([{ data: { ...call, arguments: { milliseconds: 0 } } }], {
        metadata: { "😀": "😀" },
      }),
    };
    const answer = await post(`${agent.server.restUrl}/message:send`, params);
    expect(answer.text).toContain("TASK_STATE_COMPLETED");
  });
});
