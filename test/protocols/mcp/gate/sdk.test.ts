import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PassThrough } from "node:stream";
import { Client, type ClientOptions } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import type { MintRequest } from "../../../../src/capability/mint.js";
import { serveStdio } from "../../../../src/protocols/mcp/front/stdio-front.js";
import { startStdioServer } from "../../../../src/protocols/mcp/server/stdio-server.js";
import { FULL } from "../../../support/size.js";
import { temporaryFolder } from "../../../support/temporary-folder.js";
import { StreamTransport } from "../support.js";
import { openTestGate, type TestGate } from "./support.js";

const { resolve } = createRequire(import.meta.url);

/** Returns the path of a published server's program. */
function programOf(name: string): string {
  return join(dirname(resolve(`@modelcontextprotocol/${name}/package.json`)), "dist", "index.js");
}

/** Connects the official client to a server through the gate. */
async function connect(
  program: string,
  args: readonly string[],
  allowed: Omit<MintRequest, "grant">,
  { env, ...clientOptions }: ClientOptions & { readonly env?: Record<string, string> } = {},
): Promise<TestGate & { client: Client }> {
  const connection = await startStdioServer({
    command: process.execPath,
    args: [program, ...args],
    env: { ...process.env, ...env },
    onStderr: () => {},
  });
  const gate = await openTestGate([connection], allowed);
  const [toGate, fromGate] = [new PassThrough(), new PassThrough()];
  const transport = new StreamTransport(fromGate, toGate);
  const served = serveStdio({
    session: gate.gate,
    input: toGate,
    output: fromGate,
    signal: new AbortController().signal,
    log: () => {},
  });
  const client = new Client({ name: "test", version: "1" }, clientOptions);
  await client.connect(transport);
  onTestFinished(async () => {
    await client.close();
    await served;
  });
  return { ...gate, client };
}

if (FULL) {
  test("the official client can use only the tools of server-memory that the token allows", async () => {
    const folder = temporaryFolder();
    const { client } = await connect(
      programOf("server-memory"),
      [],
      { operations: ["create_entities", "read_graph"] },
      { env: { MEMORY_FILE_PATH: join(folder, "memory.json") } },
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
}

if (FULL) {
  test("the official client can read files of server-filesystem only in the folder that the token allows", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "open"));
    writeFileSync(join(folder, "open", "a.txt"), "hello");
    writeFileSync(join(folder, "secret.txt"), "password");
    const path = { path: join(folder, "open") };
    const { client } = await connect(programOf("server-filesystem"), [folder], {
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
}

test("the official client can use tools, resources and prompts of server-everything with an unlimited token", async () => {
  const { client } = await connect(programOf("server-everything"), ["stdio"], {
    anyOperation: true,
  });
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

const MODERN = join(import.meta.dirname, "children", "modern-server.mjs");
const NEW_ERA = { versionNegotiation: { mode: { pin: "2026-07-28" } } } as const;

test("in the new era, a payment succeeds after the user has confirmed it", async () => {
  const { client } = await connect(
    MODERN,
    [],
    {
      operations: ["pay", "client:elicitation"],
      operationConstraints: { pay: { amount: { max: 50 } } },
    },
    { ...NEW_ERA, capabilities: { elicitation: { form: {} } } },
  );
  const asked: string[] = [];
  client.setRequestHandler("elicitation/create", async ({ params }) => {
    asked.push(params.message);
    return { action: "accept", content: { confirm: true } };
  });
  expect(client.getProtocolEra()).toBe("modern");
  const { tools } = await client.listTools();
  expect(tools).toMatchObject([
    { name: "pay", inputSchema: { properties: { amount: { maximum: 50 } } } },
  ]);
  const pay = (amount: number) =>
    client.callTool({ name: "pay", arguments: { amount, to: "Ann" } });
  expect(await pay(10)).toMatchObject({ content: [{ text: "paid 10 to Ann" }] });
  expect(asked).toEqual(["Pay 10 to Ann?"]);
  expect(await pay(51)).toMatchObject({ isError: true });
  expect(asked).toHaveLength(1);
});

test("in the new era, the user is not asked if the token does not allow client:elicitation", async () => {
  const { client } = await connect(
    MODERN,
    [],
    { operations: ["pay"] },
    { ...NEW_ERA, capabilities: { elicitation: { form: {} } } },
  );
  let asked = 0;
  client.setRequestHandler("elicitation/create", async () => {
    asked++;
    return { action: "accept", content: { confirm: true } };
  });
  const answer = await client.callTool({ name: "pay", arguments: { amount: 1, to: "Ann" } });
  expect(answer).toMatchObject({ isError: true });
  expect(asked).toBe(0);
});

test.each([
  ["new", NEW_ERA],
  ["old", { versionNegotiation: { mode: "legacy" } }],
] as const)(
  "a client of the %s era is notified of a tool that the server adds, and can call it",
  async (_, options) => {
    let changes = 0;
    const { client } = await connect(
      MODERN,
      [],
      { operations: ["late", "reveal"] },
      { ...options, listChanged: { tools: { onChanged: () => void changes++ } } },
    );
    const names = async () =>
      (await client.listTools({}, { cacheMode: "refresh" })).tools.map(({ name }) => name);
    expect(await names()).toEqual(["reveal"]);
    await client.callTool({ name: "reveal", arguments: {} });
    await expect.poll(() => changes).toBeGreaterThan(0);
    expect((await names()).sort()).toEqual(["late", "reveal"]);
    expect(await client.callTool({ name: "late", arguments: {} })).toMatchObject({
      content: [{ text: "late" }],
    });
  },
);

test("a client of both eras uses the new era with a server of both eras", async () => {
  const { client } = await connect(
    MODERN,
    [],
    { operations: ["reveal"] },
    { versionNegotiation: { mode: "auto" } },
  );
  expect(client.getProtocolEra()).toBe("modern");
});

test("a client of both eras uses the old era with a server of the old era", async () => {
  const { client } = await connect(
    programOf("server-memory"),
    [],
    { operations: ["read_graph"] },
    {
      versionNegotiation: { mode: "auto" },
      env: { MEMORY_FILE_PATH: join(temporaryFolder(), "memory.json") },
    },
  );
  expect(client.getProtocolEra()).toBe("legacy");
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["read_graph"]);
});
