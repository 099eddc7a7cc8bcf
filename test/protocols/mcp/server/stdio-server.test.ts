import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/bytes/json.js";
import {
  type ServerConnection,
  type ServerEnd,
  ServerError,
} from "../../../../src/protocols/mcp/server/connection.js";
import {
  type StdioServerOptions,
  startStdioServer,
} from "../../../../src/protocols/mcp/server/stdio-server.js";

const UNRULY = fileURLToPath(new URL("unruly-server.mjs", import.meta.url));
const open: ServerConnection[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()));
});

/** Starts a server, and records its messages. */
async function started(options: Partial<StdioServerOptions> = {}) {
  const server = await startStdioServer({
    command: process.execPath,
    args: [UNRULY],
    env: process.env,
    ...options,
  });
  open.push(server);
  const messages: string[] = [];
  const ends: ServerEnd[] = [];
  server.onMessage = async (text) => void messages.push(text);
  server.onEnd = (end) => void ends.push(end);
  let id = 0;
  const ask = async (method: string, params: JsonObject = {}): Promise<JsonObject> => {
    id++;
    const began = messages.length;
    await server.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    const answer = await until(() =>
      messages.slice(began).find((text) => JSON.parse(text).id === id),
    );
    return JSON.parse(answer);
  };
  const tell = (method: string, params: JsonObject = {}): Promise<void> =>
    server.send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  return { server, messages, ends, ask, tell };
}

/** Waits until `find` returns a value. */
async function until<T>(find: () => T | undefined, within = 8000): Promise<T> {
  const end = Date.now() + within;
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    if (Date.now() > end) throw new Error("it did not happen in time");
    await sleep(10);
  }
}

function isAlive(pid: unknown): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

const gone = (pid: unknown): Promise<true> => until(() => (isAlive(pid) ? undefined : true));

test("messages arrive byte for byte, in whatever pieces the server writes them", async () => {
  const { messages, tell } = await started();
  const text = '{ "jsonrpc":"2.0" , "method":"x","params":{"n":1.0,"s":"é🙂\\u2028"}}';
  const bytes = [...Buffer.from(`${text}\r\n\n`)];
  for (const one of [bytes.slice(0, 63), bytes.slice(63, 65), bytes.slice(65)]) {
    await tell("write", { bytes: one });
    await sleep(20);
  }
  await tell("write", { text });
  await tell("exit", { code: 0 });
  // The last line has no line feed.
  await until(() => (messages.length === 2 ? true : undefined));
  expect(messages).toEqual([`${text}\r`, text]);
});

test("a line separator within a string does not start a second message at the server", async () => {
  const { messages, ask, server } = await started();
  const hidden = '\u2028{"jsonrpc":"2.0","id":99,"method":"pid"}\u2028';
  const text = JSON.stringify(
    { jsonrpc: "2.0", id: 50, method: "echo", params: { hidden } },
    null,
    2,
  );
  await server.send(text.replaceAll("\n", "\r\n"));
  await ask("pid");
  expect(messages.map((one) => JSON.parse(one).id)).toEqual([50, 1]);
  expect(JSON.parse(messages[0] ?? "").result).toEqual({ hidden });
});

test("the server gets the gate's environment without the PROVISO_ variables", async () => {
  const env = {
    PATH: process.env["PATH"],
    API_KEY: "k",
    PROVISO_TOKEN: "t",
    PROVISO_HOME: "/h",
    MY_PROVISO_: "1",
  };
  const { ask } = await started({ env });
  const { result } = await ask("environment");
  expect(result).toMatchObject({ API_KEY: "k", MY_PROVISO_: "1" });
  expect(Object.keys(result as JsonObject).filter((name) => /^PROVISO_/i.test(name))).toEqual([]);
});

test("when a server ends, its last message arrives before onEnd is called with server_ended", async () => {
  const { server, messages, ends, tell } = await started({ name: "files" });
  let heard = -1;
  server.onEnd = (end) => {
    heard = messages.length;
    ends.push(end);
  };
  await tell("write", { text: '{"last":1}\n' });
  await tell("exit", { code: 7 });
  const end = await until(() => ends[0]);
  expect(end).toEqual({
    code: "server_ended",
    message: 'the server "files" has ended (exit code 7)',
  });
  expect(heard).toBe(1);
  await expect(tell("echo")).rejects.toMatchObject({ name: "ServerError", code: "server_ended" });
});

test("a program that does not start fails with server_unavailable and the reason", async () => {
  for (const [options, why] of [
    [{ command: "/no/such/program" }, /there is no program \/no\/such\/program$/],
    [{ command: "no-such-program", cwd: "/" }, /: there is no program no-such-program; write/],
    [{ cwd: "/no/such/folder" }, /: there is no folder \/no\/such\/folder$/],
    [{ command: UNRULY }, "permission denied"],
  ] as const) {
    const failed = started(options);
    await expect(failed).rejects.toBeInstanceOf(ServerError);
    await expect(failed).rejects.toMatchObject({ code: "server_unavailable" });
    await expect(failed).rejects.toThrow(why);
  }
});

