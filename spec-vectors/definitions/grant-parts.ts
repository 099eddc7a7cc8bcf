import { type Ask, type CheckTest, type KnownGrant, refused, type Setup } from "./check-test.js";
import type { Flag } from "./notes.js";

export const READ: string = "documents:read";
export const WRITE: string = "documents:write";
export const RETRIEVE: string = '{"operations":["retrieve"]}';

/** The operation `list` belongs to both grants. Each other operation belongs to only one grant. */
export const KNOWN: readonly KnownGrant[] = [
  { id: READ, operations: ["list", "retrieve", "search"] },
  { id: WRITE, operations: ["delete", "list", "store"] },
];

/** Returns the setup of a service with the given grants. The issuer does not list its grants. */
export function acting(grant: Ask["grant"], more: Ask = {}): Setup {
  return { ask: { grant: grant ?? null, ...more } };
}

/** Returns the setup of an invocation at an issuer that knows {@link KNOWN}. */
export function knowing(ask: Ask): Setup {
  return { ask, grants: KNOWN };
}

/** Defines a test that is refused only because of the grant. */
export function denied(comment: string, setup: Setup, more: readonly Flag[] = []): CheckTest {
  return refused(comment, ["Grant", ...more], setup, "grant_denied");
}
