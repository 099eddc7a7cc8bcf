import { type Ask, allowed, type CheckTest, hop, type JsonValue, refused } from "./check-test.js";
import type { Flags } from "./constraint-parts.js";

/** A hop that limits the argument `n` of `retrieve`, the operation in the tests' calls. */
export function own(constraint: string): string {
  return entry(`{"n":${constraint}}`);
}

/** A hop with these constraints on `retrieve`. */
export function entry(constraints: string): string {
  return `{"operationConstraints":{"retrieve":${constraints}}}`;
}

/** A hop with these constraints on every operation. */
export function every(constraints: string): string {
  return `{"operationConstraints":{"*":${constraints}}}`;
}

/** A hop with this closed list for `retrieve`. */
export function closed(names: string): string {
  return `{"arguments":{"retrieve":${names}}}`;
}

type Arguments = { readonly [name: string]: JsonValue };

/** A call with these arguments that a hop allows. */
export function accepts(
  comment: string,
  text: string,
  given: Arguments | undefined,
  flags: Flags = "Normal",
): CheckTest {
  return allowed(comment, flags, hop(text, asking(given)));
}

/** A call with these arguments that a hop refuses. */
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

/** Values of `n` that its constraint allows, each with a description. */
export function allValues(
  constraint: string,
  values: { readonly [comment: string]: JsonValue },
  flags: Flags = "Normal",
): CheckTest[] {
  return Object.entries(values).map(([comment, n]) =>
    accepts(comment, own(constraint), { n }, flags),
  );
}

/** Values of `n` that its constraint refuses, each with a description. */
export function noValues(
  constraint: string,
  values: { readonly [comment: string]: JsonValue },
  flags: Flags,
): CheckTest[] {
  return Object.entries(values).map(([comment, n]) =>
    rejects(comment, own(constraint), { n }, flags),
  );
}

/** A hop that no checker can read, whatever the call. */
export function unreadable(comment: string, text: string, flags: Flags = []): CheckTest {
  return refused(comment, ["MalformedHop", ...[flags].flat()], hop(text), "caveat_malformed@2");
}

/** A hop with an unknown name. */
export function strange(comment: string, text: string): CheckTest {
  return refused(comment, "UnknownRestriction", hop(text), "caveat_unknown@2");
}
