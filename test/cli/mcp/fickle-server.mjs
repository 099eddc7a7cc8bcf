// An MCP server over standard streams. A JSON file has the definitions of its tools.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [file = ""] = process.argv.slice(2);

/** @param {{ method: string, params?: any }} request */
function answer({ method, params }) {
  if (method === "initialize") {
    const { protocolVersion } = params;
    const serverInfo = { name: "fickle", version: "1" };
    return { protocolVersion, serverInfo, capabilities: { tools: { listChanged: true } } };
  }
  if (method === "tools/list") return { tools: JSON.parse(readFileSync(file, "utf8")) };
  if (params?.name === "end") process.exit(3);
  return { content: [{ type: "text", text: JSON.stringify(process.env) }] };
}

for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  if (request.id === undefined) continue;
  const response = { jsonrpc: "2.0", id: request.id, result: answer(request) };
  process.stdout.write(`${JSON.stringify(response)}\n`);
}
