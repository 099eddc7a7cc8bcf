/**
 * Sessions of A2E 1.0, for hosts and clients. A host enables a requested capability if one of its plugins serves the
 * capability and the peer's tokens allow it. The host judges every message.
 *
 * @module proviso/a2e
 */

export type { Presenter } from "../../agent/caller.js";
export { type ConnectOptions, connectSession } from "./client.js";
export type { SessionCallOptions } from "./client-calls.js";
export type { Session, SessionUpdate } from "./client-session.js";
export type { ConnectionLimits } from "./connection.js";
export { A2E_VERSION } from "./dialect.js";
export { SESSION_ERRORS, type SessionErrorCode } from "./errors.js";
export { createSessionHost, type SessionHost, type SessionHostOptions } from "./host.js";
export type { MessageRate, SessionLimits } from "./limits.js";
export {
  CAPABILITY_NAMES,
  type CallTarget,
  type CapabilityName,
  type PluginCall,
  PluginError,
  type PluginOperation,
  type SessionPlugin,
  type SessionScope,
} from "./plugin.js";
export { createMcpPlugin, type McpPluginOptions } from "./plugins/mcp/mcp-plugin.js";
export type { McpServerConfig } from "./plugins/mcp/ready-server.js";
export { createMemoryPlugin, type MemoryPluginOptions } from "./plugins/memory-plugin.js";
export { createProcPlugin, type ProcPluginOptions } from "./plugins/proc/proc-plugin.js";
export type { ProcProgram } from "./plugins/proc/program.js";
export {
  createToolsPlugin,
  type SessionTool,
  type ToolsPluginOptions,
} from "./plugins/tools-plugin.js";
export type { AcceptedEntry } from "./received.js";
export { SessionError } from "./received.js";
export { type PluginMetadata, pluginGrants, pluginOperations } from "./registry.js";
export type { SessionAddress } from "./socket.js";
export type { Timers } from "./timers.js";
