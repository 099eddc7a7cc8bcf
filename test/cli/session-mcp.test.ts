import { createRequire } from "node:module";
import { beforeAll, describe, expect, test } from "vitest";
import { FULL } from "../support/size.js";
import { Bench, type Document } from "./run.js";
import { RunningHere } from "./running.js";

const bench = new Bench();
const MCP = createRequire(import.meta.url).resolve(
  "@modelcontextprotocol/server-memory/dist/index.js",
);
const config = (server: Document): string =>
  JSON.stringify({ home: "home", plugins: { mcp: { servers: { graph: server } } } });
const GRAPH = {
  command: process.execPath,
  args: [MCP],
  env: { MEMORY_FILE_PATH: bench.path("graph.jsonl") },
};

beforeAll(async () => {
  await bench.init();
  const minted = ["mint", "--grant", "a2e:mcp", "--any-op", "--principal", "alice"];
  await bench.output(...minted, "--output", "token");
});

describe("a failed tool of an MCP server", () => {
  const serve = async (): Promise<string> => {
    bench.write("session.json", config(GRAPH));
    const options = { cwd: bench.folder, env: { PROVISO_HOME: bench.home } };
    const running = new RunningHere(["session", "serve", "session.json", "--json"], options);
    return JSON.parse(await running.says(/^\{.*\}$/m)).address;
  };
  // The entity does not exist, so the tool answers with an error.
  const FAILING = `mcp/call graph/add_observations observations=[{"entityName":"none","contents":["x"]}]`;

  test("makes session connect --call exit with 6 and print the tool's answer", async () => {
    const words = FAILING.split(" ");
    const connect = ["session", "connect", await serve(), "--token", "@token"];
    const failed = await bench.run([...connect, "--call", ...words]);
    expect(failed.stdout).toContain("isError: true");
    expect(failed.stderr).toBe("the tool failed; its answer says why\n");
    expect(failed.status).toBe(6);
    const fine = await bench.run([...connect, "--call", "mcp/call", "graph/read_graph"]);
    expect(fine).toMatchObject({ status: 0, stderr: "" });
  });

  if (FULL) {
    test("does not stop session connect, which makes the later calls of its input and exits with 6", async () => {
      const { status, stdout } = await bench.run(
        ["session", "connect", await serve(), "--token", "@token", "--json"],
        { input: `${FAILING}\nmcp/call graph/read_graph\n` },
      );
      const answers = stdout.trimEnd().split("\n");
      expect(answers).toHaveLength(2);
      expect(JSON.parse(answers[1] ?? "").result.isError).not.toBe(true);
      expect(status).toBe(6);
    });
  }
});

describe("session serve refuses at its start an MCP server whose program cannot be run", () => {
  test.each<[string, Document, string]>([
    ["because the program is not in PATH", { command: "no-such-program-of-mcp" }, "in PATH"],
    [
      "because the program's path does not exist",
      { command: "./no-such-program" },
      `from ${bench.folder}`,
    ],
    [
      "because the program is not in the server's own PATH",
      { command: "sh", env: { PATH: "/nonexistent" } },
      "in PATH",
    ],
    ["because the file is not executable", { command: "./session.json" }, `from ${bench.folder}`],
  ])("%s", async (_what, server, where) => {
    bench.write("session.json", config(server));
    const run = await bench.run(["session", "serve", "session.json", "--json"]);
    expect(run).toMatchObject({ status: 6, stdout: "" });
    const { code, problems } = JSON.parse(run.stderr).error;
    expect(code).toBe("config_invalid");
    expect(problems).toMatchObject([{ path: "plugins.mcp.servers.graph.command" }]);
    expect(problems[0].message).toContain(`there is no program "${server["command"]}" ${where}`);
  });
});
