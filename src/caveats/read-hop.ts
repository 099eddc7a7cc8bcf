import { isCanonicalJson, isJsonObject, type Json } from "../bytes/json.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import type { Hop } from "./hop.js";
import { type HopProblem, malformed, unknownName } from "./hop-rule.js";
import { HOP_KEYS, HOP_RULES, isHopKey } from "./hop-rules.js";
import { type Suggest, suggestions } from "./nearest.js";

export type HopReading =
  | { readonly ok: true; readonly hop: Hop }
  | { readonly ok: false; readonly problems: readonly HopProblem[] };

const RESERVED = ["cnf", "handover"];

// A caveat's author chooses how much is wrong with it, so cap how much of that is reported.
const MAX_REPORTED = 16;

/**
 * Reads a caveat as a hop. Only the canonical form is accepted, byte for byte, so that no two
 * readers can see different things in it; the first 16 problems are reported.
 */
export function readHop(caveat: Uint8Array): HopReading {
  const text = decodeUtf8(caveat);
  if (text === undefined || !text.startsWith("{")) {
    return refuse([
      { code: "caveat_unknown", message: "the caveat is not a hop: it is not a JSON object" },
    ]);
  }
  let value: Json;
  try {
    value = JSON.parse(text);
    if (!isJsonObject(value) || !isCanonicalJson(value, text)) {
      return refuse([malformed(undefined, "the caveat is not in canonical form (RFC 8785)")]);
    }
  } catch {
    return refuse([malformed(undefined, "the caveat is not JSON that has a canonical form")]);
  }
  const problems: HopProblem[] = [];
  const suggest = suggestions();
  const keys = Object.keys(value);
  if (keys.length === 0) problems.push(malformed(undefined, "the caveat is empty"));
  for (const key of keys) {
    for (const problem of problemsOf(key, value[key] ?? null, suggest)) {
      if (problems.push(problem) >= MAX_REPORTED) return refuse(problems);
    }
  }
  // Every member has just been checked against its type.
  return problems.length > 0 ? refuse(problems) : { ok: true, hop: value as Hop };
}

function problemsOf(key: string, member: Json, suggest: Suggest): Iterable<HopProblem> {
  if (isHopKey(key)) return HOP_RULES[key].problems(member, suggest);
  const what = RESERVED.includes(key) ? "reserved key" : "unknown key";
  return [unknownName(key, key, HOP_KEYS, what, suggest)];
}

function refuse(problems: readonly HopProblem[]): HopReading {
  return { ok: false, problems };
}
