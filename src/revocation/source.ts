import type { RevocationEntry } from "./entry.js";

/** What a checker asks a revocation list about one token. */
export interface RevocationQuery {
  /** Ids of every link, discharges' links included. */
  readonly links: readonly string[];
  readonly capability: string;
  /** The id of the key it was made under and, of a service's key, of the root key that it comes from. */
  readonly keys: readonly string[];
  readonly principal?: string;
  /** When the capability was issued, in milliseconds since 1970. */
  readonly issued: number;
}

/** Where revocations are looked up; every issuer must name one. */
export interface RevocationSource {
  /** Every entry that concerns the token. */
  find(query: RevocationQuery): RevocationEntry[];
  /**
   * Whether answers may be relied on now; every check is refused while they may not.
   *
   * @param now - The checker's clock, in milliseconds since 1970.
   */
  isCurrent(now: number): boolean;
}
