import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { JsonObject } from "../../../src/bytes/json.js";
import { RootKey } from "../../../src/macaroon/root-key.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { at, callOf, clientOf, failureOf, first, messageOf, rpc, taskIn } from "./callers.js";
import { type Held, held, presenting, userMessage } from "./set-up.js";

// The agent verifies each token of a request once, on every route, however many checks follow. A verification
// starts with one tag that the root key computes, so the tests count tags. This issuer has no cache of verified
// tokens. With a cache, a known token needs no verification (guard/refused.test.ts).

let agent: TestAgent;
let one: Held;
let other: Held;
let task: string;
const tag = vi.spyOn(RootKey.prototype, "tag");
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
beforeEach(() => {
  tag.mockClear();
});

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
  ["CancelTask", () => failureOf(one.holder.cancelTask({ tenant: "", id: task, metadata: {} }))],
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

test.each(ROUTES)("the agent verifies the token of a request once: %s", async (_route, act) => {
  await act();
  expect(tag).toHaveBeenCalledTimes(1);
});

test("the agent verifies each of two tokens in a request once", async () => {
  const capabilities = [{ token: one.token }, { token: other.token }];
  await called("a2a/task/send", { message: userMessage(WORDS), capabilities });
  expect(tag).toHaveBeenCalledTimes(2);
});

test("for a capability id, the agent remakes the token once and verifies the token once", async () => {
  await called("a2a/task/send", { message: userMessage(WORDS), capabilities: [one.id] });
  // The agent computes one tag to remake the token, and one tag to verify it.
  expect(tag).toHaveBeenCalledTimes(2);
});

test("the agent verifies the token of a2a/capabilities/revoke once", async () => {
  const { token } = await held(agent);
  tag.mockClear();
  await called("a2a/capabilities/revoke", { token });
  expect(tag).toHaveBeenCalledTimes(1);
});
