import type { Overreach } from "../../src/caveats/hop-rule.js";
import {
  type CheckedInvocation,
  checkInvocation,
  type Invocation,
} from "../../src/caveats/invocation.js";
import { readHop } from "../../src/caveats/read-hop.js";

/** The current time in these tests. */
export const NOW: number = Date.parse("2030-01-01T00:00:00Z");

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Returns the problems of a caveat, each as a line `code rule → nearest`; none if the caveat is a hop. */
export function problemsIn(caveat: string | Uint8Array): string[] {
  const reading = readHop(typeof caveat === "string" ? utf8(caveat) : caveat);
  if (reading.ok) return [];
  return reading.problems.map(({ code, rule, nearest }) =>
    [code, rule ?? "(caveat)", ...(nearest === undefined ? [] : ["→", nearest])].join(" "),
  );
}

/** Returns a checked invocation of `retrieve`, unless `init` says otherwise. */
export function asked(init: Partial<Invocation> = {}): CheckedInvocation {
  return checkInvocation({ operation: "retrieve", ...init }, () => NOW);
}

/** Returns whether the lint's findings concern calls of an operation, not only entries of other operations. */
export function concerns(found: readonly Overreach[], operation: string): boolean {
  return found.some(({ rule }) => {
    const [, entry] = /^(?:operationConstraints|arguments)\.([^.[]+)/.exec(rule) ?? [];
    return entry === undefined || entry === "*" || entry === operation;
  });
}

/** Returns the message of the TypeError that `run` throws; rethrows any other error. */
export function misuse(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  return "accepted";
}
