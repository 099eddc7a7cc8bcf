import { type Ask, allowed, type CheckTest, hop, type JsonValue, refused } from "./check-test.js";
import type { Flags } from "./constraint-parts.js";

/** The hop that limits the argument `n` of `retrieve`, the operation that tests ask for. */
export function own(constraint: string): string {
  return entry(`{"n":${constraint}}`);
}

/** The hop with these constraints of `retrieve`. */
export function entry(constraints: string): string {
  return `{"operationConstraints":{"retrieve":${constraints}}}`;
}

/** The hop with these constraints of every operation. */
export function every(constraints: string): string {
  return `{"operationConstraints":{"*":${constraints}}}`;
}

/** The hop with this closed list of `retrieve`. */
export function closed(names: string): string {
  return `{"arguments":{"retrieve":${names}}}`;
}

type Arguments = { readonly [name: string]: JsonValue };

/** A call with these arguments that one hop allows. */
export function accepts(
  comment: string,
  text: string,
  given: Arguments | undefined,
  flags: Flags = "Normal",
): CheckTest {
  return allowed(comment, flags, hop(text, asking(given)));
}

/** A call with these arguments that one hop refuses. */
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

/** Values of `n` that its constraint allows, each in words. */
export function allValues(
  constraint: string,
  values: { readonly [comment: string]: JsonValue },
  flags: Flags = "Normal",
): CheckTest[] {
  return Object.entries(values).map(([comment, n]) =>
    accepts(comment, own(constraint), { n }, flags),
  );
}

/** Values of `n` that its constraint refuses, each in words. */
export function noValues(
  constraint: string,
  values: { readonly [comment: string]: JsonValue },
  flags: Flags,
): CheckTest[] {
  return Object.entries(values).map(([comment, n]) =>
    rejects(comment, own(constraint), { n }, flags),
  );
}

/** A hop that no checker reads, whatever is asked. */
export function unreadable(comment: string, text: string, flags: Flags = []): CheckTest {
  return refused(comment, ["MalformedHop", ...[flags].flat()], hop(text), "caveat_malformed@2");
}

/** A hop with a name that is not known. */
export function strange(comment: string, text: string): CheckTest {
  return refused(comment, "UnknownRestriction", hop(text), "caveat_unknown@2");
}
