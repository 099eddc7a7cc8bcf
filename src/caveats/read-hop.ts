import { isCanonicalJson, isJsonObject, type Json, type JsonObject } from "../bytes/json.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import type { Hop } from "./hop.js";
import { type HopProblem, malformed, unknownName } from "./hop-rule.js";
import { HOP_KEYS, HOP_RULES, isHopKey } from "./hop-rules.js";
import { suggestions } from "./nearest.js";

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
  for (const problem of problemsOf(value)) {
    if (problems.push(problem) >= MAX_REPORTED) break;
  }
  // Every member has just been checked against its type.
  return problems.length > 0 ? refuse(problems) : { ok: true, hop: value as Hop };
}

function* problemsOf(hop: JsonObject): Iterable<HopProblem> {
  const suggest = suggestions();
  const members = Object.entries(hop);
  if (members.length === 0) yield malformed(undefined, "the caveat is empty");
  for (const [key, member] of members) {
    if (isHopKey(key)) yield* HOP_RULES[key].problems(member, suggest);
    else {
      const what = RESERVED.includes(key) ? "reserved key" : "unknown key";
      yield unknownName(key, key, HOP_KEYS, what, suggest);
    }
  }
}

function refuse(problems: readonly HopProblem[]): HopReading {
  return { ok: false, problems };
}
