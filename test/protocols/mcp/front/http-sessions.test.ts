import { once } from "node:events";
import { request as requestHttp } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import type { HttpFrontOptions } from "../../../../src/protocols/mcp/front/http-front.js";
import { Recorder } from "../support.js";
import {
  ask,
  call,
  deferred,
  type Headers,
  initialized,
  MODERN,
  modern,
  never,
  open,
  POST,
  post,
  served,
} from "./http-support.js";

/** Starts a front whose sessions end only after `slow` is resolved. */
async function servedSlowly(options: Partial<HttpFrontOptions>) {
  const slow = deferred();
  const front = await served({
    ...options,
    open: async () => {
      const session = new Recorder();
      session.onReceive = async ({ id }, { send }) =>
        send(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
      session.close = () => slow.promise;
      sessions.push(session);
      return { session, ended: never };
    },
  });
  const { sessions } = front;
  onTestFinished(() => slow.resolve());
  return { ...front, slow };
}

test("when a session ends, its open requests are answered with an error, and its stream ends", async () => {
  const { url, sessions } = await served();
  const session = await initialized(url);
  for (const one of sessions) one.onReceive = async () => {};
  const pending = post(url, call(2, "slow"), session);
  const stream = await open(url, "GET", { accept: "text/event-stream", ...session });
  stream.resume();
  const streamEnded = once(stream, "end");
  expect((await ask(url, "DELETE", session)).status).toBe(204);
  expect(JSON.parse((await pending).text)).toMatchObject({
    id: 2,
    error: { message: "the session has ended" },
  });
  await streamEnded;
});

test("all sessions whose tokens are no longer valid end within two seconds, even if their servers end slowly", async () => {
  let isValid = true;
  const { url, sessions, slow } = await servedSlowly({
    opening: async (_message, credentials) => ({ opener: "alice", credentials }),
    callerOf: async () => (isValid ? "alice" : undefined),
  });
  const own = await Promise.all([1, 2, 3].map(() => initialized(url)));
  const streams = await Promise.all(
    own.map((session) => open(url, "GET", { accept: "text/event-stream", ...session })),
  );
  for (const one of sessions) one.onReceive = async () => {};
  const pending = own.map((session) => post(url, call(2, "slow"), session));
  await expect.poll(() => sessions.every(({ received }) => received.length === 2)).toBe(true);
  isValid = false;
  const began = Date.now();
  for (const stream of streams) stream.resume();
  await Promise.all([...pending, ...streams.map((stream) => once(stream, "end"))]);
  // Two seconds, and the time that a busy machine adds.
  expect(Date.now() - began).toBeLessThan(15_000);
  slow.resolve();
});

test("a session counts towards the limit of sessions until its servers have ended", async () => {
  const { url, slow } = await servedSlowly({ sessions: 4 });
  const first = await initialized(url);
  const deleted = ask(url, "DELETE", first);
  await expect.poll(async () => (await post(url, call(2, "ping"), first)).status).toBe(404);
  expect((await post(url, call(1, "initialize"))).status).toBe(503);
  slow.resolve();
  expect((await deleted).status).toBe(204);
  await initialized(url);
});

test("an initialize whose client disconnects leaves no session open, whenever the client disconnects", async () => {
  const hasStarted = deferred();
  const sessions: Recorder[] = [];
  let isStarting = false;
  const { url } = await served({
    sessions: 4,
    open: async () => {
      isStarting = true;
      await hasStarted.promise;
      const session = new Recorder();
      session.onReceive = async ({ id }, { send }) => {
        if (sessions.length > 2) await send(JSON.stringify({ jsonrpc: "2.0", id, result: {} }));
      };
      sessions.push(session);
      return { session, ended: never };
    },
  });
  const begin = () => {
    const sent = requestHttp(url, { method: "POST", headers: POST });
    sent.on("error", () => {});
    return sent.end(call(1, "initialize"));
  };
  const whileStarting = begin();
  await expect.poll(() => isStarting).toBe(true);
  whileStarting.destroy();
  await sleep(100);
  hasStarted.resolve();
  await expect.poll(() => sessions[0]?.isClosed).toBe(true);
  const whileWaiting = begin();
  await expect.poll(() => sessions[1]?.received.length).toBe(1);
  whileWaiting.destroy();
  await expect.poll(() => sessions[1]?.isClosed).toBe(true);
  await initialized(url);
});

test("a subscription whose client disconnects while the servers start does not count as open", async () => {
  const hasStarted = deferred();
  const { url } = await served({
    open: async () => {
      await hasStarted.promise;
      return { session: new Recorder(), ended: never };
    },
  });
  const listen = { ...POST, ...MODERN, "mcp-method": "subscriptions/listen" };
  const begin = (id: number) => {
    const sent = requestHttp(url, { method: "POST", headers: listen });
    sent.on("error", () => {});
    return sent.end(modern(id, "subscriptions/listen"));
  };
  const early = Array.from({ length: 256 }, (_, id) => begin(id));
  await sleep(1000);
  for (const sent of early) sent.destroy();
  await sleep(1000);
  hasStarted.resolve();
  await expect
    .poll(async () => {
      const later = await open(url, "POST", listen, modern(300, "subscriptions/listen"));
      later.destroy();
      return later.statusCode;
    })
    .toBe(200);
});

test("a session and its stream end when the tokens that it last presented are no longer valid", async () => {
  const valid = new Set(["old", "new"]);
  const { url, sessions } = await served({
    opening: async (_message, credentials) => ({ opener: "alice", credentials }),
    callerOf: async (credentials) =>
      credentials.every((token) => valid.has(token)) ? "alice" : undefined,
  });
  const reply = await post(url, call(1, "initialize"), { "proviso-capability": "old" });
  const session = { "mcp-session-id": String(reply.headers["mcp-session-id"]) };
  const renewed = { ...session, "proviso-capability": "new" };
  const stream = await open(url, "GET", { accept: "text/event-stream", ...renewed });
  stream.resume();
  const streamEnded = once(stream, "close");
  valid.delete("old");
  await sleep(2500);
  expect((await post(url, call(3, "ping"), renewed)).status).toBe(200);
  valid.delete("new");
  await streamEnded;
  await expect.poll(() => sessions[0]?.isClosed).toBe(true);
  expect((await post(url, call(4, "ping"), renewed)).status).toBe(404);
});

test("one opener gets at most a quarter of the sessions, and another opener still gets a session", async () => {
  const { url, sessions } = await served({
    sessions: 8,
    opening: async (_message, credentials) => ({ opener: String(credentials[0]), credentials }),
    callerOf: async ([token]) => token,
  });
  const opening = (opener: string) =>
    post(url, call(1, "initialize"), { "proviso-capability": opener });
  const replies = await Promise.all(["eve", "eve", "eve"].map(opening));
  expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 503]);
  expect((await opening("alice")).status).toBe(200);
  const [own] = replies.filter(({ status }) => status === 200);
  const session = { "mcp-session-id": String(own?.headers["mcp-session-id"]) };
  const eve = { ...session, "proviso-capability": "eve" };
  expect((await ask(url, "DELETE", eve)).status).toBe(204);
  expect((await opening("eve")).status).toBe(200);
  expect(sessions).toHaveLength(4);
});

