import { expect, test } from "vitest";
import { ALICE, granted } from "../../../agent/support.js";
import { quietConsole } from "../callers.js";
import { desk, startDesk } from "./own-agent.js";

// What answers JSON-RPC by itself answers as the SDK's own handler for Express does behind the same middleware.

const said = (text: string, id = "m") => ({
  message: { messageId: id, role: "ROLE_USER", parts: [{ text }] },
});
const call = (method: unknown, params: unknown, more: object = {}): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 7, method, params, ...more });

interface Asked {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string;
}

const SAY = call("SendMessage", said("say hello"));
const REQUESTS: Readonly<Record<string, Asked>> = {
  "a message": { body: SAY },
  "a task": { body: call("SendMessage", said("write one")) },
  "a stream": { body: call("SendStreamingMessage", said("write one")) },
  "a failure": { body: call("SendMessage", said("fail")) },
  "an id that is a text": { body: call("SendMessage", said("say x"), { id: "seven" }) },
  "an id that is null": { body: call("SendMessage", said("say x"), { id: null }) },
  "no id": { body: call("SendMessage", said("say x"), { id: undefined }) },
  "an id that is an object": { body: call("SendMessage", said("say x"), { id: {} }) },
  "an id that is a fraction": { body: call("SendMessage", said("say x"), { id: 1.5 }) },
  "another JSON-RPC": { body: call("SendMessage", said("say x"), { jsonrpc: "1.0" }) },
  "no parameters": { body: call("SendMessage", undefined) },
  "parameters that are a list": { body: call("SendMessage", [1]) },
  "no message": { body: call("SendMessage", {}) },
  "a task that there is not": { body: call("GetTask", { id: "none" }) },
  "a page": { body: call("ListTasks", {}) },
  "a page that there cannot be": { body: call("ListTasks", { pageSize: 1000 }) },
  "a subscription to nothing": { body: call("SubscribeToTask", { id: "none" }) },
  "an extended card": { body: call("GetExtendedAgentCard", undefined) },
  "an unknown method": { body: call("Frobnicate", {}) },
  "a method that is no text": { body: call({ a: 1 }, {}) },
  "a tenant": { body: call("SendMessage", { ...said("say x"), tenant: "one" }) },
  "a tenant that is no text": { body: call("SendMessage", { ...said("say x"), tenant: 5 }) },
  "the other media type": { headers: { "Content-Type": "application/a2a+json" }, body: SAY },
  "a charset": { headers: { "Content-Type": "application/json; charset=utf-8" }, body: SAY },
  "a media type in capitals": { headers: { "Content-Type": "APPLICATION/JSON" }, body: SAY },
  "a text": { headers: { "Content-Type": "text/plain" }, body: SAY },
  "a version of before": { headers: { "A2A-Version": "0.3" }, body: SAY },
  "a version to come": { headers: { "A2A-Version": "9.9" }, body: SAY },
  "no version": { headers: { "A2A-Version": "" }, body: SAY },
  "other extensions": { headers: { "A2A-Extensions": "urn:a, urn:b" }, body: SAY },
  "a body that is not JSON": { body: "{" },
  "a list": { body: `[${SAY}]` },
  "no body": { method: "POST" },
  "a GET": { method: "GET" },
  "a PUT": { method: "PUT", body: SAY },
  "a path below": { path: "/rpc/below", body: SAY },
  "a slash more": { path: "/rpc/", body: SAY },
};

async function answerOf(url: string, token: string, { path = "/rpc", ...asked }: Asked) {
  const answer = await fetch(`${url}${path}`, {
    method: asked.method ?? "POST",
    headers: {
      ...{ "Content-Type": "application/json", "A2A-Version": "1.0" },
      Authorization: `Bearer ${ALICE.principal}:${ALICE.invoker}`,
      "Proviso-Capability": token,
      ...asked.headers,
    },
    ...(asked.body === undefined ? {} : { body: asked.body }),
  });
  // Express makes tags of bodies, which no answer to a POST is compared by.
  const headers = [...answer.headers].filter(([name]) => !["date", "etag"].includes(name));
  const text = (await answer.text())
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, "id")
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "time");
  return { status: answer.status, headers, text };
}

test.each(Object.entries(REQUESTS))("%s", async (_name, asked) => {
  quietConsole();
  const issuing = await desk();
  const [{ token } = { token: "" }] = await granted(issuing.agent, { grants: ["desk:use"] });
  const [whole, apart] = [await startDesk(issuing), await startDesk(issuing, { apart: true })];
  const answer = await answerOf(whole.url, token, asked);
  expect(answer).toEqual(await answerOf(apart.url, token, asked));
  expect(whole.desk.told).toEqual(apart.desk.told);
  expect(whole.desk.ran.length).toBe(apart.desk.ran.length);
});
