/** A capability that is about to be issued. */
export interface CapabilityDraft {
  readonly id: string;
  /**
   * Seals resource numbers, and returns the handle of each number.
   *
   * @throws TypeError if a number is not an integer from 0 to 2^53 - 1.
   */
  handles(numbers: readonly number[]): Map<number, string>;
}

/** Options for issuing a capability. */
export interface IssueOptions {
  /** The id of an issued capability, to issue the same capability again; by default, a random id. */
  readonly id?: string | undefined;
  /**
   * The only service that accepts the capability, as in {@link MintRequest.service}. The service's key also seals the
   * handles.
   */
  readonly service?: string | undefined;
}

/** The property names of {@link IssueOptions}. */
export const ISSUE_OPTIONS: readonly string[] = ["id", "service"];
