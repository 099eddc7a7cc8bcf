import { canonicalJson, isJsonObject, type Json, type JsonObject } from "../bytes/json.js";
import { decodeUtf8 } from "../bytes/utf8.js";
import { HOP_KEYS, type Hop } from "./hop.js";
import { nearest } from "./nearest.js";
import { isScalar, shown } from "./scalar.js";
import { parseTime } from "./time.js";

/** Why a caveat can not be judged. */
export interface HopProblem {
  readonly code: "caveat_malformed" | "caveat_unknown";
  /** The key concerned, such as `constraints.amount`; absent if it is the whole caveat. */
  readonly rule?: string;
  readonly message: string;
  readonly nearest?: string;
}

export type HopReading =
  | { readonly ok: true; readonly hop: Hop }
  | { readonly ok: false; readonly problems: readonly HopProblem[] };

const OPERATORS = ["in", "max", "min", "not_in"];
const RESERVED = ["cnf", "handover"];
const NONCE = /^[A-Za-z0-9_-]{16}$/;
const SET = "a non-empty array of strings, strictly ascending";
const TIME = "a time such as 2026-01-31T23:59:59Z";

/**
 * Reads a caveat as a hop. Only the canonical form is accepted, byte for byte, so that no two
 * readers can see different things in it; all problems are reported.
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
    if (!isJsonObject(value) || canonicalJson(value) !== text) {
      return refuse([malformed(undefined, "the caveat is not in canonical form (RFC 8785)")]);
    }
  } catch {
    return refuse([malformed(undefined, "the caveat is not JSON that has a canonical form")]);
  }
  const problems = [...problemsOf(value)];
  // Every member has just been checked against its type.
  return problems.length > 0 ? refuse(problems) : { ok: true, hop: value as Hop };
}

function refuse(problems: readonly HopProblem[]): HopReading {
  return { ok: false, problems };
}

function malformed(rule: string | undefined, message: string): HopProblem {
  return { code: "caveat_malformed", message, ...(rule === undefined ? {} : { rule }) };
}

function* problemsOf(hop: JsonObject): Generator<HopProblem> {
  const entries = Object.entries(hop);
  if (entries.length === 0) yield malformed(undefined, "the caveat is empty");
  for (const [key, value] of entries) {
    switch (key) {
      case "operations":
      case "resourceHandles":
      case "audience":
      case "invokers":
        if (!isSet(value)) yield wrong(key, SET, value);
        break;
      case "expires":
      case "notBefore":
        if (typeof value !== "string" || parseTime(value) === undefined)
          yield wrong(key, TIME, value);
        break;
      case "maxFurtherHops":
        if (!Number.isSafeInteger(value) || Number(value) < 0) {
          yield wrong(key, "a whole number of at least 0", value);
        }
        break;
      case "purpose":
        if (typeof value !== "string") yield wrong(key, "a string", value);
        break;
      case "nonce":
        if (typeof value !== "string" || !NONCE.test(value)) {
          yield wrong(key, "16 base64url characters", value);
        }
        break;
      case "constraints":
        yield* constraintProblems(value);
        break;
      default:
        yield unknown(key, key, HOP_KEYS, RESERVED.includes(key) ? "reserved key" : "unknown key");
    }
  }
}

function* constraintProblems(value: Json): Generator<HopProblem> {
  if (!isJsonObject(value) || Object.keys(value).length === 0) {
    yield wrong("constraints", "an object with at least one argument", value);
    return;
  }
  for (const [argument, limit] of Object.entries(value)) {
    const rule = constraintRule(argument);
    if (isScalar(limit)) continue;
    if (!isJsonObject(limit) || Object.keys(limit).length === 0) {
      yield wrong(rule, "a value, or an object with at least one operator", limit);
      continue;
    }
    for (const [operator, operand] of Object.entries(limit)) {
      if (!OPERATORS.includes(operator)) {
        yield unknown(operator, `${rule}.${operator}`, OPERATORS, "unknown operator");
      } else if (operator === "min" || operator === "max") {
        if (typeof operand !== "number") yield wrong(`${rule}.${operator}`, "a number", operand);
      } else if (!isScalarList(operand)) {
        const expected = "a non-empty array of values, strictly ascending by their canonical text";
        yield wrong(`${rule}.${operator}`, expected, operand);
      }
    }
  }
}

function wrong(rule: string, expected: string, value: Json | undefined): HopProblem {
  return malformed(rule, `"${rule}" must be ${expected}, not ${shown(value)}`);
}

function unknown(name: string, rule: string, known: readonly string[], what: string): HopProblem {
  const near = nearest(name, known);
  const hint = near === undefined ? "" : `; did you mean "${near}"?`;
  const message = `${what} ${shown(name)} in a hop${hint}`;
  return {
    code: "caveat_unknown",
    rule,
    message,
    ...(near === undefined ? {} : { nearest: near }),
  };
}

/** How a limit on an argument is called in denials: `constraints.amount`. */
export function constraintRule(argument: string): string {
  return /^[\w-]+$/.test(argument) ? `constraints.${argument}` : `constraints[${shown(argument)}]`;
}

function isSet(value: Json): boolean {
  if (!Array.isArray(value) || value.length === 0) return false;
  return value.every((item, i) => typeof item === "string" && (i === 0 || value[i - 1] < item));
}

function isScalarList(value: Json | undefined): boolean {
  if (!Array.isArray(value) || value.length === 0 || !value.every(isScalar)) return false;
  const texts = value.map((item) => JSON.stringify(item));
  return texts.every((text, i) => i === 0 || (texts[i - 1] ?? "") < text);
}
