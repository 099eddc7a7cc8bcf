import { type Json, quotedName } from "../bytes/json.js";
import type { Difference } from "./differences.js";
import { shown } from "./faults.js";

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
