import { type Ask, type CheckTest, type KnownGrant, refused, type Setup } from "./check-test.js";
import type { Flag } from "./notes.js";

export const READ: string = "documents:read";
export const WRITE: string = "documents:write";
export const RETRIEVE: string = '{"operations":["retrieve"]}';

/** `list` is an operation of both grants, `retrieve` and `delete` of one each. */
export const KNOWN: readonly KnownGrant[] = [
  { id: READ, operations: ["list", "retrieve", "search"] },
  { id: WRITE, operations: ["delete", "list", "store"] },
];

/** A service with these grants, of an issuer that does not know its own. */
export function acting(grant: Ask["grant"], more: Ask = {}): Setup {
  return { ask: { grant: grant ?? null, ...more } };
}

/** An invocation at an issuer that knows {@link KNOWN}. */
export function knowing(ask: Ask): Setup {
  return { ask, grants: KNOWN };
}

/** Refused only for the grant. */
export function denied(comment: string, setup: Setup, more: readonly Flag[] = []): CheckTest {
  return refused(comment, ["Grant", ...more], setup, "grant_denied");
}
