import { canonicalJson, isJsonObject, type Json } from "../../src/bytes/json.js";
import { escapedJson } from "../output.js";

/** One difference between two definitions of a tool. */
export interface DefinitionChange {
  /** The property, such as `inputSchema.properties.path.type`. */
  readonly path: string;
  /** The old value; absent if the property is new. */
  readonly before?: Json;
  /** The new value; absent if the property was removed. */
  readonly after?: Json;
}

/** Lists the differences between two definitions, sorted by property name. */
export function definitionChanges(before: Json, after: Json, path = ""): DefinitionChange[] {
  if (!isJsonObject(before) || !isJsonObject(after)) {
    return textOf(before) === textOf(after) ? [] : [{ path, before, after }];
  }
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return names.flatMap((name): DefinitionChange[] => {
    const here = path === "" ? name : `${path}.${name}`;
    const [one, other]: (Json | undefined)[] = [before[name], after[name]];
    if (one === undefined) return other === undefined ? [] : [{ path: here, after: other }];
    if (other === undefined) return [{ path: here, before: one }];
    return definitionChanges(one, other, here);
  });
}

function textOf(value: Json): string {
  try {
    return canonicalJson(value);
  } catch {
    // A string with a lone surrogate has no canonical form.
    return JSON.stringify(value);
  }
}

/**
 * Describes a difference in one line. For two long strings, shows the part that differs and a few characters around it.
 */
export function changeLine({ path, before, after }: DefinitionChange): string {
  if (before === undefined) return `${path} is new: ${shown(after)}`;
  if (after === undefined) return `${path} is gone: ${shown(before)}`;
  if (typeof before === "string" && typeof after === "string") {
    const [was, is] = differingParts(before, after);
    return `${path} was ${shown(was)} and is ${shown(is)}`;
  }
  return `${path} was ${shown(before)} and is ${shown(after)}`;
}

/** Maximum number of equal characters that are shown on each side of a difference. */
const AROUND = 32;

/**
 * Removes the common beginning and end of two strings, but keeps {@link AROUND} characters on each side of the
 * difference.
 */
function differingParts(one: string, other: string): readonly [string, string] {
  const shorter = Math.min(one.length, other.length);
  let start = 0;
  while (start < shorter && one[start] === other[start]) start++;
  let end = 0;
  while (end < shorter - start && one.at(-1 - end) === other.at(-1 - end)) end++;
  const from = Math.max(0, start - AROUND);
  const left = Math.max(0, end - AROUND);
  const part = (text: string): string =>
    `${from > 0 ? "…" : ""}${text.slice(from, text.length - left)}${left > 0 ? "…" : ""}`;
  return [part(one), part(other)];
}

/** Longest value that is shown in full, in characters of JSON. */
const LONGEST = 2000;

function shown(value: Json | undefined): string {
  const text = escapedJson(value ?? null);
  if (text.length <= LONGEST) return text;
  return `${text.slice(0, LONGEST)}… (${text.length - LONGEST} characters more; --json shows all)`;
}
