/** A capability that is about to be issued. */
export interface CapabilityDraft {
  readonly id: string;
  /**
   * Seals resource numbers. @returns The handle of each number.
   *
   * @throws TypeError if a number is not an integer from 0 to 2^53 - 1.
   */
  handles(numbers: readonly number[]): Map<number, string>;
}

/** Options for issuing a capability. */
export interface IssueOptions {
  /** The capability's id, to issue the same capability again; random unless given. */
  readonly id?: string | undefined;
  /**
   * The only service that accepts the capability, as in {@link MintRequest.service}. Its key also seals the
   * handles.
   */
  readonly service?: string | undefined;
}

/** The property names of {@link IssueOptions}. */
export const ISSUE_OPTIONS: readonly string[] = ["id", "service"];
