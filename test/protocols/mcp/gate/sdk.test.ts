import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { Client, type JSONRPCMessage, type Transport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { LineSplitter } from "../../../../src/bytes/line-splitter.js";
import type { MintRequest } from "../../../../src/capability/mint.js";
import { serveStdio } from "../../../../src/protocols/mcp/front/stdio-front.js";
import { startStdioServer } from "../../../../src/protocols/mcp/server/stdio-server.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { openTestGate } from "./support.js";

const { resolve } = createRequire(import.meta.url);

/** The program of a published server. */
function programOf(name: string): string {
  return join(dirname(resolve(`@modelcontextprotocol/${name}/package.json`)), "dist", "index.js");
}

/** Speaks to a gate's standard streams. */
class StreamTransport implements Transport {
  onmessage?: (message: JSONRPCMessage) => void;
  onclose?: () => void;
  readonly toGate = new PassThrough();
  readonly fromGate = new PassThrough();

  async start(): Promise<void> {
    const splitter = new LineSplitter(1 << 24);
    this.fromGate.on("data", (chunk: Uint8Array) => {
      for (const line of splitter.split(chunk)) {
        if (line.kind === "line") this.onmessage?.(JSON.parse(Buffer.from(line.bytes).toString()));
      }
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    this.toGate.write(`${JSON.stringify(message)}\n`);
  }

  async close(): Promise<void> {
    this.toGate.end();
    this.onclose?.();
  }
}

/** Connects the official client to a published server through the gate. */
async function connect(
  server: string,
  args: readonly string[],
  allowed: Omit<MintRequest, "grant">,
  env: Record<string, string> = {},
): Promise<{ client: Client; log: readonly string[] }> {
  const connection = await startStdioServer({
    command: process.execPath,
    args: [programOf(server), ...args],
    env: { ...process.env, ...env, PROVISO_SECRET: "never passed on" },
    onStderr: () => {},
  });
  const { gate, log } = await openTestGate([connection], allowed);
  const transport = new StreamTransport();
  const served = serveStdio({
    session: gate,
    input: transport.toGate,
    output: transport.fromGate,
    signal: new AbortController().signal,
    log: () => {},
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(transport);
  onTestFinished(async () => {
    await client.close();
    await served;
  });
  return { client, log };
}

test("the official client uses server-memory through the gate, within its token", async () => {
  const folder = temporaryFolder();
  const { client } = await connect(
    "server-memory",
    [],
    { operations: ["create_entities", "read_graph"] },
    { MEMORY_FILE_PATH: join(folder, "memory.json") },
  );
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(["create_entities", "read_graph"]);
  const entities = [{ name: "Ann", entityType: "person", observations: ["pays"] }];
  const made = await client.callTool({ name: "create_entities", arguments: { entities } });
  expect(made.isError).toBeFalsy();
  const graph = await client.callTool({ name: "read_graph", arguments: {} });
  expect(JSON.stringify(graph.content)).toContain("Ann");
  const refused = await client.callTool({
    name: "delete_entities",
    arguments: { entityNames: ["Ann"] },
  });
  expect(refused).toMatchObject({ isError: true });
  const after = await client.callTool({ name: "read_graph", arguments: {} });
  expect(JSON.stringify(after.content)).toContain("Ann");
});

test("the official client reads one folder of server-filesystem through the gate", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "open"));
  writeFileSync(join(folder, "open", "a.txt"), "hello");
  writeFileSync(join(folder, "secret.txt"), "password");
  const path = { path: join(folder, "open") };
  const { client } = await connect("server-filesystem", [folder], {
    operations: ["list_directory", "read_text_file"],
    operationConstraints: { read_text_file: { path }, list_directory: { path } },
  });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).sort()).toEqual(["list_directory", "read_text_file"]);
  const read = (name: string) =>
    client.callTool({ name: "read_text_file", arguments: { path: join(folder, name) } });
  expect(JSON.stringify(await read("open/a.txt"))).toContain("hello");
  const refused = await read("secret.txt");
  expect(refused).toMatchObject({ isError: true });
  expect(JSON.stringify(refused)).not.toContain("password");
});

test("the official client uses everything of server-everything through the gate", async () => {
  const { client } = await connect("server-everything", ["stdio"], { anyOperation: true });
  const { tools } = await client.listTools();
  expect(tools.length).toBeGreaterThan(5);
  const echo = await client.callTool({ name: "echo", arguments: { message: "hi" } });
  expect(JSON.stringify(echo.content)).toContain("hi");
  const { resources } = await client.listResources();
  const [first] = resources;
  expect(first).toBeDefined();
  const read = await client.readResource({ uri: first?.uri ?? "" });
  expect(read.contents.length).toBe(1);
  const { prompts } = await client.listPrompts();
  expect(prompts.length).toBeGreaterThan(0);
});
