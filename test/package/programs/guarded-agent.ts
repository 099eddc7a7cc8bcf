import type { AddressInfo } from "node:net";
import { AgentCard, type Message, Role } from "@a2a-js/sdk";
import { AgentEvent, DefaultRequestHandler, InMemoryTaskStore } from "@a2a-js/sdk/server";
import { restHandler } from "@a2a-js/sdk/server/express";
import express from "express";
import { capabilityExtension, clearanceOf, EXTENSION_URI, guard } from "proviso/a2a";
import { createIssuingAgent, createPolicyTable } from "proviso/agent";
import { createIssuer, createKeyring, createRevocationList } from "proviso/issuer";
import { createStores, openLedger } from "proviso/stores";

const revocations = createRevocationList();
const database = await createStores("guarded.db");
const ledger = openLedger(database);
const grants = [{ id: "echo:use", description: "Echo a message", operations: ["echo", "shout"] }];
const agent = await createIssuingAgent({
  issuer: createIssuer({ name: "echo-agent", keys: createKeyring(), revocations, grants }),
  revocations,
  ledger,
  policy: createPolicyTable({
    rules: [{ principal: "alice", grant: "echo:use", operations: "*" }],
  }),
  skills: [],
  operations: [
    { operation: "echo", reach: "none" },
    { operation: "shout", reach: "none" },
  ],
});
const card = AgentCard.fromJSON({
  name: "Echo",
  description: "Says what it hears",
  version: "1.0.0",
  supportedInterfaces: [
    { url: "http://127.0.0.1/a2a/rpc", protocolBinding: "JSONRPC", protocolVersion: "1.0" },
  ],
  capabilities: { extensions: [capabilityExtension(agent)] },
});
const executor = {
  execute: async (...[{ userMessage, context }, bus]: Parameters<Execute>) => {
    const { principal } = clearanceOf(context);
    const message: Message = { ...userMessage, messageId: "answer", role: Role.ROLE_AGENT };
    bus.publish(AgentEvent.message({ ...message, metadata: { principal } }));
  },
  cancelTask: async () => {},
};
type Execute = import("@a2a-js/sdk/server").AgentExecutor["execute"];

const { jsonRpc, before, handler, userBuilder } = guard({
  agent,
  handler: new DefaultRequestHandler(card, new InMemoryTaskStore(), executor),
  needs: ({ parts }) => ({ operation: parts.length > 1 ? "shout" : "echo" }),
  caller: (req) => (req.get("X-User") ? { principal: "alice", invoker: "app" } : undefined),
});
const app = express();
app.use("/a2a/rpc", jsonRpc);
app.use("/a2a/rest", before, restHandler({ requestHandler: handler, userBuilder }));
const server = app.listen(0, "127.0.0.1");
await new Promise<void>((resolve) => server.once("listening", resolve));
const { port } = server.address() as AddressInfo;

interface Answer {
  readonly result?: {
    readonly capabilities: readonly [{ readonly token: string }];
    readonly message: { readonly metadata: { readonly principal: string } };
  };
  readonly error?: { readonly code: number };
}

async function rpc(method: string, params: object, more: object = {}): Promise<Answer> {
  const answer = await fetch(`http://127.0.0.1:${port}/a2a/rpc`, {
    method: "POST",
    headers: { "Content-Type": "application/json", "A2A-Version": "1.0", "X-User": "a", ...more },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  return JSON.parse(await answer.text());
}

const message = (...words: readonly string[]) => ({
  message: { messageId: words.join(), role: "ROLE_USER", parts: words.map((text) => ({ text })) },
});
const asked = { grants: ["echo:use"], operations: ["echo"] };
const token = (await rpc("a2a/capabilities/request", asked)).result?.capabilities[0].token ?? "";
const holding = { "Proviso-Capability": token, "A2A-Extensions": EXTENSION_URI };
const answers = [
  (await rpc("SendMessage", message("hello"), holding)).result?.message.metadata.principal,
  (await rpc("SendMessage", message("hello", "again"), holding)).error?.code,
  (await rpc("SendMessage", message("hi"))).error?.code,
];
server.close();
await ledger.close();
await database.close();
const ok = answers.join() === "alice,-31403,-31403";
console.log(JSON.stringify({ ok, answers }));
