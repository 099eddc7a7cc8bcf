import { isJsonObject, type Json } from "../bytes/json.js";
import { isSameJson } from "./places.js";

/** One thing that is not the same in two values. */
export interface Difference {
  readonly path: readonly string[];
  /** Absent if there was nothing. */
  readonly before?: Json;
  /** Absent if there is nothing now. */
  readonly after?: Json;
}

/**
 * Everything in which two JSON values differ: members of objects each by itself, arrays whole.
 * Recursive: only for what is known to be shallow.
 */
export function differences(
  before: Json | undefined,
  after: Json | undefined,
  path: readonly string[] = [],
): readonly Difference[] {
  if (isSameJson(before, after)) return [];
  if (before === undefined) return after === undefined ? [] : [{ path, after }];
  if (after === undefined) return [{ path, before }];
  if (!isJsonObject(before) || !isJsonObject(after)) return [{ path, before, after }];
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  return names.flatMap((name) => {
    const was = Object.hasOwn(before, name) ? before[name] : undefined;
    const is = Object.hasOwn(after, name) ? after[name] : undefined;
    return differences(was, is, [...path, name]);
  });
}
