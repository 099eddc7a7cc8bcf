import type { JsonObject } from "../../bytes/json.js";
import type { Issuer } from "../../issuer/issuer.js";
import { wrong } from "./bodies.js";
import type { Answer } from "./front.js";

/** A searched capability, as lists show it. */
interface Searched {
  readonly name: string;
  readonly description: string;
}

/** Longest query in characters. */
export const MAX_QUERY = 256;

/**
 * Returns the capabilities whose name or description contains any word of a query, ignoring case; all for an
 * empty one.
 */
export function search<Of extends Searched>(all: readonly Of[], query: string): readonly Of[] {
  if (query.trim() === "") return all;
  const words = query.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
  return all.filter(({ name, description }) => {
    const text = `${name}\n${description}`.toLowerCase();
    return words.some((word) => text.includes(word));
  });
}

/** The start of a page of a list. */
interface Position {
  /** The listing party; a cursor is valid for this party only. */
  readonly party: string;
  readonly query: string;
  /** The name of the last capability on the previous page. */
  readonly after: string;
}

const PURPOSE = "agent-auth-cursor";
/** Milliseconds for which a list can be continued. */
const LIFETIME = "1h";

/** Makes a cursor: opaque, and authenticated by being sealed. */
export function cursorOf(issuer: Issuer, { party, query, after }: Position): string {
  return issuer.seal(PURPOSE, JSON.stringify([party, query, after]), LIFETIME);
}

/** Returns where a list continues; `undefined` for a cursor of another server, party or query. */
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

/** The searchable description of a provider. */
export interface Listed {
  /** Its discovery document. */
  readonly document: JsonObject;
  /** Its name, its host, its description and the capabilities that it shows to every caller. */
  readonly name: string;
  readonly description: string;
}

const MOST = 50;

/** Searches the known providers: this server itself. */
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
