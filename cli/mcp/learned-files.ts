import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { isErrno } from "../../src/system/error-code.js";

// The last line of a learned request has a digest of the lines before it and of the token. From the digest, the next
// session knows whether somebody has changed the request or the token.

const SEAL =
  "# While this file and its token are as learn wrote them, learn replaces both: sha256 ";

/**
 * Adds the last line to a request.
 *
 * @param token - The content of the token's file; empty for a request without a token.
 */
export function sealed(text: string, token: string): string {
  return `${text}\n${SEAL}${digest(`${text}\n`, token)}\n`;
}

/** Returns whether both files are missing, or both are unchanged since learn wrote them. */
export function areAsLearned(request: string, token: string): boolean {
  if (!existsSync(request)) return !existsSync(token);
  return existsSync(token) && isSealed(request, contentOf(token));
}

/**
 * Returns the first of the names `NAME.new`, `NAME.new2` and so on whose file does not exist, or is unchanged since
 * learn wrote it.
 */
export function newName(request: string): string {
  for (let count = 1; ; count++) {
    const name = `${request}.new${count === 1 ? "" : count}`;
    if (!existsSync(name) || isSealed(name, "")) return name;
  }
}

function isSealed(request: string, token: string | undefined): boolean {
  const text = contentOf(request) ?? "";
  const end = text.lastIndexOf(SEAL);
  if (end === -1 || token === undefined) return false;
  return text.slice(end) === `${SEAL}${digest(text.slice(0, end), token)}\n`;
}

/** Returns the content of a file; `undefined` if it cannot be read. */
function contentOf(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (isErrno(error)) return undefined;
    throw error;
  }
}

function digest(request: string, token: string): string {
  return createHash("sha256").update(request).update(token).digest("hex");
}
