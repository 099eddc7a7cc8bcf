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

/** The differences of two shallow JSON values, lazily: members of objects one by one, arrays whole. */
export function* differences(
  before: Json | undefined,
  after: Json | undefined,
  path: readonly string[] = [],
): Generator<Difference> {
  if (before === after) return;
  if (before === undefined || after === undefined) {
    yield {
      path,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
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
