// An MCP server over standard streams. Its tool reports progress, and answers with 4,000,000 characters.
import { createInterface } from "node:readline";

const tool = { name: "large", description: "A tool", inputSchema: { type: "object" } };
const content = [{ type: "text", text: "x".repeat(4_000_000) }];

const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const { progressToken } = params?._meta ?? {};
  if (progressToken !== undefined) {
    const progress = { progressToken, progress: 1 };
    write({ jsonrpc: "2.0", method: "notifications/progress", params: progress });
  }
  const isList = method === "tools/list";
  const result = isList
    ? { tools: [tool], ttlMs: 0, cacheScope: "private" }
    : { content, resultType: "complete" };
  write({ jsonrpc: "2.0", id, result });
}
