import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXTENSION_URI } from "../../../src/protocols/a2a/client/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import {
  type Answer,
  authorized,
  BINDINGS,
  type BindingName,
  clientOf,
  quietConsole,
  request,
  send,
} from "./callers.js";

// The ledger records calls that ran. A call that the gate allowed, but that did not run, is recorded as a refusal.

let agent: TestAgent;
let granted: { readonly id: string; readonly token: string };

beforeAll(async () => {
  quietConsole();
  agent = await startAgent();
  granted = await request(await clientOf(agent, "JSON-RPC", "alice"), { grants: ["work:do"] });
});

afterAll(() => agent.remove());

/** Sends a message that calls a skill, and claims that the client knows this extension. */
function call(binding: BindingName, stream: boolean, extension: string): Promise<Answer> {
  const parts = [{ data: { skill: "wait", arguments: { milliseconds: 0 } } }];
  const params = {
    message: { messageId: randomUUID(), role: "ROLE_USER", parts },
    metadata: { [EXTENSION_URI]: { capabilities: [{ token: granted.token }] } },
  };
  const { rpcUrl, restUrl } = agent.server;
  const method = stream ? "SendStreamingMessage" : "SendMessage";
  const own = binding === "JSON-RPC";
  return send(own ? rpcUrl : `${restUrl}/message:${stream ? "stream" : "send"}`, {
    method: "POST",
    headers: { ...authorized("alice"), "A2A-Extensions": extension },
    body: JSON.stringify(own ? { jsonrpc: "2.0", id: 1, method, params } : params),
  });
}

const WAYS = BINDINGS.flatMap((binding) => [false, true].map((stream) => ({ binding, stream })));

test.each(WAYS)(
  "a call that the gate allows but the SDK refuses runs nothing, and the ledger records a refusal (%o)",
  async ({ binding, stream }) => {
    const query = { kind: "invocation" } as const;
    const before = (await agent.ledger.list(query)).length;
    const ran = agent.ran.length;
    expect((await call(binding, stream, "urn:other")).text).toContain("EXTENSION_SUPPORT_REQUIRED");
    expect((await call(binding, stream, EXTENSION_URI)).text).toContain("COMPLETED");
    const told = (await agent.ledger.list(query)).slice(before);
    const line = { skill: "wait", operation: "wait", capability: granted.id, principal: "alice" };
    expect(told).toMatchObject([
      { ...line, decision: "refused", codes: ["extension_support_required"] },
      { ...line, decision: "allowed", authority: "capability" },
    ]);
    expect(told[0]).not.toHaveProperty("authority");
    expect(agent.ran.slice(ran)).toEqual(["wait"]);
  },
);
