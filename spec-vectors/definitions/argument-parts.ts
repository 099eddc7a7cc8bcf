import { type Ask, allowed, type CheckTest, hop, type JsonValue, refused } from "./check-test.js";
import type { Flags } from "./constraint-parts.js";

/** Returns a hop that limits the argument `n` of `retrieve`, the operation in the tests' calls. */
export function own(constraint: string): string {
  return entry(`{"n":${constraint}}`);
}

/** Returns a hop with the given constraints on `retrieve`. */
export function entry(constraints: string): string {
  return `{"operationConstraints":{"retrieve":${constraints}}}`;
}

/** Returns a hop with the given constraints on every operation. */
export function every(constraints: string): string {
  return `{"operationConstraints":{"*":${constraints}}}`;
}

/** Returns a hop with a closed list for `retrieve`. */
export function closed(names: string): string {
  return `{"arguments":{"retrieve":${names}}}`;
}

type Arguments = { readonly [name: string]: JsonValue };

/** Defines a test in which a hop allows a call. */
export function accepts(
  comment: string,
  text: string,
  given: Arguments | undefined,
  flags: Flags = "Normal",
): CheckTest {
  return allowed(comment, flags, hop(text, asking(given)));
}

/** Defines a test in which a hop refuses a call because of its arguments. */
export function rejects(
  comment: string,
  text: string,
  given: Arguments | undefined,
  flags: Flags = "Normal",
): CheckTest {
  return refused(comment, flags, hop(text, asking(given)), "constraint_violated@2");
}

function asking(given: Arguments | undefined): Ask {
  return given === undefined ? {} : { arguments: given };
}

/** Defines a test for each value of `n` that the constraint allows. */
export function allValues(
  constraint: string,
  values: { readonly [comment: string]: JsonValue },
  flags: Flags = "Normal",
): CheckTest[] {
  return Object.entries(values).map(([comment, n]) =>
    accepts(comment, own(constraint), { n }, flags),
  );
}

/** Defines a test for each value of `n` that the constraint refuses. */
export function noValues(
  constraint: string,
  values: { readonly [comment: string]: JsonValue },
  flags: Flags,
): CheckTest[] {
  return Object.entries(values).map(([comment, n]) =>
    rejects(comment, own(constraint), { n }, flags),
  );
}

/** Defines a test of a hop that is malformed for every checker. */
export function unreadable(comment: string, text: string, flags: Flags = []): CheckTest {
  return refused(comment, ["MalformedHop", ...[flags].flat()], hop(text), "caveat_malformed@2");
}

/** Defines a test of a hop with an unknown name. */
export function strange(comment: string, text: string): CheckTest {
  return refused(comment, "UnknownRestriction", hop(text), "caveat_unknown@2");
}
