import { bytes, type Data } from "../build/bytes.js";
import type { Built } from "../build/chain.js";
import { type Form, write } from "../build/forms.js";
import type { Flag } from "./notes.js";

/** The root key of all tests that do not name another. */
export const KEY = "the root key of the vectors, 32B";

/** A token's text, with its macaroons if they are known. */
export interface Presented {
  readonly text: string;
  readonly chains: readonly Built[];
}

/** Defines a test of `macaroon.json`: read a token and verify its signatures. */
export interface MacaroonTest {
  readonly comment: string;
  readonly flags: readonly Flag[];
  readonly key: Data;
  readonly token: Presented;
  /** The code of sections 2 to 4; absent if the token is valid. */
  readonly code?: string;
}

/** The tests of one subject. */
export interface MacaroonSubject {
  readonly subject: string;
  readonly comment: string;
  readonly tests: readonly MacaroonTest[];
}

/** A macaroon with its bound discharges, in one of the four formats. */
export function as(form: Form, ...chains: readonly Built[]): Presented {
  return { text: write(form, chains), chains };
}

/** A text that a definition has built itself; `chains` are its macaroons as a reader must see them. */
export function text(written: string, ...chains: readonly Built[]): Presented {
  return { text: written, chains };
}

/** Encodes bytes as base64url, the usual text of the binary formats. */
export function binary(data: Data, ...chains: readonly Built[]): Presented {
  return text(Buffer.from(bytes(data)).toString("base64url"), ...chains);
}

/** JSON text of an object that a definition has built itself. */
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
