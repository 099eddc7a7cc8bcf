import { bytes, type Data } from "../build/bytes.js";
import type { Built } from "../build/chain.js";
import { type Form, write } from "../build/forms.js";
import type { Flag } from "./notes.js";

/** The root key of every test that names no other. */
export const KEY = "the root key of the vectors, 32B";

/** The text of a token. `chains` are its macaroons, as far as they are known. */
export interface Presented {
  readonly text: string;
  readonly chains: readonly Built[];
}

/** One test of `macaroon.json`: a token is read, and its signatures are verified. */
export interface MacaroonTest {
  readonly comment: string;
  readonly flags: readonly Flag[];
  readonly key: Data;
  readonly token: Presented;
  /** The error code of sections 2 to 4; absent if the token is valid. */
  readonly code?: string;
}

export interface MacaroonSubject {
  readonly subject: string;
  readonly comment: string;
  readonly tests: readonly MacaroonTest[];
}

/** Writes a macaroon and its bound discharges in one of the four forms. */
export function as(form: Form, ...chains: readonly Built[]): Presented {
  return { text: write(form, chains), chains };
}

/** Returns a text that a test has built itself. `chains` are the macaroons that a reader finds in it. */
export function text(written: string, ...chains: readonly Built[]): Presented {
  return { text: written, chains };
}

/** Encodes bytes as base64url, the usual text of the binary forms. */
export function binary(data: Data, ...chains: readonly Built[]): Presented {
  return text(Buffer.from(bytes(data)).toString("base64url"), ...chains);
}

/** Returns the JSON text of an object that a test has built itself. */
export function json(value: unknown, ...chains: readonly Built[]): Presented {
  return text(JSON.stringify(value), ...chains);
}

export function valid(
  comment: string,
  flags: Flag | readonly Flag[],
  token: Presented,
  key: Data = KEY,
): MacaroonTest {
  if (token.chains.length === 0) throw new Error(`no chains for "${comment}"`);
  return { comment, flags: [flags].flat(), key, token };
}

export function invalid(
  comment: string,
  flags: Flag | readonly Flag[],
  token: Presented,
  code: string,
  key: Data = KEY,
): MacaroonTest {
  return { comment, flags: [flags].flat(), key, token, code };
}
