/**
 * Reasons why a token cannot be read. Each rule of the strict profile (docs/spec.md, section 3) has its own
 * code; codes are stable and never reused.
 */
export type TokenErrorCode =
  | "empty"
  | "truncated"
  | "too_large"
  | "too_many_caveats"
  | "caveat_too_large"
  | "too_many_discharges"
  | "too_many_members"
  | "too_deep"
  | "format_unknown"
  | "format_not_v2"
  | "base64_character"
  | "base64_mixed"
  | "base64_whitespace"
  | "base64_padding"
  | "base64_trailing_bits"
  | "varint_overlong"
  | "varint_range"
  | "field_unknown"
  | "field_order"
  | "field_duplicate"
  | "field_missing"
  | "first_party_location"
  | "vid_length"
  | "signature_length"
  | "trailing_bytes"
  | "packet_header"
  | "packet_terminator"
  | "utf8_invalid"
  | "json_syntax"
  | "json_duplicate_key"
  | "json_unknown_key"
  | "json_type"
  | "json_version"
  | "json_both_encodings"
  | "json_hex"
  | "identifier_malformed"
  | "has_discharges";

/**
 * Thrown for a token that is not well-formed. Functions that read tokens throw nothing else for bad input; wrong
 * arguments from the program itself are a `TypeError`.
 *
 * The message contains at most one offending character of the token, or the beginning of a property's name, so the
 * message is safe to log.
 *
 * @example
 * ```ts
 * import { TokenError } from "proviso";
 * import { parseMacaroon } from "proviso/macaroon";
 *
 * let caught;
 * try {
 *   parseMacaroon("AgEH");
 * } catch (error) {
 *   if (error instanceof TokenError) caught = error.code;
 * }
 * caught; // => "truncated"
 * ```
 */
export class TokenError extends Error {
  override readonly name = "TokenError";
  /** The reason for the rejection. */
  readonly code: TokenErrorCode;
  /**
   * The position of the fault: a byte offset in a binary form, a character offset in a string; absent if neither
   * applies.
   */
  readonly offset: number | undefined;

  constructor(code: TokenErrorCode, message: string, offset?: number) {
    super(message);
    this.code = code;
    this.offset = offset;
  }
}
