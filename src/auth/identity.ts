/** The rule for names of principals and invokers, for messages after a colon. */
export const IDENTITY: string = "a string of 1 to 256 characters, without control characters";

/** Longest name in UTF-16 code units; OpenID Connect allows 255 for `sub`. */
const MAX_LENGTH = 256;

/** Returns whether a value can name a principal or an invoker. */
export function isIdentity(value: unknown): value is string {
  if (typeof value !== "string" || value === "" || value.length > MAX_LENGTH) return false;
  return value.isWellFormed() && !/\p{Cc}/u.test(value);
}
