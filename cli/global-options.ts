/** Options that every verb understands, before its name or after. */
export interface GlobalOptions {
  readonly home?: string;
  readonly json?: boolean;
}
