// Common parts of the servers of the service bench: the caller, the skill, its executor and the card.
import { AgentEvent } from "@a2a-js/sdk/server";

/** @import { AgentExecutor } from "@a2a-js/sdk/server" */

export const ACCESS_TOKEN = "development-token-of-alice";
export const ALICE = { principal: "alice", invoker: "orchestrator" };
export const BODY_BYTES = 256 * 1024;
/** The SDK's `TaskState`, whose enum is only a type in `@a2a-js/sdk`. */
const WORKING = 2;
const COMPLETED = 3;

/** The work of the skill, the same in every server. */
export const tell = async () => ({ year: 2026 });

/** A card of the SDK for JSON-RPC. @param {string} url */
export function cardAt(url) {
  return {
    name: "Bench",
    description: "Tells the time",
    version: "1.0.0",
    supportedInterfaces: [{ url, protocolBinding: "JSONRPC", protocolVersion: "1.0", tenant: "" }],
    capabilities: { streaming: true, pushNotifications: false, extensions: [] },
    defaultInputModes: ["application/json"],
    defaultOutputModes: ["application/json"],
    skills: [],
    securitySchemes: {},
    securityRequirements: [],
    signatures: [],
    provider: undefined,
    documentationUrl: undefined,
    iconUrl: undefined,
  };
}

/** Runs the skill as the agent's own executor does: task, artifact, status. @type {AgentExecutor} */
export const executor = {
  async execute({ taskId, contextId, userMessage }, bus) {
    const status = (/** @type {number} */ state) => ({
      state,
      message: undefined,
      timestamp: new Date().toISOString(),
    });
    bus.publish(
      AgentEvent.task({
        id: taskId,
        contextId,
        status: status(WORKING),
        artifacts: [],
        history: [userMessage],
        metadata: {},
      }),
    );
    const value = await tell();
    bus.publish(
      AgentEvent.artifactUpdate({
        taskId,
        contextId,
        append: false,
        lastChunk: true,
        metadata: {},
        artifact: {
          artifactId: crypto.randomUUID(),
          name: "result",
          description: "",
          parts: [
            {
              content: { $case: "data", value },
              metadata: {},
              filename: "",
              mediaType: "application/json",
            },
          ],
          metadata: {},
          extensions: [],
        },
      }),
    );
    bus.publish(
      AgentEvent.statusUpdate({ taskId, contextId, status: status(COMPLETED), metadata: {} }),
    );
  },
  cancelTask: async () => {},
};
