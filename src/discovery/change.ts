import { isJsonObject, type Json, quotedName } from "../bytes/json.js";
import { shown } from "./faults.js";
import { isSameJson } from "./places.js";

/** What a change does to those who rely on the card as it was. */
export type ChangeImpact =
  /** Nothing: all that could be relied on still can. */
  | "safe"
  /** Nothing yet: something that they rely on is announced to end. */
  | "deprecating"
  /** Something that could be relied on no longer can, or more is asked of them. */
  | "breaking";

/** One thing in which a card is not what it was. */
export interface CardChange {
  readonly impact: ChangeImpact;
  /** What changed, by names: `grants/documents:read/operations`. */
  readonly path: string;
  /** A sentence for people. */
  readonly message: string;
  /** Absent if there was nothing. */
  readonly before?: Json;
  /** Absent if there is nothing now. */
  readonly after?: Json;
}

/** A difference with what it does. */
export function change({ path, before, after }: Difference, impact: ChangeImpact): CardChange {
  const what = path.map(quotedIfOdd).join("/");
  const said =
    before === undefined
      ? `${shownIn(after)} is new`
      : after === undefined
        ? `${shownIn(before)} is gone`
        : `${shownIn(before)} is now ${shownIn(after)}`;
  return {
    ...{ impact, path: path.join("/"), message: `${what}: ${said}` },
    ...(before === undefined ? {} : { before }),
    ...(after === undefined ? {} : { after }),
  };
}

function shownIn(value: Json | undefined): string {
  return value === undefined ? "nothing" : shown(value);
}

function quotedIfOdd(name: string): string {
  return /^[\w.:*+/ -]{1,80}$/.test(name) ? name : quotedName(name);
}

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