test("an initialize over the maximum number of sessions gets 503, and an idle session ends", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  const openers = ["alice", "bob", "carol", "dave"].values();
  const { url, sessions } = await served({
    sessions: 2,
    idle: 60_000,
    opening: async () => ({ opener: openers.next().value ?? "eve", credentials: [] }),
  });
  const busy = await initialized(url);
  await initialized(url);
  const full = await post(url, call(1, "initialize"));
  expect([full.status, full.headers["retry-after"]]).toEqual([503, "60"]);
  const stream = await open(url, "GET", { accept: "text/event-stream", ...busy });
  const closed = () => sessions.map(({ isClosed }) => isClosed);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(closed()).toEqual([false, false]);
  await vi.advanceTimersByTimeAsync(1);
  await expect.poll(closed).toEqual([false, true]);
  await initialized(url);
  stream.destroy();
  // The front has noticed the end of the stream once the session has a timer.
  await expect.poll(() => vi.getTimerCount()).toBe(2);
  await vi.advanceTimersByTimeAsync(60_000);
  await expect.poll(closed).toEqual([true, true, true]);
});

test("when the servers of a session have ended, the session ends, and the next request of the new era opens a new shared session", async () => {
  const { url, sessions, ends, opened } = await served();
  const ping = () => post(url, modern(1, "ping"), { ...MODERN, "mcp-method": "ping" });
  const session = await initialized(url);
  await ping();
  for (const end of ends.splice(0)) end();
  await expect.poll(() => sessions.map(({ isClosed }) => isClosed)).toEqual([true, true]);
  expect((await post(url, call(2, "ping"), session)).status).toBe(404);
  expect((await ping()).status).toBe(200);
  expect(opened).toEqual([false, true, true]);
});

test("a session takes requests only of the party that has opened it, and its id alone is not enough", async () => {
  const { url, sessions } = await served({
    opening: async (_message, credentials) => ({
      opener: credentials[0] ?? "meta",
      credentials,
    }),
    callerOf: async ([token]) => (token === "expired" ? undefined : token),
  });
  const alice = { "proviso-capability": "alice" };
  const opened = await post(url, call(1, "initialize"), alice);
  const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) };
  const answer = JSON.stringify({ jsonrpc: "2.0", id: 1, result: {} });
  const strangers: readonly Headers[] = [
    {},
    { "proviso-capability": "eve" },
    { "proviso-capability": "expired" },
  ];
  for (const headers of strangers) {
    const others = { ...session, ...headers };
    const replies = [
      await post(url, call(2, "ping"), others),
      await post(url, answer, others),
      await ask(url, "GET", { accept: "text/event-stream", ...others }),
      await ask(url, "DELETE", others),
    ];
    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
  }
  expect(sessions[0]?.received).toHaveLength(1);
  expect((await post(url, call(3, "ping"), { ...session, ...alice })).status).toBe(200);
  expect((await ask(url, "DELETE", { ...session, ...alice })).status).toBe(204);
  // This session was opened with a token in the body, so that its other requests need no token in the headers.
  const byBody = await initialized(url);
  expect((await post(url, call(2, "ping"), byBody)).status).toBe(200);
  expect((await ask(url, "DELETE", { ...byBody, "proviso-capability": "eve" })).status).toBe(404);
  expect((await ask(url, "DELETE", byBody)).status).toBe(204);
});
