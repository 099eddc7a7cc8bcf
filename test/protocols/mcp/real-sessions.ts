import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "@modelcontextprotocol/client";
import { publishedServer } from "../../support/mcp-servers.js";

/** A session with a published MCP server. It is the same each time that it is played in a new folder. */
export interface RealSession {
  readonly name: string;
  /** The server's command. */
  command(folder: string): readonly string[];
  env?(folder: string): { readonly [name: string]: string };
  /** Prepares the folder on which the server works. */
  prepare?(folder: string): void;
  /** Matches the parts of the server's answers that depend on the time. */
  readonly clock?: RegExp;
  /** Makes the calls from which a token is learned. */
  run(client: Client, folder: string): Promise<void>;
  /** A call of a tool that the session uses, with arguments that the session does not use. */
  readonly outside: (folder: string) => {
    readonly name: string;
    readonly arguments: { [name: string]: unknown };
  };
  /** A tool that the session does not use; absent if it uses all tools. */
  readonly unused?: string;
}

function caller(client: Client) {
  return (name: string, given: { [name: string]: unknown } = {}) =>
    client.callTool({ name, arguments: given });
}

export const REAL_SESSIONS: readonly RealSession[] = [
  {
    name: "@modelcontextprotocol/server-filesystem",
    command: (folder) => publishedServer("@modelcontextprotocol/server-filesystem", folder),
    prepare(folder) {
      mkdirSync(join(folder, "docs", "sub"), { recursive: true });
      writeFileSync(join(folder, "docs", "a.txt"), "one\ntwo – drei\n");
      writeFileSync(join(folder, "docs", "sub", "b.txt"), "{}\n");
    },
    async run(client, folder) {
      const call = caller(client);
      const docs = join(folder, "docs");
      await call("list_allowed_directories");
      await call("list_directory", { path: docs });
      await call("list_directory", { path: join(docs, "sub") });
      await call("read_text_file", { path: join(docs, "a.txt"), head: 1 });
      await call("read_text_file", { path: join(docs, "sub", "b.txt") });
      await call("read_text_file", { path: join(docs, "none.txt") });
      await call("read_multiple_files", {
        paths: [join(docs, "a.txt"), join(docs, "sub", "b.txt")],
      });
      await call("write_file", { path: join(docs, "new.txt"), content: "x\n".repeat(500) });
      await call("edit_file", {
        path: join(docs, "a.txt"),
        edits: [{ oldText: "one", newText: "1" }],
      });
      await call("edit_file", { path: join(docs, "new.txt"), edits: [], dryRun: true });
      await call("search_files", { path: docs, pattern: "*.txt" });
      await call("move_file", {
        source: join(docs, "new.txt"),
        destination: join(docs, "moved.txt"),
      });
    },
    outside: (folder) => ({
      name: "read_text_file",
      arguments: { path: join(folder, "docs-2", "x") },
    }),
    unused: "create_directory",
  },
  {
    name: "@modelcontextprotocol/server-everything",
    command: () => publishedServer("@modelcontextprotocol/server-everything", "stdio"),
    async run(client) {
      const call = caller(client);
      await call("echo", { message: 'hello \u2028 wörld "quoted" \\' });
      await call("get-sum", { a: 1, b: 2.5 });
      await call("get-sum", { a: -3, b: 1e21 });
      await call("get-annotated-message", { messageType: "error", includeImage: true });
      await call("get-tiny-image");
      await call("get-structured-content", { location: "Chicago" });
      await call("get-resource-links", { count: 2 });
      await call("get-roots-list");
      await call("trigger-sampling-request", { prompt: "Say hello", maxTokens: 10 });
      await call("trigger-elicitation-request");
      await client.callTool(
        { name: "trigger-long-running-operation", arguments: { duration: 0.2, steps: 2 } },
        { onprogress: () => {} },
      );
      const { resources } = await client.listResources();
      for (const { uri } of resources.slice(0, 2)) await client.readResource({ uri });
      await client.listResourceTemplates();
      await client.listPrompts();
      await client.getPrompt({ name: "args-prompt", arguments: { city: "Ulm" } });
      await client.complete({
        ref: { type: "ref/prompt", name: "completable-prompt" },
        argument: { name: "department", value: "E" },
      });
    },
    outside: () => ({ name: "get-sum", arguments: { a: 1, b: 1e22 } }),
    unused: "get-env",
  },
  {
    name: "time-mcp",
    command: () => publishedServer("time-mcp"),
    async run(client) {
      const call = caller(client);
      await call("days_in_month", { date: "2024-02-01" });
      await call("get_week_year", { date: "2026-11-26" });
      await call("get_timestamp", { time: "2026-11-26 05:00:00.000" });
      const zones = { sourceTimezone: "Europe/Berlin", targetTimezone: "Asia/Tokyo" };
      await call("convert_time", { ...zones, time: "2026-11-26 05:00:00" });
    },
    outside: () => ({ name: "days_in_month", arguments: { date: "2025-02-01" } }),
    unused: "current_time",
  },
  {
    name: "@modelcontextprotocol/server-memory",
    command: () => publishedServer("@modelcontextprotocol/server-memory"),
    env: (folder) => ({ MEMORY_FILE_PATH: join(folder, "graph.jsonl") }),
    async run(client) {
      const call = caller(client);
      const tea = { name: "tea", entityType: "drink", observations: ["hot"] };
      await call("create_entities", {
        entities: [tea, { ...tea, name: "mate", observations: [] }],
      });
      await call("create_relations", {
        relations: [{ from: "tea", to: "mate", relationType: "like" }],
      });
      await call("add_observations", {
        observations: [{ entityName: "tea", contents: ["green"] }],
      });
      await call("add_observations", { observations: [{ entityName: "none", contents: [] }] });
      await call("search_nodes", { query: "tea" });
      await call("open_nodes", { names: ["tea", "none"] });
      await call("read_graph");
    },
    outside: () => ({ name: "open_nodes", arguments: { names: ["coffee"] } }),
    unused: "delete_entities",
  },
  {
    name: "@itseasy21/mcp-knowledge-graph",
    clock: /\d{4}-\d\d-\d\dT[\d:.]+Z/g,
    command: (folder) =>
      publishedServer("@itseasy21/mcp-knowledge-graph", "--memory-path", join(folder, "old.jsonl")),
    async run(client) {
      const call = caller(client);
      await call("create_entities", {
        entities: [{ name: "tea", entityType: "drink", observations: ["hot"] }],
      });
      await call("search_nodes", { query: "tea" });
      await call("search_nodes", { query: "coffee" });
    },
    outside: () => ({ name: "search_nodes", arguments: { query: "else" } }),
    unused: "delete_entities",
  },
  {
    name: "@modelcontextprotocol/server-sequential-thinking",
    command: () => publishedServer("@modelcontextprotocol/server-sequential-thinking"),
    async run(client) {
      const call = caller(client);
      for (const thoughtNumber of [1, 2, 3, 4]) {
        await call("sequentialthinking", {
          thought: `This is thought ${thoughtNumber}`,
          nextThoughtNeeded: thoughtNumber < 4,
          thoughtNumber,
          totalThoughts: 4,
        });
      }
    },
    outside: () => ({
      name: "sequentialthinking",
      arguments: { thought: "x", nextThoughtNeeded: true, thoughtNumber: 5, totalThoughts: 4 },
    }),
  },
  {
    name: "@kazuph/mcp-taskmanager",
    command: () => publishedServer("@kazuph/mcp-taskmanager"),
    env: (folder) => ({ TASK_MANAGER_FILE_PATH: join(folder, "tasks.json") }),
    async run(client) {
      const call = caller(client);
      const task = (title: string) => ({ title, description: `Do ${title}` });
      await call("request_planning", { originalRequest: "Tidy up", tasks: [task("a"), task("b")] });
      await call("get_next_task", { requestId: "req-1" });
      await call("mark_task_done", { requestId: "req-1", taskId: "task-1" });
      await call("approve_task_completion", { requestId: "req-1", taskId: "task-1" });
      await call("list_requests");
      await call("open_task_details", { taskId: "task-2" });
    },
    outside: () => ({ name: "open_task_details", arguments: { taskId: "task-3" } }),
    unused: "delete_task",
  },
];
