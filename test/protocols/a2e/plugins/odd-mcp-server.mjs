// A misbehaving MCP server (2025-11-25) over stdio. It crashes, hangs, sends answers that are too large, and asks its
// client for features that the client did not offer.
import { createInterface } from "node:readline";

const send = (message) =>
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
let count = 0;
let asked;
/** Names of tools that the server does not list. */
const withdrawn = new Set(["unlisted"]);

const TOOLS = {
  count: () => ({ content: [], structuredContent: { count: ++count, pid: process.pid } }),
  large: ({ bytes }) => ({ content: [{ type: "text", text: "x".repeat(bytes) }] }),
  // Answers with the text of a file twice: as text, and as structured content.
  read: ({ bytes }) => {
    const text = `${"x".repeat(79)}\n`.repeat(bytes / 80);
    return { content: [{ type: "text", text }], structuredContent: { text } };
  },
  echo: (given) => ({ content: [], structuredContent: given }),
  withdraw: ({ name }) => {
    withdrawn.add(name);
    send({ method: "notifications/tools/list_changed" });
    return { content: [] };
  },
  // A tool that the server does not list.
  unlisted: () => ({ content: [] }),
  crash: () => process.exit(7),
  // Keeps the process running, but reads no further input.
  deafen: () => {
    setInterval(() => {}, 1000);
    process.stdin.destroy();
  },
  hang: (_, { _meta }) => {
    const { progressToken } = _meta ?? {};
    const params = { progressToken, progress: 1, total: 2 };
    if (progressToken !== undefined) send({ method: "notifications/progress", params });
  },
  ask: (_, __, id) => {
    asked = id;
    send({ id: "q1", method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } });
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {}, error } = JSON.parse(line);
  if (id === "q1") {
    const text = error === undefined ? "answered" : `refused: ${error.code}`;
    return send({ id: asked, result: { content: [{ type: "text", text }] } });
  }
  if (method === "initialize") {
    const serverInfo = { name: "odd", version: "1" };
    return send({
      id,
      result: {
        protocolVersion: "2025-11-25",
        capabilities: { tools: { listChanged: true } },
        serverInfo,
      },
    });
  }
  if (method === "tools/list") {
    const names = Object.keys(TOOLS).filter((name) => !withdrawn.has(name));
    return send({
      id,
      result: { tools: names.map((name) => ({ name, inputSchema: { type: "object" } })) },
    });
  }
  if (method === "tools/call") {
    const tool = TOOLS[params.name];
    if (tool === undefined)
      return send({ id, error: { code: -32602, message: "there is no such tool" } });
    const result = tool(params.arguments, params, id);
    if (result !== undefined) send({ id, result });
  } else if (id !== undefined) send({ id, error: { code: -32601, message: "unknown method" } });
});
