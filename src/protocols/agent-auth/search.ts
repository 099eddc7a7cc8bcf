import type { JsonObject } from "../../bytes/json.js";
import type { Issuer } from "../../issuer/issuer.js";
import { wrong } from "./bodies.js";
import type { Answer } from "./front.js";

/** The properties of a capability that are searched. */
interface Searched {
  readonly name: string;
  readonly description: string;
}

/** Longest query, in characters. */
export const MAX_QUERY = 256;

/**
 * Returns the capabilities whose name or description contains at least one word of a query, ignoring case. An empty
 * query finds all capabilities.
 */
export function search<Of extends Searched>(all: readonly Of[], query: string): readonly Of[] {
  if (query.trim() === "") return all;
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return all.filter(({ name, description }) => {
    const text = `${name}\n${description}`.toLowerCase();
    return words.some((word) => text.includes(word));
  });
}

/** The position at which a page of a list begins. */
interface Position {
  /** The party that requested the list. A cursor is valid only for this party. */
  readonly party: string;
  readonly query: string;
  /** The name of the last capability on the previous page. */
  readonly after: string;
}

const PURPOSE = "agent-auth-cursor";
/** Lifetime of a cursor. */
const LIFETIME = "1h";

/** Returns a sealed cursor, which clients can neither read nor change. */
export function cursorOf(issuer: Issuer, { party, query, after }: Position): string {
  return issuer.seal(PURPOSE, JSON.stringify([party, query, after]), LIFETIME);
}

/**
 * Returns the name of the last capability on the previous page; `undefined` if the cursor is invalid, or is for another
 * party or query.
 */
export function positionOf(
  issuer: Issuer,
  cursor: string,
  { party, query }: Omit<Position, "after">,
): string | undefined {
  const text = issuer.open(PURPOSE, cursor);
  if (text === undefined) return undefined;
  const [forParty, forQuery, after]: unknown[] = JSON.parse(text);
  if (forParty !== party || forQuery !== query || typeof after !== "string") return undefined;
  return after;
}

/** A provider in the directory, with the strings that are searched. */
export interface Listed {
  /** The provider's discovery document. */
  readonly document: JsonObject;
  /** The provider's name. */
  readonly name: string;
  readonly description: string;
}

const MOST = 50;

/** Searches the directory of providers, which contains only this server. */
export function directoryAnswer(
  { intent, limit = "10" }: { readonly [name: string]: string },
  { document, name, description }: Listed,
): Answer {
  if (intent === undefined) return wrong("intent", "is missing");
  if (intent.length > MAX_QUERY) return wrong("intent", `has more than ${MAX_QUERY} characters`);
  const most = /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (most < 1 || most > MOST) return wrong("limit", `must be a whole number from 1 to ${MOST}`);
  const found = search([{ name, description }], intent);
  const providers = found.length === 0 ? [] : [document];
  const body = { providers, intent, count: providers.length };
  return { ok: true, body, cacheControl: "public, max-age=300" };
}
