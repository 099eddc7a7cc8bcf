import { once } from "node:events";
import { PassThrough } from "node:stream";
import { expect, onTestFinished, test } from "vitest";
import { serveStdio } from "../../../../src/protocols/mcp/front/stdio-front.js";
import { openTestGate, RawServer, tool } from "./support.js";

/** A host that writes lines to a gate's standard input. */
interface LineHost {
  readonly server: RawServer;
  write(line: string): Promise<void>;
  /** Returns the output of the gate to its standard output. */
  output(): string;
  /** Ends the input. The promise is fulfilled when the gate has ended too. */
  end(): Promise<void>;
}

async function openLineHost(): Promise<LineHost> {
  const server = new RawServer();
  server.answers["initialize"] = {
    protocolVersion: "2025-11-25",
    capabilities: { tools: {} },
    serverInfo: { name: "raw", version: "1" },
  };
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
  onTestFinished(async () => {
    input.end();
    await served;
  });
  return {
    server,
    write: async (line) => {
      if (!input.write(`${line}\n`)) await once(input, "drain");
    },
    output: () => chunks.join(""),
    end: async () => {
      input.end();
      await served;
    },
  };
}

/**
 * Sends lines to a gate's standard input. Returns the server, which has recorded its input, and the output of the gate.
 */
async function send(lines: readonly string[]): Promise<{ server: RawServer; output: string }> {
  const host = await openLineHost();
  for (const line of lines) await host.write(line);
  await host.end();
  return { server: host.server, output: host.output() };
}

const READ = '"method":"tools/call","params":{"name":"read","arguments":{"path":"/data/a"}}';
const DELETE = '"method":"tools/call","params":{"name":"delete","arguments":{"path":"/data/a"}}';

const INITIALIZE =
  '{"jsonrpc":"2.0","id":"open","method":"initialize","params":{"protocolVersion":"2025-11-25"}}';

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
  ["a notification with a property ID", `{"jsonrpc":"2.0","ID":1,${DELETE}}`],
  ["a call of another JSON-RPC version", `{"jsonrpc":"1.0","id":1,${READ}}`],
  ["a second call on a line", `{"jsonrpc":"2.0","id":1,${READ}}{"jsonrpc":"2.0","id":2,${READ}}`],
  ["a call behind a NUL", `\u0000{"jsonrpc":"2.0","id":1,${READ}}`],
  ["a call that is cut off", `{"jsonrpc":"2.0","id":1,${READ}`],
  ["a path that leaves its folder", calling('{"name":"read","arguments":{"path":"/data/../etc"}}')],
  [
    "a folder whose name begins like the allowed folder",
    calling('{"name":"read","arguments":{"path":"/data-evil/x"}}'),
  ],
  ["a path with NUL", calling('{"name":"read","arguments":{"path":"/data/\\u0000/../../etc"}}')],
  ["a path that is an array", calling('{"name":"read","arguments":{"path":["/data/a"]}}')],
  ["one argument too many", calling('{"name":"read","arguments":{"path":"/data/a","mode":"w"}}')],
  [
    "a name with a look-alike letter",
    calling('{"name":"re\\u0430d","arguments":{"path":"/data"}}'),
  ],
  ["arguments in a string", calling('{"name":"read","arguments":"{\\"path\\":\\"/data\\"}"}')],
  ["params in an array", calling('["read",{"path":"/data"}]')],
])("the gate does not pass on a line with %s", async (_, line) => {
  const { server } = await send([line]);
  expect(server.requests("tools/call")).toEqual([]);
});

test.each([
  ["an error", '"error":{"code":-32601,"message":""}'],
  ["a result", '"result":{}'],
])(
  "%s of the host with Method and Params, a call's properties in another letter case, does not reach the server",
  async (_, answer) => {
    const host = await openLineHost();
    await host.write(INITIALIZE);
    await expect.poll(host.output).toContain("serverInfo");
    await host.server.say({ jsonrpc: "2.0", id: "server-1", method: "ping" });
    await expect.poll(host.output).toContain('"method":"ping"');
    const call = '"Method":"tools/call","Params":{"name":"delete","arguments":{"path":"/data/a"}}';
    await host.write(`{"jsonrpc":"2.0","id":1,${answer},${call}}`);
    await host.end();
    expect(host.server.received.join()).not.toContain("delete");
  },
);

test("an answer of the server that also has the properties of a request in another letter case does not reach the host", async () => {
  const host = await openLineHost();
  host.server.answers["tools/call"] = (request) => {
    const answer = { jsonrpc: "2.0", id: request["id"] ?? 0, result: { content: [] } };
    void host.server.say({ ...answer, Method: "sampling/createMessage", Params: {} });
    return undefined;
  };
  await host.write(calling('{"name":"read","arguments":{"path":"/data/a"}}'));
  await host.end();
  expect(host.output()).toContain("server_unreadable");
  expect(host.output()).not.toContain("sampling");
});

test("a line separator in a string does not start a second call at the server", async () => {
  const inner = `{"jsonrpc":"2.0","id":2,${READ}}`.replaceAll('"', '\\"');
  const line = calling(`{"name":"read","arguments":{"path":"/data/a\u2028${inner}"}}`);
  const { server } = await send([line]);
  expect(server.received.every((text) => !/[\u2028\n]/.test(text))).toBe(true);
});

test("an allowed call among refused calls reaches the server", async () => {
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

test("a request fails at once if its answer is nested too deep", async () => {
  const server = new RawServer();
  const deep = `${"[".repeat(64)}${"]".repeat(64)}`;
  const { host } = await openTestGate([server], { anyOperation: true });
  const asked = host.ask({ id: "p", method: "ping" });
  const { id } = await server.request("ping");
  await server.say(`{"jsonrpc":"2.0","id":${id},"result":{"x":${deep}}}`);
  expect(await asked).toMatchObject({
    error: { code: -31502, data: { code: "server_unreadable" } },
  });
});
