import type { JsonObject } from "../../bytes/json.js";
import { wrong } from "./bodies.js";
import type { Answer } from "./front.js";
import { MAX_QUERY, search } from "./search.js";

/** What a provider is found by. */
export interface Listed {
  /** Its discovery document. */
  readonly document: JsonObject;
  /** Its name, its host and what it says of itself and of what it shows to every caller. */
  readonly name: string;
  readonly description: string;
}

const MOST = 50;

/** Searches the providers that are here: this server itself. */
export function directoryAnswer(
  { intent, limit = "5" }: { readonly [name: string]: string },
  { document, name, description }: Listed,
): Answer {
  if (intent === undefined) return wrong("intent", "is missing");
  if (intent.length > MAX_QUERY) return wrong("intent", `has more than ${MAX_QUERY} characters`);
  const most = /^\d{1,4}$/.test(limit) ? Number(limit) : 0;
  if (most < 1 || most > MOST) return wrong("limit", `must be a whole number from 1 to ${MOST}`);
  const found = search([{ name, description }], intent);
  const providers = found.length === 0 ? [] : [document];
  return { ok: true, body: { providers }, cacheControl: "public, max-age=300" };
}
