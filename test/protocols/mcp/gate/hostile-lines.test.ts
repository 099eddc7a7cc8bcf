import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { serveStdio } from "../../../../src/protocols/mcp/front/stdio-front.js";
import { openTestGate, RawServer, tool } from "./support.js";

/** Sends lines to a gate's standard input; returns what the server was sent, and what the gate has answered. */
async function send(lines: readonly string[]): Promise<{ server: RawServer; output: string }> {
  const server = new RawServer();
  server.answers["tools/list"] = { tools: [tool("read", "path"), tool("delete", "path")] };
  server.answers["tools/call"] = { content: [] };
  const { gate } = await openTestGate([server], {
    operations: ["read"],
    operationConstraints: { read: { path: { path: "/data" } } },
    arguments: { read: ["path"] },
  });
  const [input, output] = [new PassThrough(), new PassThrough()];
  const chunks: string[] = [];
  output.on("data", (chunk) => chunks.push(String(chunk)));
  const { signal } = new AbortController();
  const served = serveStdio({ session: gate, input, output, signal, log: () => {} });
  onTestFinished(() => served);
  for (const line of lines) if (!input.write(`${line}\n`)) await once(input, "drain");
  input.end();
  await served;
  return { server, output: chunks.join("") };
}

const READ = '"method":"tools/call","params":{"name":"read","arguments":{"path":"/data/a"}}';
const DELETE = '"method":"tools/call","params":{"name":"delete","arguments":{"path":"/data/a"}}';

function calling(params: string): string {
  return `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${params}}`;
}

test.each([
  ["a call in a batch", `[{"jsonrpc":"2.0","id":1,${DELETE}}]`],
  [
    "a call behind another in a batch",
    `[{"jsonrpc":"2.0","id":1,${READ}},{"jsonrpc":"2.0","id":2,${DELETE}}]`,
  ],
  ["a name twice", calling('{"name":"read","name":"delete"}')],
  ["params twice", `{"jsonrpc":"2.0","id":1,${READ},"params":{"name":"delete"}}`],
  ["a name twice, once escaped", calling('{"name":"read","n\\u0061me":"delete"}')],
  ["a name in two spellings", calling('{"name":"read","Name":"delete"}')],
  ["an argument twice", calling('{"name":"read","arguments":{"path":"/data","path":"/etc"}}')],
  [
    "an argument in two spellings",
    calling('{"name":"read","arguments":{"path":"/data","PATH":"/etc"}}'),
  ],
  ["a call with null for an id", `{"jsonrpc":"2.0","id":null,${DELETE}}`],
  ["a call without an id", `{"jsonrpc":"2.0",${READ}}`],
  ["a call that is an answer too", `{"jsonrpc":"2.0","id":1,"result":{},${READ}}`],
  ["a call of another JSON-RPC", `{"jsonrpc":"1.0","id":1,${READ}}`],
  ["a second call on a line", `{"jsonrpc":"2.0","id":1,${READ}}{"jsonrpc":"2.0","id":2,${READ}}`],
  ["a call behind a NUL", `\u0000{"jsonrpc":"2.0","id":1,${READ}}`],
  ["a call that is cut off", `{"jsonrpc":"2.0","id":1,${READ}`],
  ["a path that leaves its folder", calling('{"name":"read","arguments":{"path":"/data/../etc"}}')],
  ["a folder that begins alike", calling('{"name":"read","arguments":{"path":"/data-evil/x"}}')],
  ["a path with NUL", calling('{"name":"read","arguments":{"path":"/data/\\u0000/../../etc"}}')],
  ["a path that is an array", calling('{"name":"read","arguments":{"path":["/data/a"]}}')],
  ["one argument too many", calling('{"name":"read","arguments":{"path":"/data/a","mode":"w"}}')],
  [
    "a name with a look-alike letter",
    calling('{"name":"re\\u0430d","arguments":{"path":"/data"}}'),
  ],
  ["arguments in a string", calling('{"name":"read","arguments":"{\\"path\\":\\"/data\\"}"}')],
  ["params in an array", calling('["read",{"path":"/data"}]')],
])("the gate does not pass on to the server: %s", async (_, line) => {
  const { server } = await send([line]);
  expect(server.requests("tools/call")).toEqual([]);
});

test("a call that a line separator hides in a string stays in its string", async () => {
  const inner = `{"jsonrpc":"2.0","id":2,${READ}}`.replaceAll('"', '\\"');
  const line = calling(`{"name":"read","arguments":{"path":"/data/a\u2028${inner}"}}`);
  const { server } = await send([line]);
  expect(server.received.every((text) => !/[\u2028\n]/.test(text))).toBe(true);
});

test("what is allowed reaches the server among everything that is refused", async () => {
  const { server, output } = await send([
    "no JSON",
    `[{"jsonrpc":"2.0","id":1,${DELETE}}]`,
    `{"jsonrpc":"2.0","id":2,${READ}}`,
    "",
    `{"jsonrpc":"2.0","id":3,${DELETE}}`,
  ]);
  expect(server.requests("tools/call")).toHaveLength(1);
  expect(output).toContain('"id":2');
  expect(output).toContain('"id":3');
});
