import { TaskNotCancelableError } from "@a2a-js/sdk/errors";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../../src/bytes/json.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { at, callOf, clientOf, failureOf, first, messageOf, rpc, taskIn } from "./callers.js";
import { type Held, held, presenting, userMessage } from "./set-up.js";

// An issuer without a cache of verified tokens gives the same answers as one with a cache, which the other tests use.

let agent: TestAgent;
let one: Held;
let other: Held;
let task: string;
const WAIT = { milliseconds: 1 };
const WORDS = [{ text: "wait twice" }];

beforeAll(async () => {
  agent = await startAgent({
    mode: "prefer",
    cache: false,
    runTask: async ({ invoke, delegate }) => {
      const outcomes = [await invoke("wait", WAIT), await invoke("wait", WAIT)];
      const delegated = delegate({ operations: ["wait"] });
      return { ok: outcomes.every(({ ok }) => ok), delegated: delegated.length };
    },
  });
  one = await held(agent);
  other = await held(agent);
  task = taskIn(await one.holder.sendMessage(callOf("wait", WAIT))).id;
});
afterAll(() => agent.remove());

async function called(method: string, params: JsonObject, token?: string): Promise<void> {
  const headers = token === undefined ? {} : presenting(token);
  const { body } = await rpc(agent, "alice", method, params, headers);
  expect(at(body, "error")).toBeNull();
}

const ROUTES: readonly (readonly [string, () => Promise<unknown>])[] = [
  ["SendMessage, a skill", () => one.holder.sendMessage(callOf("wait", WAIT))],
  ["SendMessage with two calls in words", () => one.holder.sendMessage(messageOf(["wait"]))],
  [
    "SendStreamingMessage",
    () => first(one.holder.sendMessageStream(callOf("wait", { milliseconds: 1 }))),
  ],
  [
    "SendMessage over HTTP+JSON",
    async () => {
      const holder = await clientOf(agent, "HTTP+JSON", "alice", one.token);
      await holder.sendMessage(callOf("wait", WAIT));
    },
  ],
  ["GetTask", () => one.holder.getTask({ tenant: "", id: task, historyLength: undefined })],
  [
    "CancelTask, whose task has already ended",
    async () => {
      const error = await failureOf(one.holder.cancelTask({ tenant: "", id: task, metadata: {} }));
      expect(error).toBeInstanceOf(TaskNotCancelableError);
    },
  ],
  [
    "a2a/skill/invoke",
    () => called("a2a/skill/invoke", { skill: "wait", arguments: WAIT }, one.token),
  ],
  [
    "a2a/skill/invoke with a messageId",
    () =>
      called(
        "a2a/skill/invoke",
        { skill: "wait", arguments: WAIT, messageId: crypto.randomUUID() },
        one.token,
      ),
  ],
  [
    "a2a/skill/invoke with the token in two places",
    () =>
      called(
        "a2a/skill/invoke",
        {
          skill: "wait",
          arguments: WAIT,
          capabilities: [{ token: one.token }, { token: one.token }],
        },
        one.token,
      ),
  ],
  [
    "a2a/task/send with an attenuation",
    () =>
      called("a2a/task/send", {
        message: userMessage(WORDS),
        capabilities: [{ token: one.token }],
        attenuations: { [one.id]: { constraints: { milliseconds: { max: 2 } } } },
      }),
  ],
  [
    "a2a/capabilities/attenuate",
    () => called("a2a/capabilities/attenuate", { token: one.token, constraints: { purpose: "x" } }),
  ],
  [
    "a2a/capabilities/introspect",
    () => called("a2a/capabilities/introspect", { token: one.token }),
  ],
];

test.each(ROUTES)("an agent without a cache of verified tokens serves %s", async (_route, act) => {
  await act();
});

test.each([
  ["two tokens", () => [{ token: one.token }, { token: other.token }]],
  ["the id of a capability", () => [one.id]],
] as const)(
  "an agent without a cache of verified tokens serves a2a/task/send with %s",
  async (_, presented) => {
    const capabilities = [...presented()];
    await called("a2a/task/send", { message: userMessage(WORDS), capabilities });
  },
);

test("an agent without a cache of verified tokens refuses a revoked token and a forged token", async () => {
  const { token } = await held(agent);
  await called("a2a/capabilities/introspect", { token });
  await called("a2a/capabilities/revoke", { token });
  const bytes = Buffer.from(one.token, "base64url");
  bytes[bytes.length - 1] = (bytes[bytes.length - 1] ?? 0) ^ 1;
  for (const refused of [token, bytes.toString("base64url")]) {
    const params = { skill: "wait", arguments: WAIT };
    const answer = await rpc(agent, "alice", "a2a/skill/invoke", params, presenting(refused));
    expect(at(answer.body, "error")).not.toBeNull();
    const told = await rpc(agent, "alice", "a2a/capabilities/introspect", { token: refused });
    expect(at(told.body, "result", "active")).toBe(false);
  }
});
