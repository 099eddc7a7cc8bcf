import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "../../../src/bytes/json.js";
import { denialsIn as denialsOf } from "../../../src/client/refusal.js";
import { DENIAL_HEADER } from "../../../src/protocols/a2a/extension.js";
import { ERROR_DOMAIN } from "../../../src/protocols/a2a/index.js";
import { startAgent, type TestAgent } from "../../support/a2a-agent.js";
import { type Answer, at, quietConsole, send, textAt } from "./callers.js";
import { held, presenting, userMessage } from "./set-up.js";

// Over both bindings, every refusal contains all its denials as structured data. These tests read the plain
// HTTP answers.

let agent: TestAgent;
let token: string;

beforeAll(async () => {
  quietConsole();
  agent = await startAgent();
  ({ token } = await held(agent, "payments:send"));
});

afterAll(() => agent.remove());

const STRUCT = "type.googleapis.com/google.protobuf.Struct";

function post(url: string, body: Json | undefined, presented: string): Promise<Answer> {
  const given = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
  return send(url, { headers: presenting(presented), ...given });
}

const call = { skill: "wait", arguments: { milliseconds: 0 } };
const message = (parts: Json): Json => ({ message: userMessage(parts) });

test("a refusal over JSON-RPC has every denial as structured data in error.data", async () => {
  const nonsense = "nonsense";
  for (const [method, params, presented] of [
    ["SendMessage", message([{ data: call }]), token],
    ["SendStreamingMessage", message([{ data: call }]), token],
    ["SendMessage", message([{ text: "go" }]), nonsense],
    ["GetTask", { id: "any" }, nonsense],
    ["ListTasks", {}, nonsense],
    ["CancelTask", { id: "any" }, nonsense],
    ["SubscribeToTask", { id: "any" }, nonsense],
    ["a2a/skill/invoke", call, token],
    ["a2a/task/send", message([{ data: call }]), token],
  ] as const) {
    const answer = await post(
      agent.server.rpcUrl,
      { jsonrpc: "2.0", id: 1, method, params },
      presented,
    );
    expect({ method, status: answer.status }).toEqual({ method, status: 200 });
    expectDenials(answer, at(answer.body, "error", "data"));
    expect(answer.body).toMatchObject({ jsonrpc: "2.0", id: 1 });
  }
});

test("a refusal over HTTP+JSON has every denial as structured data in error.details", async () => {
  const url = agent.server.restUrl;
  const nonsense = "nonsense";
  for (const [path, body, presented] of [
    ["/message:send", message([{ data: call }]), token],
    ["/message:stream", message([{ data: call }]), token],
    ["/tasks", undefined, nonsense],
    ["/tasks/any", undefined, nonsense],
    ["/tasks/any:cancel", {}, nonsense],
    ["/tasks/any:subscribe", {}, nonsense],
  ] as const) {
    const answer = await post(`${url}${path}`, body, presented);
    expect({ path, status: answer.status }).toEqual({ path, status: 403 });
    expect(answer.headers.get("content-type")).toContain("application/a2a+json");
    expect(at(answer.body, "error")).toMatchObject({ code: 403, status: "PERMISSION_DENIED" });
    expectDenials(answer, at(answer.body, "error", "details"));
  }
});

/** Expects the ErrorInfo of a refusal, and the same denials as structured data. */
function expectDenials(answer: Answer, details: Json): void {
  expect(details).toEqual([
    expect.objectContaining({
      "@type": "type.googleapis.com/google.rpc.ErrorInfo",
      domain: ERROR_DOMAIN,
    }),
    { "@type": STRUCT, value: { denials: JSON.parse(textAt(details, 0, "metadata", "denials")) } },
  ]);
  const code = textAt(details, 1, "value", "denials", 0, "code");
  expect(["grant_denied", "operation_denied", "token_malformed"]).toContain(code);
  expect(textAt(details, 0, "reason")).toBe(code);
  expect(answer.headers.get(DENIAL_HEADER)).toBe(textAt(details, 0, "metadata", "codes"));
}

const denialsIn = (details: unknown) => denialsOf(details, ERROR_DOMAIN);

test("denialsOf prefers structured denials to the JSON string in the ErrorInfo", () => {
  const denial = { code: "expired", message: "it has expired", hop: 1 };
  const info = (denials: string) => ({ domain: ERROR_DOMAIN, metadata: { denials } });
  const struct = { "@type": STRUCT, value: { denials: [denial] } };
  expect(denialsIn([info("[]"), struct])).toEqual([denial]);
  expect(denialsIn([struct, info("[]")])).toEqual([denial]);
  expect(denialsIn([info(JSON.stringify([denial]))])).toEqual([denial]);
  expect(denialsIn([info(JSON.stringify([denial])), { "@type": "other", value: {} }])).toEqual([
    denial,
  ]);
  for (const nothing of [[info("[")], [info("{}")], [struct], [], undefined, [null, 7, "x"], {}]) {
    expect(denialsIn(nothing)).toEqual([]);
  }
  // Items that are not denials are ignored. The denials in the ErrorInfo's text are still read.
  const told = info(JSON.stringify([denial]));
  for (const denials of [[], {}, [{ code: { x: 1 }, message: 7 }], [{ code: "expired" }]]) {
    expect(denialsIn([told, { "@type": STRUCT, value: { denials } }])).toEqual([denial]);
  }
});
