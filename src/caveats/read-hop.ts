import { isJsonObject, type Json, readCanonicalJson } from "../bytes/json.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import { type Suggest, suggestions } from "../checks/nearest.js";
import type { Hop } from "./hop.js";
import { type HopProblem, type HopRule, MAX_REPORTED, malformed, unknownName } from "./hop-rule.js";
import { HOP_KEYS, HOP_RULES } from "./hop-rules.js";

export type HopReading =
  | { readonly ok: true; readonly hop: Hop }
  | { readonly ok: false; readonly problems: readonly HopProblem[] };

const RULES: ReadonlyMap<string, Pick<HopRule<never>, "problems">> = /* @__PURE__ */ new Map(
  Object.entries(HOP_RULES),
);
const RESERVED = ["cnf", "handover"];

const NO_OBJECT: HopProblem = {
  code: "caveat_unknown",
  message: "the caveat is not a hop: it is not a JSON object",
};

/**
 * Reads a caveat as a hop. Only the canonical form is accepted, byte for byte, so that no two parsers can read
 * it differently. Reports the first 16 problems.
 */
export function readHop(caveat: Uint8Array): HopReading {
  const text = decodeUtf8(caveat);
  if (text === undefined || !text.startsWith("{")) return unreadable([NO_OBJECT]);
  let value: Json | undefined;
  try {
    value = readCanonicalJson(text);
  } catch {
    return unreadable([malformed(undefined, "the caveat is not JSON that has a canonical form")]);
  }
  if (value === undefined) {
    return unreadable([malformed(undefined, "the caveat is not in canonical form (RFC 8785)")]);
  }
  return hopFrom(value);
}

/** Reads a hop from the value of a caveat in canonical form. */
export function hopFrom(value: Json): HopReading {
  if (!isJsonObject(value)) return unreadable([NO_OBJECT]);
  const keys = Object.keys(value);
  if (keys.length === 0) return unreadable([malformed(undefined, "the caveat is empty")]);
  const problems: HopProblem[] = [];
  const suggest = suggestions();
  for (const key of keys) {
    problems.push(...problemsOf(key, value[key] ?? null, suggest));
    if (problems.length >= MAX_REPORTED) break;
  }
  if (problems.length > 0) return unreadable(problems.slice(0, MAX_REPORTED));
  // Every property has just been checked against its type.
  return { ok: true, hop: value as Hop };
}

function problemsOf(key: string, value: Json, suggest: Suggest): readonly HopProblem[] {
  const rule = RULES.get(key);
  if (rule !== undefined) return rule.problems(value, suggest);
  const what = RESERVED.includes(key) ? "reserved key" : "unknown key";
  return [unknownName(key, { rule: key, what, known: HOP_KEYS }, suggest)];
}

function unreadable(problems: readonly HopProblem[]): HopReading {
  return { ok: false, problems };
}
