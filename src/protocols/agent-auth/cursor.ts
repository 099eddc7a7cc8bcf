import type { Issuer } from "../../issuer/issuer.js";

/** Where a page of a list starts. */
export interface Place {
  /** Who lists: a cursor is good for that party alone. */
  readonly party: string;
  readonly query: string;
  /** The name of the last capability of the page before. */
  readonly after: string;
}

const PURPOSE = "agent-auth-cursor";
/** For how long a list can be continued. */
const LIFETIME = "1h";

/** A cursor: opaque, and signed by being sealed. */
export function cursorOf(issuer: Issuer, { party, query, after }: Place): string {
  return issuer.seal(PURPOSE, JSON.stringify([party, query, after]), LIFETIME);
}

/** Where a list goes on; `undefined` for a cursor that is not of this server, party and query. */
export function placeOf(
  issuer: Issuer,
  cursor: string,
  { party, query }: Omit<Place, "after">,
): string | undefined {
  const text = issuer.open(PURPOSE, cursor);
  if (text === undefined) return undefined;
  const [forParty, forQuery, after]: unknown[] = JSON.parse(text);
  if (forParty !== party || forQuery !== query || typeof after !== "string") return undefined;
  return after;
}
