import { type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { call, type Headers, MODERN, modern, open, POST, post, served } from "./http-support.js";

const LISTEN = { ...MODERN, "mcp-method": "subscriptions/listen" };
const PING = { ...MODERN, "mcp-method": "ping" };

/** Starts a front for which each token is the name of a caller. Subscriptions stay open. */
async function servedByName(options: Parameters<typeof served>[0] = {}) {
  const front = await served({
    callerOf: async ([token]) => (token === "expired" ? undefined : token),
    ...options,
  });
  const ping = (headers: Headers) => post(front.url, modern(1, "ping"), { ...PING, ...headers });
  await ping({});
  const [shared] = front.sessions;
  if (shared === undefined) throw new Error("no session");
  const { onReceive } = shared;
  shared.onReceive = async (message, exchange) => {
    if (message.method === "ping") await onReceive(message, exchange);
    else
      await exchange.send('{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged"}');
  };
  return { ...front, ping };
}

const of = (caller: string): Headers => ({ "proviso-capability": caller });

/** Begins a POST whose body does not arrive completely. */
function begin(url: URL, headers: Headers, bytes: number): ClientRequest {
  const all = { ...POST, ...headers, "content-length": "1000000" };
  const sent = requestHttp(url, { method: "POST", headers: all, agent: false });
  onTestFinished(() => void sent.destroy());
  sent.on("error", () => {});
  sent.write(Buffer.alloc(bytes, 32));
  return sent;
}

test("one caller gets at most a quarter of the 256 subscriptions, and all callers get 256 in total", async () => {
  const { url, ping } = await servedByName();
  const streams: IncomingMessage[] = [];
  const listen = async (caller: string) => {
    const headers = { ...POST, ...LISTEN, ...of(caller) };
    const res = await open(url, "POST", headers, modern(streams.length, "subscriptions/listen"));
    streams.push(res);
    return res.statusCode;
  };
  onTestFinished(() => {
    for (const stream of streams) stream.destroy();
  });
  const quarter = (caller: string) => Promise.all(Array.from({ length: 64 }, () => listen(caller)));
  const ok = Array(64).fill(200);
  expect(await quarter("eve")).toEqual(ok);
  expect(await listen("eve")).toBe(503);
  expect((await ping(of("eve"))).status).toBe(200);
  expect(await quarter("alice")).toEqual(ok);
  // Callers without a token that is in force count as one caller.
  expect(await quarter("expired")).toEqual(ok);
  const stranger = open(url, "POST", { ...POST, ...LISTEN }, modern(1, "subscriptions/listen"));
  expect((await stranger).statusCode).toBe(503);
  expect(await quarter("bob")).toEqual(ok);
  expect(await listen("carol")).toBe(503);
  streams[0]?.destroy();
  await expect.poll(() => listen("carol")).toBe(200);
});

test("one caller gets at most a quarter of the 512 requests at once, and requests without a valid token count as one caller's", async () => {
  const { url, ping } = await servedByName();
  const strangers = Array.from({ length: 128 }, () => begin(url, {}, 1));
  await expect.poll(async () => (await ping({})).status).toBe(503);
  expect((await ping(of("expired"))).status).toBe(503);
  const eves = Array.from({ length: 128 }, () => begin(url, of("eve"), 1));
  await expect.poll(async () => (await ping(of("eve"))).status).toBe(503);
  expect((await ping(of("alice"))).status).toBe(200);
  for (const sent of [...strangers, ...eves]) sent.destroy();
  await expect.poll(async () => (await ping({})).status).toBe(200);
  expect((await ping(of("eve"))).status).toBe(200);
});

test("if all incomplete request bodies together exceed the limit, the client with the largest body is disconnected", async () => {
  const { url } = await served({ unfinished: 100_000 });
  const begin = async (bytes: number) => {
    const headers = { ...POST, "content-length": "1000000" };
    const sent = requestHttp(url, { method: "POST", headers });
    sent.on("error", () => {});
    await new Promise((resolve) => sent.write(Buffer.alloc(bytes, 32), resolve));
    // When the front has answered a later request, it has read what was sent before.
    expect((await post(url, modern(1, "ping"), PING)).status).toBe(200);
    return sent;
  };
  const small = await begin(30_000);
  const large = await begin(60_000);
  expect([small.closed, large.closed]).toEqual([false, false]);
  const third = await begin(40_000);
  await expect.poll(() => large.closed).toBe(true);
  await sleep(100);
  expect([small.closed, third.closed]).toEqual([false, false]);
  expect((await post(url, call(1, "initialize"))).status).toBe(200);
  for (const sent of [small, third]) sent.destroy();
});

test("if all incomplete request bodies together exceed the limit, connections of the caller with the most bytes are closed, not that of a caller with one larger body", async () => {
  const { url } = await servedByName({ unfinished: 100_000 });
  const alice = begin(url, of("alice"), 40_000);
  await sleep(100);
  const many = Array.from({ length: 9 }, () => begin(url, {}, 10_000));
  await expect.poll(() => many.filter(({ closed }) => closed).length).toBe(3);
  await sleep(100);
  expect(alice.closed).toBe(false);
});