test("close() ends the server and its child processes, even if the server ignores SIGTERM", async () => {
  const obedient = await started();
  const stubborn = await started({ args: [UNRULY, "stubborn"] });
  const [parent, child] = [await stubborn.ask("pid"), await stubborn.ask("child")];
  const [pid, inner] = [parent, child].map(({ result }) => (result as JsonObject)["pid"]);
  await obedient.server.close();
  expect(isAlive(inner)).toBe(true);
  await stubborn.server.close();
  expect(isAlive(pid)).toBe(false);
  await gone(inner);
  // onEnd is not called for an end that was requested.
  expect([...obedient.ends, ...stubborn.ends]).toEqual([]);
});

test("a server that closes its input or its output is stopped, and the connection ends with server_ended", async () => {
  for (const deed of ["deafen", "hush"]) {
    const { ends, ask, tell } = await started();
    const { result } = await ask("pid");
    await tell(deed);
    // The gate notices a closed input only at the first message after the server has closed it.
    const nudging = setInterval(() => void tell("echo").catch(() => {}), 100);
    await gone((result as JsonObject)["pid"]);
    clearInterval(nudging);
    expect((await until(() => ends[0])).code).toBe("server_ended");
  }
});

test("a server that does not read its input in time is stopped, and the connection ends with server_timeout", async () => {
  const { ends, tell, ask } = await started({ stall: 400 });
  const { result } = await ask("pid");
  await tell("pause");
  await sleep(50);
  const text = "x".repeat(1024 * 1024);
  const began = performance.now();
  await expect(tell("echo", { text })).rejects.toMatchObject({ code: "server_timeout" });
  expect(performance.now() - began).toBeGreaterThan(350);
  expect(ends.map(({ code }) => code)).toEqual(["server_timeout"]);
  await gone((result as JsonObject)["pid"]);
});

test("the output of a server is read no faster than its messages are handled", async () => {
  const { server, ask, messages } = await started();
  await ask("pid");
  let taken = 0;
  let handled: () => void = () => {};
  const firstIsHandled = new Promise<void>((resolve) => (handled = resolve));
  server.onMessage = async () => {
    taken++;
    await firstIsHandled;
  };
  const request = JSON.stringify({
    jsonrpc: "2.0",
    id: 5,
    method: "large",
    params: { bytes: 500_000 },
  });
  for (let at = 0; at < 4; at++) await server.send(request);
  await until(() => (taken > 0 ? true : undefined));
  await sleep(200);
  expect(taken).toBe(1);
  handled();
  await until(() => (taken === 4 ? true : undefined));
  expect(messages).toHaveLength(1);
});

test("an answer over the size limit becomes an error, and the next message arrives", async () => {
  const { ask, messages } = await started({ bytes: 1000 });
  expect(await ask("large", { bytes: 2000 })).toMatchObject({ error: { code: -31413 } });
  expect(await ask("large", { bytes: 500 })).toMatchObject({ result: {} });
  expect(messages).toHaveLength(2);
});

test("a server's request over the size limit is answered with an error, and a notification over the limit is dropped", async () => {
  const { tell, messages, ends } = await started({ bytes: 1000 });
  const params = { text: "x".repeat(2000) };
  for (const message of [
    { method: "note", params },
    { id: "s1", method: "sampling", params },
  ]) {
    await tell("write", { text: `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n` });
  }
  const got = await until(() => messages[0]);
  expect(JSON.parse(got)).toMatchObject({
    method: "got",
    params: { id: "s1", error: { code: -31413 } },
  });
  expect(messages).toHaveLength(1);
  expect(ends).toEqual([]);
});

test("a line that is not a message and exceeds the size limit ends the connection with server_unreadable", async () => {
  const { tell, ends, ask } = await started({ bytes: 1000 });
  const { result } = await ask("pid");
  await tell("write", { text: `${"x".repeat(2000)}\n` });
  expect((await until(() => ends[0])).code).toBe("server_unreadable");
  await gone((result as JsonObject)["pid"]);
});

test("log lines among the messages are dropped, and 1,000 log lines in a row end the connection with server_unreadable", async () => {
  const logged: string[] = [];
  const { tell, ask, ends, messages } = await started({ log: (line) => void logged.push(line) });
  await tell("write", { text: "listening on stdio\n\n" });
  await tell("write", { bytes: [0xff, 0xfe, 0x0a] });
  expect(await ask("echo", { a: 1 })).toMatchObject({ result: { a: 1 } });
  expect(messages).toHaveLength(1);
  const dropped = "the server wrote a line that is not an MCP message; it is dropped";
  expect(logged).toEqual([dropped, dropped]);
  await tell("write", { text: "log\n".repeat(1000) });
  const end = await until(() => ends[0]);
  expect(end.code).toBe("server_unreadable");
  expect(end.message).toContain("it wrote 1000 lines that are not MCP messages");
});

test("a thousand messages that are sent one by one keep their order", async () => {
  const { server, messages } = await started();
  for (let id = 0; id < 1000; id++) {
    const params = { text: "x".repeat(id) };
    await server.send(JSON.stringify({ jsonrpc: "2.0", id, method: "echo", params }));
  }
  await until(() => (messages.length === 1000 ? true : undefined));
  expect(messages.map((text) => JSON.parse(text).id)).toEqual([...Array(1000).keys()]);
});
