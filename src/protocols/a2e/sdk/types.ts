// The dialect of A2E's published SDK. Its messages are converted to calls of operations. Each call is judged like a
// call in proviso's own dialect, so a peer with the SDK can do nothing more than other peers.

/** The properties of the SDK's requests, without those that every message has; by message type without `/req`. */
export const SDK_TYPES: { readonly [operation: string]: readonly string[] } = {
  "tool/list": ["filter_kind", "filter_tags", "query", "include_deferred"],
  "tool/call": ["tool_name", "arguments"],
  "skill/discover": ["filter_tags", "filter_categories"],
  "skill/call": ["name", "arguments", "llm_override", "metadata"],
  "toolkit/list": ["filter_kind", "filter_tags"],
  "toolkit/configure": ["toolkit_name", "config"],
  "memory/init": ["namespace", "scope", "metadata"],
  "memory/store": ["memory_id", "entries"],
  "memory/retrieve": ["memory_id", "keys", "query", "tags", "tier", "limit", "min_score"],
  "memory/forget": ["memory_id", "keys", "tags", "tier"],
  "proc/spawn": ["cmd", "cwd", "env", "stdin_mode", "timeout"],
  "proc/write": ["proc_id", "data", "eof"],
  "proc/status": ["proc_id"],
  "proc/kill": ["proc_id", "signal"],
  "env/reset": ["env_name", "seed", "options"],
  "env/step": ["episode_id", "action"],
  "env/observe": ["episode_id"],
  "env/close": ["episode_id"],
  "env/space": ["env_name"],
  "env/render": ["episode_id", "mode"],
  "env/batch_step": ["episode_ids", "actions"],
  "env/exp/list": ["episode_id", "limit"],
  "learn/feedback": ["feedbacks"],
  "learn/experience": ["experiences"],
  "learn/adapt": ["component_name", "strategy"],
  "learn/stats": ["component_name"],
  "learn/refinement/plan": ["component_name", "scope"],
  "learn/refinement/apply": ["proposal"],
  "learn/refinement/rollback": ["refinement_id"],
  "learn/refinement/review": ["proposal"],
  "learn/refinement/history": [],
  "mcp/server/list": ["status_filter"],
  "mcp/server/register": ["config"],
  "mcp/server/unregister": ["server_id"],
  "mcp/resource/list": ["server_id", "cursor"],
  "mcp/resource/read": ["uri", "server_id"],
  "mcp/resource/subscribe": ["uri", "server_id"],
  "mcp/prompt/list": ["server_id", "cursor"],
  "mcp/prompt/get": ["name", "arguments", "server_id"],
};

/**
 * Types whose arguments are in the property `arguments`. In all other types, the arguments are properties of the
 * message itself.
 */
const WITH_ARGUMENTS: readonly string[] = ["tool/call", "skill/call"];

/** Returns the properties of an SDK request; `undefined` if the SDK has no such type. */
export function sdkMembers(operation: string): readonly string[] | undefined {
  return Object.hasOwn(SDK_TYPES, operation) ? SDK_TYPES[operation] : undefined;
}

/**
 * Returns whether the requests of an SDK type have the property `arguments`, and the answers have the result in `data`.
 */
export function hasSdkResult(operation: string): boolean {
  return WITH_ARGUMENTS.includes(operation);
}
