import { type Ask, allowed, type CheckTest, hop, type JsonValue, refused } from "./check-test.js";
import type { Flag } from "./notes.js";

export type Flags = Flag | readonly Flag[];

export const MISSING: unique symbol = Symbol("missing");

/** Returns the arguments of an invocation: `n` with this value, or no arguments. */
export function given(value: JsonValue | typeof MISSING): Ask {
  return value === MISSING ? {} : { arguments: { n: value } };
}

export function limit(text: string): string {
  return `{"constraints":{"n":${text}}}`;
}

export function meets(
  comment: string,
  text: string,
  value: JsonValue,
  flags: Flags = "Normal",
): CheckTest {
  return allowed(comment, flags, hop(limit(text), given(value)));
}

export function violates(
  comment: string,
  text: string,
  value: JsonValue | typeof MISSING,
  flags: Flags = "Normal",
): CheckTest {
  return refused(comment, flags, hop(limit(text), given(value)), "constraint_violated@2");
}

export function malformed(comment: string, text: string, flags: readonly Flag[] = []): CheckTest {
  return refused(
    comment,
    ["MalformedHop", ...flags],
    hop(limit(text), given(1)),
    "caveat_malformed@2",
  );
}

export function unknown(comment: string, text: string): CheckTest {
  return refused(comment, "UnknownRestriction", hop(limit(text), given(1)), "caveat_unknown@2");
}

/** Defines tests of values that a limit must refuse, because they are of another type or absent. */
export function wrongTypes(name: string, text: string, values: readonly JsonValue[]): CheckTest[] {
  return [
    violates(`${name}: the argument is missing`, text, MISSING, "MissingValue"),
    ...values.map((value) =>
      violates(`${name}: the argument is ${JSON.stringify(value)}`, text, value, "TypeConfusion"),
    ),
  ];
}
