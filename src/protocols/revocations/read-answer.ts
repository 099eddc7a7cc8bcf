import { equalBytes } from "@noble/ciphers/utils.js";
import { decodeBase64 } from "../../bytes/base64.js";
import { canonicalJson, isJsonObject, type Json } from "../../bytes/json.js";
import { TokenError } from "../../bytes/token-error.js";
import { parseTime } from "../../caveats/time.js";
import { ClientError } from "../../client/client-error.js";
import type { FeedKey } from "../../issuer/derived-keys.js";
import { digestOf, MAC_HEADER, type Statement, statementMac, TRUST_HEADER } from "./statement.js";

/** An answer of the feed that the issuer made for this service. */
export interface FeedReading {
  /** The names of the list's pages; absent if the list has not changed. */
  readonly pages?: readonly string[];
  readonly statement: Statement;
  /** From the statement, in milliseconds since 1970. */
  readonly trustedUntil: number;
}

/** The context in which an answer is read. */
interface ReadingContext {
  readonly key: FeedKey;
  /** The ETag of the present list, which made the request conditional. */
  readonly known: Pick<Statement, "version" | "digest"> | undefined;
  /** The nonce of the question. */
  readonly nonce: string;
  readonly origin: string;
}

/**
 * Reads an answer; uses nothing in it before its MAC is verified.
 *
 * @throws ClientError `answer_malformed`
 */
export async function readAnswer(
  response: Response,
  { key, known, nonce, origin }: ReadingContext,
): Promise<FeedReading> {
  const badAnswer = (what: string): ClientError =>
    new ClientError("answer_malformed", `the revocation list of ${origin}: ${what}`, origin);
  const trusted = response.headers.get(TRUST_HEADER) ?? "";
  const trustedUntil = parseTime(trusted);
  const index = response.status === 304 ? undefined : indexIn(await bodyOf(response));
  const list = response.status === 304 ? known : index;
  if (list === undefined || trustedUntil === undefined)
    throw badAnswer("the answer is not of a feed");
  const { version, digest } = list;
  const statement = { version, digest, trustedUntil: trusted, nonce };
  if (!isMac(response.headers.get(MAC_HEADER), statementMac(key, statement))) {
    throw badAnswer(
      "the answer was not made for this question of this service by the issuer that has its key",
    );
  }
  return { statement, trustedUntil, ...(index === undefined ? {} : { pages: index.pages }) };
}

async function bodyOf(response: Response): Promise<{ readonly [name: string]: Json }> {
  const text = await response.text();
  const value: Json = text === "" ? null : JSON.parse(text);
  return isJsonObject(value) ? value : {};
}

/** SHA-256 in base64url. */
const NAME = /^[\w-]{43}$/;

function indexIn({
  version,
  pages,
}: {
  readonly [name: string]: Json;
}): (Pick<Statement, "version" | "digest"> & { readonly pages: readonly string[] }) | undefined {
  if (typeof version !== "number" || !Array.isArray(pages)) return undefined;
  if (!Number.isSafeInteger(version) || version < 0) return undefined;
  const names = pages.filter((name) => typeof name === "string" && NAME.test(name));
  if (names.length < pages.length) return undefined;
  return { version, pages: names, digest: digestOf(canonicalJson(names)) };
}

function isMac(header: string | null, expected: Uint8Array): boolean {
  try {
    return equalBytes(decodeBase64(header ?? ""), expected);
  } catch (error) {
    if (error instanceof TokenError) return false;
    throw error;
  }
}
