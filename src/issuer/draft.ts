import { isObject } from "../bytes/json.js";
import type { VerifiedCapability } from "../capability/authorize.js";
import { assertString, notA } from "../checks/kinds.js";

/** A capability in the making. */
export interface CapabilityDraft {
  readonly id: string;
  /**
   * Seals the numbers of resources: a handle for each.
   *
   * @throws TypeError unless every number is a whole one from 0 to 2^53 - 1.
   */
  handles(numbers: readonly number[]): Map<number, string>;
}

/** Whose handles they are: a capability's, or, outside any capability, a principal's. */
export type HandleScope =
  | Pick<VerifiedCapability, "id" | "keyId">
  | {
      /** The principal; to others its handles are noise. */
      readonly ambient: string;
    };

/** @throws TypeError for what is no scope, such as a Promise of one. */
export function assertScope(scope: HandleScope): void {
  if (!isObject(scope)) throw notA("scope", "a capability, or { ambient }", scope);
  if ("ambient" in scope) {
    assertString(scope.ambient, "scope.ambient");
  } else {
    assertString(scope.id, "scope.id");
    assertString(scope.keyId, "scope.keyId");
  }
}

/** What a capability is made as. */
export interface IssueOptions {
  /** Its id: that of a capability which is to be made anew. A new one unless given. */
  readonly id?: string | undefined;
  /** The one service it is for, as {@link MintRequest.service}: its key seals the handles too. */
  readonly service?: string | undefined;
}

/** The members of {@link IssueOptions}. */
export const ISSUE_OPTIONS: readonly string[] = ["id", "service"];

/** No capability's id begins like this. */
export function ambientScope({ ambient }: { readonly ambient: string }): string {
  return `ambient:${ambient}`;
}
