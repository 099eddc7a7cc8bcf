// A server made with the official SDK that speaks both eras over standard streams. It asks the user before it pays.
import {
  acceptedContent,
  fromJsonSchema,
  inputRequired,
  McpServer,
} from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const confirmation = {
  type: "object",
  properties: { confirm: { type: "boolean" } },
  required: ["confirm"],
};

serveStdio(() => {
  const server = new McpServer({ name: "bank", version: "1.0.0" });
  server.registerTool(
    "pay",
    {
      description: "pays",
      inputSchema: fromJsonSchema({
        type: "object",
        properties: { amount: { type: "number" }, to: { type: "string" } },
        required: ["amount", "to"],
      }),
    },
    async ({ amount, to }, ctx) => {
      const answer = acceptedContent(ctx.mcpReq.inputResponses, "confirm");
      if (answer?.confirm !== true) {
        const message = `Pay ${amount} to ${to}?`;
        const confirm = inputRequired.elicit({ message, requestedSchema: confirmation });
        return inputRequired({ inputRequests: { confirm }, requestState: `pay-${amount}` });
      }
      return { content: [{ type: "text", text: `paid ${amount} to ${to}` }] };
    },
  );
  const late = server.registerTool("late", { description: "appears later" }, async () => ({
    content: [{ type: "text", text: "late" }],
  }));
  late.disable();
  server.registerTool("reveal", { description: "shows the other tool" }, async () => {
    late.enable();
    return { content: [{ type: "text", text: "look again" }] };
  });
  return server;
});
