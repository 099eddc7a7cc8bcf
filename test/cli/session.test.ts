import { createRequire } from "node:module";
import { createConnection } from "node:net";
import { Duplex, PassThrough } from "node:stream";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { MAIN } from "../support/built.js";
import { Bench, type Document } from "./run.js";
import { RunningHere, RunningProgram } from "./running.js";

const bench = new Bench();
const MCP = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-memory/dist/index.js",
);
const TOOLS = `
  export default ({ configFolder }) => [
    {
      name: "add",
      description: "Adds",
      input: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } }, required: ["a", "b"] },
      run: ({ arguments: { a, b } }) => ({ sum: a + b, configFolder }),
    },
    {
      name: "slow",
      description: "Takes a while",
      input: { type: "object" },
      async run({ send, signal }) {
        await send({ begun: true });
        await new Promise((resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
      },
    },
    { name: "fails", description: "Fails", input: { type: "object" }, run() { throw new Error("secret reason"); } },
  ];
`;
const CONFIG: Document = {
  home: "home",
  plugins: {
    tools: "tools.mjs",
    memory: { entries: 2 },
    proc: {
      programs: {
        say: {
          command: process.execPath,
          args: ["-e", "console.log(process.argv[1]); setInterval(() => {}, 1000)", "{word}"],
          parameters: { word: { type: "string", pattern: "[a-z]+" } },
          required: ["word"],
        },
      },
      limits: { grace: 500 },
    },
    mcp: {
      servers: {
        graph: {
          command: process.execPath,
          args: [MCP],
          env: { MEMORY_FILE_PATH: bench.path("graph.jsonl") },
        },
      },
    },
  },
  limits: {},
};

async function mint(name: string, ...more: string[]): Promise<string> {
  const file = `token-${name}-${more.length}`;
  const principal = more.includes("--principal") ? [] : ["--principal", "alice"];
  bench.write(file, await bench.output("mint", "--grant", `a2e:${name}`, ...principal, ...more));
  return `@${file}`;
}

/** Starts a host, and returns its address. */
async function serve(
  config: Document,
  ...flags: string[]
): Promise<{ running: RunningHere; address: string }> {
  const file = `session-${flags.length}.json`;
  bench.write(file, JSON.stringify(config));
  const running = new RunningHere(["session", "serve", file, "--json", ...flags], {
    cwd: bench.folder,
    env: { PROVISO_HOME: bench.home },
  });
  const { address } = JSON.parse(await running.says(/^\{.*\}$/m));
  return { running, address };
}

const connect = (address: string, args: readonly string[], input = "") =>
  bench.run(["session", "connect", address, ...args], { input });

const lines = (text: string): Document[] =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line));

let tokens: readonly string[] = [];
beforeAll(async () => {
  await bench.init();
  bench.write("tools.mjs", TOOLS);
  const all = ["tools", "memory", "proc", "mcp"].map((name) => mint(name, "--any-op"));
  tokens = (await Promise.all(all)).flatMap((file) => ["--token", file]);
});

describe.each([
  ["TCP", [] as string[]],
  ["a socket", ["--unix", "a2e.sock"]],
])("session over %s", (_, flags) => {
  test("answers each call of every plugin with one JSON line", async () => {
    const { address } = await serve(CONFIG, ...flags);
    const key = `colour-${flags.length}`;
    const at = flags.length === 0 ? address : "./a2e.sock";
    const started = await connect(
      at,
      [...tokens, "--json"],
      [
        "tool/call add a=1 b=2",
        `memory/set key=${key} value="dark green"`,
        "# a remark",
        `memory/get key=${key}`,
        '{"type":"mcp/call/req","server":"graph","tool_name":"create_entities","arguments":{"entities":[{"name":"tea","entityType":"drink","observations":[]}]}}',
        "mcp/call graph/search_nodes query=tea",
        "proc/start say word=hello",
        "proc/list",
        "tool/call add a=1",
        "tool/call ad a=1 b=2",
        "tool/call fails",
      ].join("\n"),
    );
    expect(started.stderr).toBe("");
    const answers = lines(started.stdout);
    expect(answers).toMatchObject([
      { operation: "tool/call", result: { sum: 3, configFolder: bench.folder } },
      { result: { key, made: true } },
      { result: { value: "dark green" } },
      { result: { structuredContent: {} } },
      { result: { structuredContent: { entities: [{ name: "tea" }] } } },
      { result: { program: "say", state: "running" } },
      { result: { processes: [{ program: "say" }] } },
      { error: { code: "arguments_invalid" } },
      { error: { code: "name_unknown" } },
      { error: { code: "plugin_failed" } },
    ]);
    expect(started.stdout).not.toContain("secret reason");
    expect(started.status).toBe(1);
  });
});

