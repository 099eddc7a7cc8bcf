import { isJsonObject, type Json, type JsonObject } from "../../../src/bytes/json.js";
import { type Session, SessionError } from "../../../src/protocols/a2e/index.js";

/** Returns the code with which a call is refused; `done` if it is not refused. */
async function codeOf(call: Promise<Json>): Promise<Json> {
  try {
    await call;
    return "done";
  } catch (error) {
    if (error instanceof SessionError) return [error.code, error.message];
    throw error;
  }
}

function member(of: Json, name: string): string {
  return isJsonObject(of) ? String(of[name]) : "";
}

/** Makes the calls of a session to the SDK's host. Returns their outcomes, and closes the session. */
export async function holdSession(session: Session): Promise<JsonObject> {
  const parts: Json[] = [];
  const tool = (name: string, given: JsonObject): Promise<Json> =>
    session.call("tool/call", {
      name,
      arguments: given,
      timeout: 4500,
      onChunk: (part) => void parts.push(part),
    });
  const enabled = [...session.capabilities].map(([name, entry]) => [name, entry.enabled]);
  await session.ping();
  const tools = await session.call("tool/list");
  const sum = await tool("add", { a: 1, b: 2 });
  const refused = await codeOf(tool("fail", {}));
  const failed = await codeOf(tool("none", {}));
  const made = await session.call("memory/init", { arguments: { namespace: "notes" } });
  const memory_id = member(made, "memory_id");
  const tea = { key: { name: "tea" }, content: 1, tier: "episodic", created_at: 0, updated_at: 0 };
  const stored = await session.call("memory/store", { arguments: { memory_id, entries: [tea] } });
  const keys = [tea.key];
  const found = await session.call("memory/retrieve", { arguments: { memory_id, keys } });
  const forgotten = await session.call("memory/forget", { arguments: { memory_id, keys } });
  const cmd = ["bash", "-c", "sleep 5"];
  const spawned = await session.call("proc/spawn", { arguments: { cmd } });
  const proc_id = member(spawned, "proc_id");
  const running = await session.call("proc/status", { arguments: { proc_id } });
  const killed = await session.call("proc/kill", { arguments: { proc_id } });
  const began = Date.now();
  await session.close();
  return {
    enabled,
    tools,
    sum,
    parts,
    refused,
    failed,
    memory_id,
    stored,
    forgotten,
    found: isJsonObject(found) ? (found["total"] ?? null) : null,
    spawned: member(spawned, "ok"),
    running: member(running, "status"),
    killed: member(killed, "ok"),
    closedInTime: Date.now() - began < 10_000,
  };
}
