import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { EXTENSION_URI } from "../../../src/protocols/a2a/client/index.js";
import { ERROR_CODES, ERROR_DOMAIN } from "../../../src/protocols/a2a/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { FULL } from "../../support/size.js";
import {
  type Answer,
  at,
  authorized,
  clientOf,
  quietConsole,
  request,
  rpc,
  send,
  textAt,
} from "./callers.js";

// A caller that may only read sends messages of the maximum size, which the agent stores with their tasks.

let agent: TestAgent;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({ keeping: { quota: { bytes: 2 ** 21 } } });
});

afterAll(() => agent.remove());

const PRESENTING = (token: string) => ({
  "Proviso-Capability": token,
  "A2A-Extensions": EXTENSION_URI,
});

function messageOf(part: object): object {
  return { message: { messageId: crypto.randomUUID(), role: "ROLE_USER", parts: [part] } };
}

/**
 * Returns whether an answer reports an exceeded quota. That error occurs only when the task is about to begin,
 * within the SDK's handler.
 */
function isOverQuota({ status, body }: Answer): boolean {
  return status === 429 && at(body, "error", "code") === ERROR_CODES.rateLimited;
}

if (FULL) {
  test("a caller at its task quota gets 429 for new tasks but can still revoke, and another caller can still call", async () => {
    const alice = await clientOf(agent, "JSON-RPC", "alice");
    const { token } = await request(alice, { grants: ["work:do"] });
    const headers = PRESENTING(token);
    const text = "x".repeat(250 * 1024);
    const answers = await Promise.all(
      Array.from({ length: 40 }, () =>
        rpc(agent, "alice", "SendMessage", messageOf({ text }), headers),
      ),
    );
    const refused = answers.filter(isOverQuota);
    expect(answers.length - refused.length).toBeLessThanOrEqual(8);
    expect(refused.length).toBeGreaterThanOrEqual(32);
    expect(at(refused[0]?.body ?? null, "error")).toMatchObject({
      code: ERROR_CODES.rateLimited,
      message: expect.stringContaining("keeps 2 MiB of tasks for a principal"),
      data: [{ reason: "task_quota_exceeded", domain: ERROR_DOMAIN }],
    });
    const rest = await send(`${agent.server.restUrl}/message:send`, {
      method: "POST",
      headers: { ...authorized("alice"), ...headers },
      body: JSON.stringify(messageOf({ text })),
    });
    expect([rest.status, textAt(rest.body, "error", "details", 0, "reason")]).toEqual([
      429,
      "task_quota_exceeded",
    ]);
    const kept = readdirSync(agent.home, { withFileTypes: true })
      .filter((entry) => entry.name.startsWith("proviso.db"))
      .map(({ name }) => statSync(join(agent.home, name)).size);
    expect(kept.reduce((sum, size) => sum + size, 0)).toBeLessThan(16 * 2 ** 20);

    const calling = messageOf({ data: { skill: "wait", arguments: { milliseconds: 0 } } });
    const bob = await clientOf(agent, "JSON-RPC", "bob");
    const theirs = await request(bob, { grants: ["work:do"] });
    const done = await rpc(agent, "bob", "SendMessage", calling, PRESENTING(theirs.token));
    expect(textAt(done.body, "result", "task", "status", "state")).toBe("TASK_STATE_COMPLETED");
    const revoked = await rpc(agent, "alice", "a2a/capabilities/revoke", { token });
    expect(at(revoked.body, "result", "revoked")).toBe(true);
  });
}

test("a call that is refused because of the task quota runs nothing, whichever method sends it", async () => {
  const alice = await clientOf(agent, "JSON-RPC", "alice");
  const { token } = await request(alice, { grants: ["work:do"] });
  const text = "x".repeat(250 * 1024);
  for (;;) {
    const answer = await rpc(agent, "alice", "SendMessage", messageOf({ text }), PRESENTING(token));
    if (isOverQuota(answer)) break;
  }
  const before = agent.ran.length;
  const padded = { data: { skill: "wait", arguments: { milliseconds: 0 } }, metadata: { text } };
  for (const method of ["SendMessage", "SendStreamingMessage", "a2a/task/send"]) {
    const { text: said } = await rpc(agent, "alice", method, messageOf(padded), PRESENTING(token));
    expect(said).toContain("task_quota_exceeded");
  }
  expect(agent.ran.length).toBe(before);
});

test("a task's result counts towards the task quota as soon as the task ends", async () => {
  const outcome = "x".repeat(200_000);
  const answering = await startAgent({
    keeping: { quota: { bytes: 2 ** 20 } },
    runTask: async () => ({ message: outcome }),
  });
  onTestFinished(() => answering.remove());
  const alice = await clientOf(answering, "JSON-RPC", "alice");
  const { token } = await request(alice, { grants: ["work:do"] });
  let ended = 0;
  for (; ended < 12; ended++) {
    const asked = messageOf({ text: "what is there?" });
    const answer = await rpc(answering, "alice", "SendMessage", asked, PRESENTING(token));
    if (isOverQuota(answer)) break;
    expect(textAt(answer.body, "result", "task", "status", "state")).toBe("TASK_STATE_COMPLETED");
  }
  expect(ended).toBe(Math.ceil(2 ** 20 / outcome.length));
});