describe("session connect", () => {
  test("with --call makes one call, prints the answer or the refusal, and exits with 0 or the refusal's exit code", async () => {
    const { address, running } = await serve(CONFIG);
    const adding = await mint(
      "tools",
      "--op",
      "tool/call",
      "--arg",
      "tool_name=add",
      "--arg",
      "a<=10",
    );
    const call = (...words: string[]) => connect(address, ["--token", adding, "--call", ...words]);
    expect(await call("tool/call", "add", "a=1", "b=2")).toMatchObject({
      status: 0,
      stdout: `sum: 3\nconfigFolder: ${bench.folder}\n`,
    });
    const refused = await call("tool/call", "add", "a=11", "b=2");
    expect(refused).toMatchObject({ status: 1, stdout: "" });
    expect(refused.stderr).toContain("refused for one reason\n  constraint_violated");
    const other = await call("tool/call", "fails", "a=1", "--json");
    expect(JSON.parse(other.stderr)).toMatchObject({
      error: {
        code: "constraint_violated",
        denials: [{ rule: expect.stringContaining("tool_name") }],
      },
    });
    expect((await call("tool/list")).stderr).toContain("operation_denied");
    expect(await call("memory/get", "key=a")).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("memory was not asked for"),
    });
    expect((await call("tol/call")).status).toBe(2);
    running.stop();
    expect(await running.ended).toBe(0);
    // The first request may fail, since it may use a connection that the agent has just closed.
    await expect
      .poll(() => call("tool/list"))
      .toMatchObject({ status: 6, stderr: expect.stringContaining("nothing listens") });
  });

  test("with --stream prints the parts of an answer, and exits with 5 if the token is revoked during the call", async () => {
    const { address } = await serve(CONFIG);
    const token = await mint("tools", "--any-op", "--purpose", "to be revoked");
    const run = new RunningHere(
      [
        "session",
        "connect",
        address,
        "--token",
        token,
        "--json",
        "--stream",
        "--call",
        "tool/call",
        "slow",
      ],
      { cwd: bench.folder },
    );
    await run.says(/"begun":true/);
    await bench.output("revoke", token);
    expect(await run.ended).toBe(5);
    expect(lines(run.stdout)).toMatchObject([
      { chunk: { begun: true } },
      { ended: ["tools"], reason: "revoked" },
    ]);
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: "revoked" } });
  });

  test("reads calls from its input, and exits with 6 if the host shuts down", async () => {
    const { address, running } = await serve(CONFIG);
    const input = new PassThrough();
    const stdio = (): Duplex => Duplex.from({ readable: input, writable: new PassThrough() });
    const session = new RunningHere(["session", "connect", address, ...tokens], {
      cwd: bench.folder,
      stdio,
    });
    input.write("tool/call add a=1 b=2\n");
    await session.says(/sum: 3/);
    running.stop();
    expect(await session.ended).toBe(6);
    expect(session.stderr).toContain("shutting down");
  });

  test("without a token is refused, unless the host's configuration has ambient authority and a policy", async () => {
    const closed = await serve(CONFIG);
    expect(
      await connect(closed.address, ["--ambient", "--caps", "tools", "--call", "tool/list"]),
    ).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("requires one"),
    });
    const rules = [{ principal: "guest", grant: "a2e:tools", operations: ["tool/call"] }];
    const ambient = { principal: "guest", invoker: "anyone", undeclared: "refused" };
    const { address, running } = await serve({ ...CONFIG, policy: { rules }, ambient });
    const add = ["--caps", "tools", "--call", "tool/call", "add", "a=1", "b=2"];
    expect((await connect(address, ["--ambient", ...add])).stdout).toContain("sum: 3");
    expect((await connect(address, add)).stderr).toContain("does not declare");
    expect(
      (await connect(address, ["--ambient", "--caps", "tools", "--call", "tool/list"])).stderr,
    ).toContain("policy_denied");
    running.stop();
    await running.ended;
    const { stdout } = await bench.run(["audit", "--json"]);
    const { events } = JSON.parse(stdout);
    expect(events).toContainEqual(
      expect.objectContaining({ authority: "ambient", principal: "guest" }),
    );
  });

  test("is not needed: a program that writes JSON lines to the host can negotiate, start a process, read its output and be refused", async () => {
    const { address } = await serve(CONFIG);
    const [host = "", port = ""] = address.split(":");
    const socket = createConnection({ host, port: Number(port) });
    onTestFinished(() => void socket.destroy());
    let said = "";
    socket.setEncoding("utf8").on("data", (text: string) => {
      said += text;
    });
    const answer = async (message: object): Promise<Document> => {
      const before = lines(said.slice(0, said.lastIndexOf("\n") + 1)).length;
      socket.write(`${JSON.stringify(message)}\n`);
      await expect
        .poll(() => lines(said.slice(0, said.lastIndexOf("\n") + 1)).length)
        .toBeGreaterThan(before);
      return lines(said.slice(0, said.lastIndexOf("\n") + 1))[before] ?? {};
    };
    const auth_token = ["proc", "tools"]
      .map((name) => bench.read(`token-${name}-1`).trim())
      .join(",");
    const hello = await answer({
      a2e: "1.0",
      type: "handshake/req",
      id: "1",
      ts: Date.now() / 1000,
      agent_id: "nc",
      agent_caps: ["tools", "proc", "env", "multi_agent"],
      auth_token,
    });
    expect(hello).toMatchObject({
      type: "handshake/resp",
      req_id: "1",
      ok: true,
      accepted_caps: [
        {
          capability: "tools",
          enabled: true,
          metadata: { name: "tools", type: "tools", priority: 0, exclusive: false },
        },
        { capability: "proc", enabled: true },
        { capability: "env", enabled: false, metadata: { reason: "no plugin loaded" } },
        { capability: "multi_agent", enabled: false },
      ],
    });
    const session_id = String(hello["session_id"]);
    const begun = await answer({
      type: "proc/start/req",
      id: "2",
      session_id,
      name: "say",
      arguments: { word: "up" },
    });
    const { process: id } = begun["data"];
    const read = await answer({
      type: "proc/read/req",
      id: "3",
      session_id,
      arguments: { process: id, wait: 20_000 },
    });
    expect(read).toMatchObject({ type: "proc/read/resp", data: { text: "up\n" } });
    const missing = await answer({
      type: "memory/get/req",
      id: "4",
      session_id,
      arguments: { key: "a" },
    });
    expect(missing).toMatchObject({
      type: "error",
      req_id: "4",
      code: "capability_missing",
      capability_name: "memory",
    });
  });
});

