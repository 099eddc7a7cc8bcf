import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { isJsonObject, type Json, type JsonObject } from "../../../../src/bytes/json.js";
import { NEW_META, openTestGate, RawServer, refusalIn, tool } from "./support.js";

const MEGABYTE = 1_000_000;
const LARGE = "a".repeat(MEGABYTE / 2);

/** A server that does not keep the messages that it receives. */
class ForgetfulServer extends RawServer {
  override async send(text: string): Promise<void> {
    await super.send(text);
    this.received.length = 0;
  }
}

function server(answer?: (at: number) => JsonObject): ForgetfulServer {
  const raw = new ForgetfulServer();
  let at = 0;
  raw.answers["tools/list"] = { tools: [tool("run", "text")] };
  if (answer !== undefined) raw.answers["tools/call"] = () => answer(at++);
  return raw;
}

function run(id: Json, text = LARGE, _meta: JsonObject = NEW_META): JsonObject {
  return {
    jsonrpc: "2.0",
    id,
    method: "tools/call",
    params: { name: "run", arguments: { text }, _meta },
  };
}

/** Returns the bytes of the heap in use after a garbage collection. */
function heapInUse(): number {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  return process.memoryUsage().heapUsed;
}

const SAMPLE = { method: "sampling/createMessage", params: { messages: [LARGE] } };

test.each<[string, ((at: number) => JsonObject) | undefined]>([
  ["calls that wait", undefined],
  ["tasks", (at) => ({ resultType: "task", taskId: `t${at}`, status: "working" })],
  [
    "input requests of a server",
    (at) => ({
      resultType: "input_required",
      inputRequests: { [`${at}${LARGE}`]: SAMPLE },
      requestState: `s${at}`,
    }),
  ],
])(
  "the gate does not keep the text of %s",
  async (_, answer) => {
    const { host } = await openTestGate([server(answer)], { anyOperation: true });
    await host.ask(
      { id: "list", method: "tools/list", params: { _meta: NEW_META } },
      { era: "new" },
    );
    const before = heapInUse();
    for (let at = 0; at < 40; at++) {
      await host.send(run(at), { era: "new" });
      if (answer !== undefined) {
        await expect.poll(() => host.received.length, { interval: 2 }).toBeGreaterThan(0);
      }
      host.received.length = 0;
    }
    await expect.poll(() => heapInUse() - before, { interval: 500 }).toBeLessThan(15 * MEGABYTE);
  },
  60_000,
);

const TOO_MANY = { error: { code: -31429 } };

test("a session refuses more than 512 unanswered requests, including requests of clients that have disconnected", async () => {
  const raw = server();
  const { host } = await openTestGate([raw], { anyOperation: true });
  const gone = AbortSignal.abort();
  for (let at = 0; at < 512; at++) await host.send(run(at, "", {}), { signal: gone });
  expect(await host.ask(run("next", "", {}))).toMatchObject(TOO_MANY);
  const cancelled = { jsonrpc: "2.0", method: "notifications/cancelled" };
  await host.send({ ...cancelled, params: { requestId: 7 } });
  await host.send(run("another", "", {}));
  expect(await host.ask(run("last", "", {}))).toMatchObject(TOO_MANY);
  expect(host.messages).toHaveLength(2);
});

test("while a server does not read, requests are refused when 64 MiB of requests wait", async () => {
  const raw = server();
  const { host } = await openTestGate([raw], { anyOperation: true });
  await host.ask({ id: "list", method: "tools/list" });
  raw.send = () => new Promise(() => {});
  const text = "a".repeat(4 * MEGABYTE);
  for (let at = 0; at < 17; at++) void host.send(run(at, text, {}));
  expect(await host.ask(run("next", "", {}))).toMatchObject(TOO_MANY);
  expect(host.messages).toHaveLength(2);
});

test("while a server does not read, notifications of the host are dropped when 64 MiB of them wait", async () => {
  const raw = server();
  const { host, log } = await openTestGate([raw], { anyOperation: true });
  let taken = 0;
  raw.send = (text) => {
    taken += text.length;
    return new Promise(() => {});
  };
  const params = { text: "a".repeat(4 * MEGABYTE) };
  for (let at = 0; at < 20; at++) {
    void host.send({ jsonrpc: "2.0", method: "notifications/roots/list_changed", params });
  }
  expect(taken).toBeLessThanOrEqual(64 * 1024 * 1024);
  expect(log.join()).toContain("dropped a notification");
});

test("a cancellation with a long reason reaches the server in less than 200 characters", async () => {
  const raw = new RawServer();
  raw.answers["tools/list"] = { tools: [tool("run", "text")] };
  const { host } = await openTestGate([raw], { anyOperation: true });
  await host.send(run(1, "", {}));
  const { id = null } = await raw.request("tools/call");
  const params = { requestId: 1, reason: LARGE };
  await host.send({ jsonrpc: "2.0", method: "notifications/cancelled", params });
  expect(await raw.request("notifications/cancelled")).toMatchObject({ params: { requestId: id } });
  expect(raw.received.at(-1)?.length).toBeLessThan(200);
});

test.each(["id", "progressToken"])("a request with a long %s is refused", async (name) => {
  const { host } = await openTestGate([server()], { anyOperation: true });
  const long = "a".repeat(2000);
  const message = name === "id" ? run(long, "", {}) : run("short", "", { progressToken: long });
  expect(await host.ask(message)).toMatchObject({ error: { code: -32600 } });
});

test("a result with more than 32 input requests does not reach the host", async () => {
  const asked = Array.from({ length: 33 }, (_, at) => [`q${at}`, { ...SAMPLE, params: {} }]);
  const result = { resultType: "input_required", inputRequests: Object.fromEntries(asked) };
  const { host } = await openTestGate([server(() => result)], { anyOperation: true });
  const answer = await host.ask(run(1, ""), { era: "new" });
  expect(isJsonObject(answer) && refusalIn(answer).codes).toEqual(["operation_denied"]);
});
