import { PassThrough } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import {
  type StdioFrontOptions,
  serveStdio,
} from "../../../../src/protocols/mcp/front/stdio-front.js";
import { startStdioServer } from "../../../../src/protocols/mcp/server/stdio-server.js";
import { Recorder, Relay, StreamTransport } from "../support.js";

const stops: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

function served(options: Partial<StdioFrontOptions> = {}) {
  const session = new Recorder();
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  const logged: string[] = [];
  const log = (line: string): void => void logged.push(line);
  const over = serveStdio({ session, input, output, signal: stop.signal, log, ...options });
  stops.push(() => {
    stop.abort();
    return over;
  });
  const written = (): string[] => (output.read() ?? "").toString().split("\n").filter(Boolean);
  return { session, input, output, stop, logged, over, written };
}

const request = (id: number, method = "ping"): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method });

test("the official client works through the stdio front and a stdio connection to a published server", async () => {
  const path = import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js");
  const server = await startStdioServer({
    command: process.execPath,
    args: [fileURLToPath(path)],
    env: { ...process.env, MEMORY_FILE_PATH: "/nowhere/memory.json" },
    onStderr: () => {},
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const stop = new AbortController();
  const over = serveStdio({
    session: new Relay(server),
    input,
    output,
    signal: stop.signal,
    log: () => {},
  });
  const client = new Client(
    { name: "test", version: "1" },
    { versionNegotiation: { mode: "auto" } },
  );
  await client.connect(new StreamTransport(output, input));
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain("read_graph");
  const { content, isError } = await client.callTool({ name: "read_graph", arguments: {} });
  expect(isError).not.toBe(true);
  expect(JSON.stringify(content)).toContain("entities");
  await client.close();
  // The host has closed its end, so the server and the front end.
  await over;
  await expect(server.send(request(1))).rejects.toMatchObject({ code: "server_ended" });
});

test("the session gets every message unchanged and in order, in whatever pieces the lines arrive", async () => {
  const texts = [
    request(1),
    '{ "jsonrpc":"2.0", "id":"é🙂", "method":"tools/call" , "params":{} }',
    '{"jsonrpc":"2.0","method":"notifications/x"}',
    '{"jsonrpc":"2.0","id":9,"result":{"text":"\\u2028"}}',
  ];
  const bytes = Buffer.from(texts.map((text) => `${text}\r\n`).join("\n"));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(bytes.length)), async (places) => {
      const { session, input, over } = served({ grace: 0 });
      const cuts = [0, ...places.sort((a, b) => a - b), bytes.length];
      for (const [at, end] of cuts.entries()) {
        if (at > 0) input.write(bytes.subarray(cuts[at - 1], end));
      }
      input.end();
      await over;
      expect(session.received.map(({ message }) => message.text)).toEqual(
        texts.map((text) => `${text}\r`),
      );
      expect(session.isClosed).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test("a refused message does not reach the session, and a valid message after refused messages does", async () => {
  const { session, input, written, logged } = served({ bytes: 1000 });
  const long = "x".repeat(2000);
  const lines = [
    "no JSON",
    `[${request(1)}]`,
    '{"jsonrpc":"2.0","id":2,"method":"ping","method":"tools/call"}',
    `{"method":"tools/call","params":{"x":"${long}"},"jsonrpc":"2.0","id":3}`,
    `{"method":"notifications/x","params":{"x":"${long}"},"jsonrpc":"2.0"}`,
    '{"jsonrpc":"2.0","id":4,"result":{"a":1,"a":2}}',
    `{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"x":${"[".repeat(65)}${"]".repeat(65)}}}`,
    `{"method":"tools/call","params":{"x":${"[".repeat(65)}${"]".repeat(65)}},"jsonrpc":"2.0","id":"seven"}`,
    long,
    request(5),
  ];
  for (const line of lines) input.write(`${line}\n`);
  await expect.poll(() => session.received.map(({ message }) => message.id)).toEqual([5]);
  const answers = written().map((text) => JSON.parse(text));
  expect(answers.map(({ id, error }) => [id, error.code])).toEqual([
    [undefined, -32700],
    [undefined, -32600],
    [2, -32600],
    [3, -31413],
    [6, -32600],
    ["seven", -32600],
  ]);
  expect(logged).toHaveLength(9);
});

test("an answer of the host over the size limit becomes an error for the server that has asked", async () => {
  const { session, input } = served({ bytes: 1000 });
  input.write(`{"jsonrpc":"2.0","id":"s1","result":{"x":"${"x".repeat(2000)}"}}\n`);
  await expect
    .poll(() => session.received[0]?.message)
    .toMatchObject({ kind: "response", id: "s1", value: { error: { code: -31413 } } });
});

test("a request has one answer: messages before the answer are sent, and messages after it are dropped", async () => {
  const { session, input, written } = served();
  input.write(`${request(1)}\n`);
  await expect.poll(() => session.received.length).toBe(1);
  const { exchange } = session.received[0] ?? {};
  await exchange?.send('{"jsonrpc":"2.0","method":"notifications/progress"}');
  await exchange?.send('{\n"jsonrpc":"2.0","id":1,"result":{"s":"\u2028"}}');
  await exchange?.send('{"jsonrpc":"2.0","id":1,"result":{}}');
  await session.toHost('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}');
  expect(written()).toEqual([
    '{"jsonrpc":"2.0","method":"notifications/progress"}',
    '{ "jsonrpc":"2.0","id":1,"result":{"s":"\\u2028"}}',
    '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}',
  ]);
});

test("the era of a request follows from the protocol version that the request carries", async () => {
  const { session, input } = served();
  const meta = { "io.modelcontextprotocol/protocolVersion": "2026-07-28" };
  for (const params of [{}, { _meta: meta }]) {
    input.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params })}\n`);
  }
  await expect
    .poll(() => session.received.map(({ exchange }) => exchange.era))
    .toEqual(["old", "new"]);
});

test("when the host has closed its end, open requests are still answered", async () => {
  const { session, input, written, over } = served();
  session.onReceive = async (_, exchange) => {
    void sleep(100).then(() => exchange.send('{"jsonrpc":"2.0","id":1,"result":{}}'));
  };
  // The last line has no line feed.
  input.end(request(1));
  await over;
  expect(written()).toEqual(['{"jsonrpc":"2.0","id":1,"result":{}}']);
  expect(session.received[0]?.exchange.signal.aborted).toBe(true);
  expect(session.isClosed).toBe(true);
});

test("after the end of the input, a request without an answer keeps the front open no longer than the grace time", async () => {
  const { input, over, session } = served({ grace: 50 });
  input.end(`${request(1)}\n`);
  await over;
  expect(session.isClosed).toBe(true);
});

test("after the end of the input, subscriptions and cancelled requests do not keep the front open", async () => {
  const { session, input, over } = served({ grace: 600_000 });
  const params = { requestId: 2 };
  input.write(`${request(1, "subscriptions/listen")}\n${request(2, "tools/call")}\n`);
  await expect.poll(() => session.received.length).toBe(2);
  input.write(`${JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params })}\n`);
  input.end();
  await over;
});

test("an aborted signal ends the session at once, even in the middle of a line and of a request", async () => {
  const { session, input, stop, over } = served();
  session.onReceive = () => new Promise(() => {});
  input.write(`${request(1)}\n{"jsonrpc"`);
  await expect.poll(() => session.received.length).toBe(1);
  stop.abort();
  await over;
  expect(session.isClosed).toBe(true);
  expect(session.received[0]?.exchange.signal.aborted).toBe(true);
});

test("the session ends when the output stream to the host fails", async () => {
  const { output, over, session } = served();
  output.destroy(new Error("EPIPE"));
  await over;
  expect(session.isClosed).toBe(true);
});

test("a failure of the session is answered with an internal error that does not show the cause", async () => {
  const { session, input, written, logged } = served();
  session.onReceive = async () => {
    throw new Error("secret");
  };
  input.write(`${request(1)}\n{"jsonrpc":"2.0","method":"x"}\n`);
  await expect.poll(() => session.received.length).toBe(2);
  const answers: string[] = [];
  await expect
    .poll(() => {
      answers.push(...written());
      return answers.map((text) => JSON.parse(text));
    })
    .toEqual([{ jsonrpc: "2.0", id: 1, error: { code: -32603, message: "internal error" } }]);
  expect(logged.join()).not.toContain("secret");
});

test("while the host does not read its answers, the front passes no further requests to the session", async () => {
  const output = new PassThrough({ highWaterMark: 1000 });
  const { session, input } = served({ output });
  let sent = 0;
  session.onReceive = async (_, exchange) => {
    await exchange.send(`{"jsonrpc":"2.0","id":1,"result":{"x":"${"x".repeat(2000)}"}}`);
    sent++;
  };
  for (let at = 0; at < 5; at++) input.write(`${request(1)}\n`);
  await sleep(50);
  expect([session.received.length, sent]).toEqual([1, 0]);
  output.resume();
  await expect.poll(() => [session.received.length, sent]).toEqual([5, 5]);
});