describe("session serve --stdio", () => {
  test("serves one session to the process that started it", async () => {
    const config = bench.write("stdio.json", JSON.stringify(CONFIG));
    const host = new RunningProgram(
      [MAIN, "session", "serve", config, "--stdio"],
      {},
      bench.folder,
      "pipe",
    );
    const auth_token = bench.read("token-tools-1").trim();
    host.child.stdin?.write(
      `${JSON.stringify({ a2e: "1.0", type: "handshake/req", id: "1", ts: 0, agent_id: "parent", agent_caps: ["tools"], auth_token })}\n`,
    );
    const { session_id } = JSON.parse(await host.says(/^\{.*"handshake\/resp".*\}$/m));
    host.child.stdin?.end(
      `${JSON.stringify({ type: "tool/call/req", id: "2", session_id, tool_name: "add", arguments: { a: 2, b: 2 } })}\n`,
    );
    expect(JSON.parse(await host.says(/^\{.*"tool\/call\/resp".*\}$/m))).toMatchObject({
      data: { sum: 4 },
    });
    expect(await host.ended).toBe(0);
  });
});

test.each([[[]], [["serve"]], [["connect"]]])(
  "the help of session %s has a description, examples, and a text for each option",
  async (verb) => {
    const text = await bench.output("session", ...verb, "--help");
    expect(text).toMatch(/^Usage: proviso session\b.*\n\n[A-Z].*\.\n/s);
    expect(text).toMatch(/^Examples:\n {2}\$ proviso session/m);
    for (const [line] of text.matchAll(/^ {2}-.*$/gm)) expect(line).toMatch(/ {2}\S.* {2,}\S/);
    for (const line of text.split("\n")) {
      if (!line.startsWith("  $")) expect(line.length, line).toBeLessThanOrEqual(80);
    }
  },
);

