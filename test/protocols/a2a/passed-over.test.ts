import { readdirSync, readFileSync } from "node:fs";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { attenuate } from "../../../src/index.js";
import { EXTENSION_URI, METHODS } from "../../../src/protocols/a2a/extension.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { authorized, callOf, clientOf, quietConsole, request, rpc, taskIn } from "./callers.js";

// In these places, a capability could easily be ignored, or a token stored. The agent must refuse each such
// request.

let agent: TestAgent;
let token: string;
let other: string;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent({ mode: "prefer" });
  const client = await clientOf(agent, "JSON-RPC", "alice");
  token = (await request(client, { grants: ["work:do"] })).token;
  other = (await request(client, { grants: ["work:do"] })).token;
});
afterAll(() => agent.remove());

const introspection = (): Json => ({ method: METHODS.introspect, params: { token } });

async function ambientTask(): Promise<string> {
  const client = await clientOf(agent, "JSON-RPC", "alice");
  return taskIn(await client.sendMessage(callOf("wait", { milliseconds: 0 }))).id;
}

async function said(method: string, params: object): Promise<string> {
  return (await rpc(agent, "alice", method, JSON.parse(JSON.stringify(params)))).text;
}

describe("the agent refuses", () => {
  test("a capability in a message that is sent to GetTask or ListTasks", async () => {
    const id = await ambientTask();
    const message = { messageId: "m", role: "ROLE_USER", parts: [{ data: introspection() }] };
    expect(await said("GetTask", { id })).toContain(id);
    for (const method of ["GetTask", "ListTasks"]) {
      expect(await said(method, { id, message })).toContain("a message must not hold a token");
    }
  });

  test("a capability in the metadata of a request whose message calls a capability method and has a null text", async () => {
    const parts = [{ text: null, data: introspection() }];
    const message = { messageId: "m", role: "ROLE_USER", parts };
    const metadata = { [EXTENSION_URI]: { capabilities: [{ token }] } };
    expect(await said("SendMessage", { message, metadata })).toContain("is not read");
    expect(await said("SendMessage", { message })).toContain('"active"');
  });

  test.each(["X-Proviso-Capability", "X-A2A-Capability", "A2A-Proviso-Token"])(
    "a capability in the header %s",
    async (name) => {
      const headers = {
        ...authorized("alice"),
        "A2A-Version": "1.0",
        [name]: "cap_AAAAAAAAAAAAAAAA",
      };
      const id = await ambientTask();
      const answer = await fetch(`${agent.server.restUrl}/tasks/${id}`, { headers });
      expect(answer.status).toBe(400);
      expect(await answer.text()).toContain(name.toLowerCase());
    },
  );

  test("a capability in the body of a GET request without a content type", async () => {
    const id = await ambientTask();
    const body = JSON.stringify({ metadata: { [EXTENSION_URI]: { capabilities: [{ token }] } } });
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const url = `${agent.server.restUrl}/tasks/${id}`;
      const { "Content-Type": _, ...who } = authorized("alice");
      const headers = {
        ...who,
        "Content-Length": body.length,
      };
      const asking = httpRequest(url, { method: "GET", headers }, (answer) => {
        answer.resume().on("end", () => resolve(answer.statusCode));
      });
      asking.on("error", reject).end(body);
    });
    expect(status).toBe(415);
  });

  test.each<[string, object, string]>([
    ["parts[0].text", { parts: [{ text: ["a", "b"] }] }, "a string"],
    ["messageId", { messageId: ["m"], parts: [{ text: "a" }] }, "at most 128 printable characters"],
    ["extensions[0]", { parts: [{ text: "a" }], extensions: [["u"]] }, "a string"],
  ])(
    "a value of a wrong type at %s, which the SDK would convert to a string",
    async (name, more, wanted) => {
      const message = { messageId: "m", role: "ROLE_USER", ...more };
      expect(await said("SendMessage", { message })).toContain(
        `params.message.${name} must be ${wanted}`,
      );
    },
  );
});

describe("a hop that contains a token", () => {
  /** Returns the content of the database files, in which the ledger is. */
  const kept = (): string =>
    readdirSync(agent.home)
      .filter((name) => name.startsWith("proviso.db"))
      .map((name) => readFileSync(join(agent.home, name), "latin1"))
      .join("\n");

  test("is refused as an attenuation in a2a/task/send", async () => {
    const id =
      (await agent.ledger.list({})).find((event) => event.kind === "issuance")?.capability ?? "";
    const message = { role: "user", parts: [{ text: "wait" }] };
    const params = { message, capabilities: [{ id }], attenuations: { [id]: { purpose: other } } };
    expect(await said(METHODS.send, params)).toContain("params.attenuations must not hold a token");
  });

  test("is allowed in a presented capability, but the ledger does not record the contained token", async () => {
    const child = attenuate(token, { purpose: `x ${other}` });
    const capabilities = [{ token: child.ok ? child.token : "" }];
    const call = { skill: "wait", arguments: { milliseconds: 0 }, capabilities };
    expect(await said(METHODS.invoke, call)).toContain("waited");
    await agent.ledger.flush();
    expect(kept()).not.toContain(other.slice(0, 100));
    expect(kept()).toContain(child.ok ? child.revocationId : "?");
  });
});
