import type { Json, JsonObject } from "../../../src/bytes/json.js";

/** One line of a session, with its sender. */
export interface Line {
  readonly from: "agent" | "host";
  readonly message: JsonObject;
}

const TIMES = ["ts", "created_at", "updated_at"];

/**
 * Returns lines in the form of a transcript. Names replace the values that differ from run to run. Ids are
 * numbered in the order in which they first occur.
 *
 * @param secrets - Strings to replace, such as tokens, each with the name that replaces it.
 */
export function transcriptOf(
  lines: readonly Line[],
  secrets: ReadonlyMap<string, string> = new Map(),
): readonly Line[] {
  const names = new Map(secrets);
  const named = (kind: string, text: string): string => {
    const count = [...names.values()].filter((name) => name.startsWith(`\${${kind}`)).length;
    const name = names.get(text) ?? `\${${kind}${count + 1}}`;
    names.set(text, name);
    return name;
  };
  const kept = (value: Json, member: string): Json => {
    if (Array.isArray(value)) return value.map((one) => kept(one, member));
    if (typeof value === "object" && value !== null) {
      const entries = Object.entries(value).map(([name, one]) => [name, kept(one, name)] as const);
      return Object.fromEntries(entries);
    }
    if (TIMES.includes(member) && typeof value === "number") return 0;
    if (member === "uptime_seconds" || member === "duration_ms" || member === "pid") return 0;
    if (member === "seq" && Number(value) > 1e6) return 0;
    if (typeof value !== "string" || value === "") return value;
    if (member === "id" || member === "req_id") return named("id", value);
    if (member === "session_id") return named("session", value);
    if (member === "correlation_id") return named("turn", value);
    if (member === "proc_id") return named("process", value);
    return names.get(value) ?? value;
  };
  return lines.map(({ from, message }) => {
    const whole = kept(message, "");
    if (typeof whole !== "object" || whole === null || Array.isArray(whole))
      throw new Error("no message");
    return { from, message: whole as JsonObject };
  });
}
