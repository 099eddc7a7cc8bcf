import { assertMembers } from "../../checks/members.js";

/** Limits for one principal. */
export interface MemoryLimits {
  /** Maximum size of a key in UTF-8, in bytes: at most 1,024; 256 unless given. */
  readonly keyBytes: number;
  /** Maximum size of a value as JSON, in bytes: at most 1 MiB; 64 KiB unless given. */
  readonly valueBytes: number;
  /** Maximum number of entries; 1,000 unless given. */
  readonly entries: number;
  /** Maximum size of all keys and values together, in bytes; 4 MiB unless given. */
  readonly bytes: number;
}

const USUAL: MemoryLimits = {
  keyBytes: 256,
  valueBytes: 64 * 1024,
  entries: 1000,
  bytes: 4 * 1024 * 1024,
};
/**
 * Upper bounds of two limits. PostgreSQL cannot index more than 2,700 bytes, and the index has the principal in
 * addition to the key.
 */
const MOST = { keyBytes: 1024, valueBytes: 1024 * 1024 };

/** @throws TypeError naming the limit that is wrong. */
export function settledLimits(limits: Partial<MemoryLimits>): MemoryLimits {
  assertMembers(limits, Object.keys(USUAL), "limits");
  const given = Object.entries(limits).filter(([, value]) => value !== undefined);
  const settled: MemoryLimits = { ...USUAL, ...Object.fromEntries(given) };
  for (const [name, value] of Object.entries(settled)) {
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new TypeError(`limits.${name}: must be a whole number, 1 or more`);
    }
  }
  for (const [name, most] of Object.entries(MOST)) {
    if (Reflect.get(settled, name) <= most) continue;
    throw new TypeError(`limits.${name}: must be ${most} at most`);
  }
  return settled;
}

/**
 * Stable code of the reason why an entry cannot be stored.
 *
 * - `key_invalid`: the key is empty, too long, or has a control character, a lone surrogate or U+10FFFF.
 * - `value_too_large`: the value is larger than `valueBytes`.
 * - `quota_exceeded`: the principal has the maximum number of entries or bytes.
 */
export type MemoryErrorCode = "key_invalid" | "value_too_large" | "quota_exceeded";

/** Thrown if an entry cannot be stored. The message may be shown to the client. */
export class MemoryError extends Error {
  override readonly name = "MemoryError";
  readonly code: MemoryErrorCode;

  constructor(code: MemoryErrorCode, message: string) {
    super(message);
    this.code = code;
  }
}

// U+10FFFF, the last code point, marks the end of a range of keys.
const UNFIT = /[\p{Cc}\p{Cs}\u{10ffff}]/u;

/** @throws MemoryError `key_invalid` */
export function assertKey(key: string, { keyBytes }: MemoryLimits): void {
  if (key === "") throw new MemoryError("key_invalid", "the key is empty");
  assertKeyText(key, keyBytes, "the key");
}

/**
 * Validates a key, or a prefix of keys, which may be empty.
 * @throws MemoryError `key_invalid`
 */
export function assertKeyText(text: string, most: number, what: string): void {
  if (Buffer.byteLength(text) > most) {
    throw new MemoryError("key_invalid", `${what} has more than ${most} bytes`);
  }
  if (UNFIT.test(text)) {
    const message = `${what} has a character that no key has: a control, a lone surrogate or U+10FFFF`;
    throw new MemoryError("key_invalid", message);
  }
}
