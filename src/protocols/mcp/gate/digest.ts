import { createHash } from "node:crypto";

/**
 * Returns the SHA-256 of a string, in base64url. The gate keeps it in place of the string, whose length the other side
 * chooses.
 */
export function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}