describe("session serve does not start", () => {
  test.each<[string, Document, string]>([
    [
      "because of an unknown property",
      { plugins: { tool: "x" } },
      'plugins.tool: unknown property; did you mean "tools"?',
    ],
    [
      "because no plugin is configured",
      { plugins: {} },
      "plugins: must have at least one property",
    ],
    [
      "because of ambient authority without a policy",
      { plugins: { memory: {} }, ambient: { principal: "a", invoker: "b" } },
      "policy: is missing",
    ],
    [
      "because a program is missing",
      { plugins: { proc: { programs: { a: { command: "no-such-thing" } } } } },
      "plugins.proc.programs.a.command: there is no program",
    ],
    [
      "because the policy names an operation that no plugin has",
      {
        plugins: { memory: {} },
        policy: { rules: [{ principal: "a", grant: "a2e:memory", operations: ["memory/gt"] }] },
      },
      'did you mean "memory/get"?',
    ],
    ["because a module is missing", { plugins: { tools: "nowhere.mjs" } }, "the tools in"],
  ])("%s", async (_, config, message) => {
    bench.write("wrong.json", JSON.stringify({ home: "home", ...config }));
    const { status, stderr } = await bench.run(["session", "serve", "wrong.json"]);
    expect(stderr).toContain(message);
    expect(status).toBe(6);
  });

  test("because the home lists grants, but not the grants of the plugins", async () => {
    const listed = new Bench();
    await listed.init(
      "--grant",
      "a2e:memory=memory/get,memory/set",
      "--grant",
      "documents:read=retrieve",
    );
    const config = { home: "home", plugins: { memory: {} } };
    listed.write("session.json", JSON.stringify(config));
    const { status, stderr } = await listed.run(["session", "serve", "session.json"]);
    expect(status).toBe(6);
    expect(stderr).toContain(
      'plugins.memory: needs the grant {"id":"a2e:memory","operations":["memory/delete",',
    );
  });
});

test("session serve and session connect refuse wrong options", async () => {
  bench.write("ok.json", JSON.stringify({ home: "home", plugins: { memory: {} } }));
  const usage: [string[], string][] = [
    [["serve", "ok.json", "--stdio", "--unix", "x"], "exclude each other"],
    [["serve", "ok.json", "--listen", "here"], "is not an address"],
    [["connect", "nowhere"], "is not an address"],
    [["connect", "a:1", "add", "a=1"], "without --call"],
    [["connect", "a:1", "--token", "-"], "both come from standard input"],
    [["connect", "a:1", "--token", "x", "--ambient"], "drop one of them"],
  ];
  for (const [args, message] of usage) {
    const { status, stderr } = await bench.run(["session", ...args]);
    expect(stderr).toContain(message);
    expect(status).toBe(2);
  }
  expect((await bench.run(["session", "connect", "a:1", "--token", "AgIB"])).status).toBe(3);
});
