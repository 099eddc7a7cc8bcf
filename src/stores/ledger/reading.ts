import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { IssuedCapability, LedgerEvent, LedgerQuery } from "../../agent/ledger.js";
import type { Hop } from "../../caveats/hop.js";
import { formatTime, parseTime } from "../../caveats/time.js";
import { assertMembers } from "../../checks/members.js";
import { isRevocationId } from "../../revocation/id.js";
import type { StoreQueries, TableDatabase } from "../database.js";
import { readStored, whole } from "../stored-values.js";
import type { LedgerGap } from "./notes.js";
import { eventOf, hopOfText, issuedOf, KINDS, textKey, whatOf } from "./row.js";

const QUERY_KEYS = ["principal", "invoker", "capability", "since", "decision", "kind", "limit"];
const DECISIONS = ["allowed", "refused"] as const;
/** Maximum number of hops that one query looks up. */
const MAX_HOPS = 500;

/** @throws TypeError if the query is invalid. */
export function assertQuery(query: LedgerQuery): void {
  assertMembers(query, QUERY_KEYS, "query");
  const { since, decision, kind, limit } = query;
  if (decision !== undefined && !DECISIONS.includes(decision)) {
    throw new TypeError('decision must be "allowed" or "refused"');
  }
  if (kind !== undefined && !KINDS.includes(kind)) {
    throw new TypeError(`kind must be one of ${KINDS.join(", ")}`);
  }
  if (limit !== undefined && (!Number.isSafeInteger(limit) || limit < 1)) {
    throw new TypeError("limit must be a whole number of at least 1");
  }
  if (since !== undefined && parseTime(since) === undefined) {
    throw new TypeError("since must be a time: YYYY-MM-DDTHH:MM:SSZ");
  }
}

/** Returns events, oldest first, with the contents of the hops in their paths, as far as the ledger has them. */
export async function readEvents(
  database: TableDatabase,
  { principal, invoker, capability, since, decision, kind, limit }: LedgerQuery,
): Promise<readonly LedgerEvent[]> {
  return database.read(async (db) => {
    const from = since === undefined ? undefined : parseTime(since);
    const kinds = kind === undefined ? KINDS : [kind];
    const decisions = decision === undefined ? DECISIONS : [decision];
    const wanted = kinds.flatMap((one) => decisions.map((other) => whatOf(one, other)));
    const rows = await db
      .selectFrom("event")
      .select(["at", "what", "principal", "capability", "body"])
      .where((is) =>
        is.and([
          ...(capability === undefined ? [] : [is("capability", "=", textKey(capability))]),
          ...(principal === undefined ? [] : [is("principal", "=", textKey(principal))]),
          ...(invoker === undefined ? [] : [hasInvoker(invoker)]),
          ...(from === undefined ? [] : [is("at", ">=", from)]),
          ...(decision === undefined && kind === undefined ? [] : [is("what", "in", wanted)]),
        ]),
      )
      .orderBy("at", "desc")
      .orderBy("seq", "desc")
      .$if(limit !== undefined, (query) => query.limit(limit ?? 0))
      .execute();
    const events = readStored(database.name, "an event", () => rows.map(eventOf).reverse());
    const hops = await readHops(database, db, events);
    return events.map((event) => (event.path === undefined ? event : withHops(event, hops)));
  });
}

/**
 * Returns a condition for the events of an agent. JSON escapes quotes within strings, so the search text
 * matches only the property `invoker`.
 */
function hasInvoker(invoker: string): RawBuilder<SqlBool> {
  const member = `"invoker":${JSON.stringify(invoker)}`;
  return sql<SqlBool>`replace(body, ${member}, '') <> body`;
}

async function readHops(
  database: TableDatabase,
  db: StoreQueries,
  events: readonly LedgerEvent[],
): Promise<ReadonlyMap<string, Hop>> {
  const named = events.flatMap(({ path = [] }) => path.map(({ revocationId }) => revocationId));
  const ids = [...new Set(named)].filter(isRevocationId);
  const hops = new Map<string, Hop>();
  for (let from = 0; from < ids.length; from += MAX_HOPS) {
    const some = ids.slice(from, from + MAX_HOPS);
    const rows = await db
      .selectFrom("hop")
      .select(["revocation", "hop"])
      .where("revocation", "in", some)
      .execute();
    readStored(database.name, "a hop", () => {
      for (const { revocation, hop } of rows) hops.set(revocation, hopOfText(hop));
    });
  }
  return hops;
}

function withHops(event: LedgerEvent, hops: ReadonlyMap<string, Hop>): LedgerEvent {
  const path = (event.path ?? []).map(({ revocationId }) => {
    const hop = hops.get(revocationId);
    return hop === undefined ? { revocationId } : { revocationId, hop };
  });
  return { ...event, path };
}

/**
 * Returns an issued capability that has not expired.
 * @param now - Milliseconds since 1970.
 */
export async function readIssued(
  database: TableDatabase,
  id: string,
  now: number,
): Promise<IssuedCapability | undefined> {
  const row = await database.read((db) =>
    db
      .selectFrom("issued")
      .selectAll()
      .where("id", "=", JSON.stringify(id))
      .where("expires", ">", formatTime(now))
      .executeTakeFirst(),
  );
  return readStored(database.name, "a capability", () => row && issuedOf(row));
}

export async function readGaps(database: TableDatabase): Promise<readonly LedgerGap[]> {
  const rows = await database.read((db) =>
    db.selectFrom("gap").select(["from", "until", "lost"]).orderBy("seq").execute(),
  );
  return readStored(database.name, "a gap", () =>
    rows.map(({ from, until, lost }) => {
      const known = [from, until].every((time) => parseTime(time) !== undefined);
      if (!known) throw new TypeError("a gap has two times");
      return { from, until, lost: whole(lost) };
    }),
  );
}
