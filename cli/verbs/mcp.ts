import type { Command } from "commander";
import type { Context } from "../context.js";
import { defineExplain } from "../mcp/explain.js";
import { defineGate } from "../mcp/gate.js";
import { defineLearn } from "../mcp/learn.js";
import { definePins } from "../mcp/pins.js";
import { defineToken } from "../mcp/token.js";
import { addExamples } from "../verb.js";

export function define(program: Command, context: Context): void {
  const mcp = program
    .command("mcp")
    .summary("put capabilities in front of MCP servers")
    .helpCommand(false)
    .description(
      "The gate for MCP: a host starts it in the place of a server, and it passes on what a token allows.",
    );
  defineLearn(mcp, context);
  defineToken(mcp, context);
  defineExplain(mcp, context);
  defineGate(mcp, context);
  definePins(mcp, context);
  addExamples(mcp, [
    "proviso mcp learn --name files -- npx -y @modelcontextprotocol/server-filesystem /data",
    "proviso mcp gate --token @files.token -- npx -y @modelcontextprotocol/server-filesystem /data",
    "proviso mcp token --op read_text_file --arg 'read_text_file:path under /data'",
  ]);
}
