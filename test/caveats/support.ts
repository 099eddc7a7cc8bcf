import type { Overreach } from "../../src/caveats/hop-rule.js";
import {
  type CheckedInvocation,
  checkInvocation,
  type Invocation,
} from "../../src/caveats/invocation.js";
import { readHop } from "../../src/caveats/read-hop.js";

/** The moment at which everything in these tests happens. */
export const NOW: number = Date.parse("2030-01-01T00:00:00Z");

export function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** What is wrong with a caveat: one line a problem, `code rule → nearest`; none if it is a hop. */
export function problemsIn(caveat: string | Uint8Array): string[] {
  const reading = readHop(typeof caveat === "string" ? utf8(caveat) : caveat);
  if (reading.ok) return [];
  return reading.problems.map(({ code, rule, nearest }) =>
    [code, rule ?? "(caveat)", ...(nearest === undefined ? [] : ["→", nearest])].join(" "),
  );
}

/** A checked invocation of `retrieve`, unless something else is asked for. */
export function asked(init: Partial<Invocation> = {}): CheckedInvocation {
  return checkInvocation({ operation: "retrieve", ...init }, () => NOW);
}

/** Whether what the lint found is about calls of an operation, and not about the entry of another alone. */
export function concerns(found: readonly Overreach[], operation: string): boolean {
  return found.some(({ rule }) => {
    const [, entry] = /^(?:operationConstraints|arguments)\.([^.[]+)/.exec(rule) ?? [];
    return entry === undefined || entry === "*" || entry === operation;
  });
}

/** The message of the TypeError that `run` throws; anything else thrown is thrown on. */
export function misuse(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    if (error instanceof TypeError) return error.message;
    throw error;
  }
  return "accepted";
}
