import { isJsonObject, type Json, quotedName } from "../bytes/json.js";
import { shown } from "./faults.js";
import { isSameJson } from "./fields.js";

/** The effect of a change on callers that rely on the old card. */
export type ChangeImpact =
  /** No effect: callers can still rely on everything that they could rely on before. */
  | "safe"
  /** No effect yet: the card announces the end of something that callers rely on. */
  | "deprecating"
  /** Callers can no longer rely on something, or have to meet a further requirement. */
  | "breaking";

/** One difference between two cards. */
export interface CardChange {
  readonly impact: ChangeImpact;
  /** The changed part, as a path of names: `grants/documents:read/operations`. */
  readonly path: string;
  /** A description of the change, for people. */
  readonly message: string;
  /** The old value; absent if there was none. */
  readonly before?: Json;
  /** The new value; absent if there is none. */
  readonly after?: Json;
}

/**
 * Returns a difference as a change with this impact.
 * @param said - The description of the change; unless given, the description shows both values.
 */
export function change(
  { path, before, after }: Difference,
  impact: ChangeImpact,
  said: string = words(before, after),
): CardChange {
  const what = path.map(quotedIfOdd).join("/");
  return {
    impact,
    path: path.join("/"),
    message: `${what}: ${said}`,
    before,
    after,
  };
}

function words(before: Json | undefined, after: Json | undefined): string {
  if (before === undefined) return `${briefOrIt(after ?? null)} is new`;
  if (after === undefined) return `${briefOrIt(before)} is gone`;
  const [was, is] = [brief(before), brief(after)];
  if (was !== is) return `${was} is now ${is}`;
  if (typeof before === "string" && typeof after === "string") return textWords(before, after);
  return innerWords(before, after);
}

/** Longest value that is shown in full, in characters. */
const MOST_SHOWN = 80;

/** Describes a value: in full if it is short, otherwise by its type and size. */
function brief(value: Json): string {
  if (typeof value === "string") {
    const start = value.length > MOST_SHOWN ? `${value.slice(0, MOST_SHOWN)}...` : value;
    return withoutControls(JSON.stringify(start));
  }
  if (typeof value !== "object" || value === null) return shown(value);
  const size = Array.isArray(value) ? value.length : Object.keys(value).length;
  const text = size > MOST_SHOWN ? undefined : JSON.stringify(value);
  // Control characters are replaced, as in names. The value's own quotation marks stay.
  if (text !== undefined && text.length <= MOST_SHOWN) return withoutControls(text);
  return Array.isArray(value) ? `an array of ${size}` : `an object of ${size}`;
}

function withoutControls(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\ufffd");
}

/** Describes a short value in full. A long array or object is only "it", because the message already names its path. */
function briefOrIt(value: Json): string {
  const isLong = typeof value === "object" && value !== null;
  return isLong && JSON.stringify(value).length > MOST_SHOWN ? "it" : brief(value);
}

/** Describes two strings by the parts around their first difference. */
function textWords(before: string, after: string): string {
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  const [was, is] = [before, after].map((text) => {
    const part = text.slice(Math.max(0, same - CONTEXT), same + CONTEXT);
    return `...${withoutControls(JSON.stringify(part))}`;
  });
  return `${was} is now ${is}`;
}

const CONTEXT = 30;

/** Describes the first difference inside two values that have the same brief description. */
function innerWords(before: Json, after: Json): string {
  const [was, is] = [itemsOf(before), itemsOf(after)];
  const names = [...new Set([...was.keys(), ...is.keys()])];
  const name = names.find((one) => !isSameJson(was.get(one), is.get(one))) ?? "";
  const others = names.filter((one) => !isSameJson(was.get(one), is.get(one))).length - 1;
  const more = others > 0 ? `, and ${others} more` : "";
  return `at ${quotedIfOdd(name)}, ${words(was.get(name), is.get(name))}${more}`;
}

function itemsOf(value: Json): ReadonlyMap<string, Json> {
  if (Array.isArray(value)) return new Map(value.map((one: Json, at) => [String(at), one]));
  return new Map(isJsonObject(value) ? Object.entries(value) : []);
}

function quotedIfOdd(name: string): string {
  return /^[\x20-\x7e]{1,160}$/.test(name) ? name : quotedName(name);
}

/** One difference between two values. */
export interface Difference {
  readonly path: readonly string[];
  /** The old value; absent if there was none. */
  readonly before?: Json;
  /** The new value; absent if there is none. */
  readonly after?: Json;
}

/**
 * Yields the differences between two JSON values of small depth. Objects are compared property by property,
 * arrays as a whole.
 */
export function* differences(
  before: Json | undefined,
  after: Json | undefined,
  path: readonly string[] = [],
): Generator<Difference> {
  if (before === after) return;
  if (before === undefined || after === undefined) {
    yield {
      path,
      before,
      after,
    };
    return;
  }
  if (!isJsonObject(before) || !isJsonObject(after)) {
    if (!isSameJson(before, after)) yield { path, before, after };
    return;
  }
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const was = Object.hasOwn(before, name) ? before[name] : undefined;
    const is = Object.hasOwn(after, name) ? after[name] : undefined;
    yield* differences(was, is, [...path, name]);
  }
}
