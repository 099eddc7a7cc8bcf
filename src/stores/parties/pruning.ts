import { type RawBuilder, sql } from "kysely";
import type { AgentGrant, AgentRecord, HostRecord } from "../../agent/parties/records.js";
import type { PartyRecords } from "../../agent/parties/store.js";
import { BATCH, inBatches } from "../batches.js";
import type { TableDatabase } from "../database.js";
import { key, TABLES } from "./kinds.js";
import { keptIn, type Row } from "./view.js";

/**
 * Returns a statement that removes at most {@link BATCH} expired one-time ids.
 * @param now - Milliseconds since 1970.
 */
export function usedOnceOver(now: number): RawBuilder<unknown> {
  return sql`DELETE FROM used_once WHERE key IN
    (SELECT key FROM used_once WHERE expires <= ${now} LIMIT ${sql.lit(BATCH)})`;
}

/**
 * Removes expired one-time ids and answered requests. Also removes approvals, grants, agents, hosts and
 * delegations that ended before `before`. Uses small transactions.
 *
 * @param now - Milliseconds since 1970.
 * @param before - Milliseconds since 1970.
 * @param places - The state that {@link pruneEnded} keeps between calls.
 * @returns The number of rows removed.
 */
export async function pruneParties(
  database: TableDatabase,
  now: number,
  before: number,
  places: PruneCursors,
): Promise<number> {
  const most = sql.lit(BATCH);
  const steps = [
    usedOnceOver(now),
    sql`DELETE FROM answered_request WHERE id IN
      (SELECT id FROM answered_request WHERE expires <= ${now} LIMIT ${most})`,
    sql`DELETE FROM delegation WHERE id IN
      (SELECT id FROM delegation WHERE expires <= ${before} LIMIT ${most})`,
    sql`DELETE FROM approval WHERE id IN
      (SELECT id FROM approval WHERE until <= ${before} LIMIT ${most})`,
    // The approvers of approvals that no longer exist.
    sql`DELETE FROM approver WHERE approval IN
      (SELECT approval FROM approver
        WHERE NOT EXISTS (SELECT 1 FROM approval WHERE approval.id = approver.approval) LIMIT ${most})`,
  ];
  let removed = 0;
  for (const step of steps) {
    removed += await inBatches(database, async (db) =>
      Number((await step.execute(db)).numAffectedRows ?? 0),
    );
  }
  return removed + (await pruneEnded(database, before, places));
}

type Ending = "grants" | "agents" | "hosts";

/** For each kind, the last record that has been examined; the next call continues after it. */
export type PruneCursors = { [Kind in Ending]?: PruneCursor | undefined };

/** One call reads at most this many pages of each kind. */
const PAGES = 50;

/**
 * Removes grants, agents and hosts that ended before a moment: first grants, then agents without grants, then
 * hosts without agents. Pages of records are read without a lock, so a record that changes after it was read is
 * kept.
 *
 * @param before - Milliseconds since 1970.
 * @param places - The state that is kept between calls. After the last record of a kind, the next call starts
 *   with the first record.
 * @returns The number of records removed.
 */
async function pruneEnded(
  database: TableDatabase,
  before: number,
  places: PruneCursors,
): Promise<number> {
  const grants = await prunePages(database, "grants", before, places, grantIsOver, NO_APPROVAL);
  const agents = await prunePages(database, "agents", before, places, agentIsOver, NO_GRANT);
  const hosts = await prunePages(database, "hosts", before, places, hostIsOver, NO_AGENT);
  return grants + agents + hosts;
}

// Conditions under which no other record refers to the ended record.
const NO_APPROVAL = sql`NOT EXISTS (SELECT 1 FROM approval WHERE approval.id = party_grant.approval
  AND approval.state IN (${key("pending")}, ${key("approved")}))`;

const NO_GRANT = sql`NOT EXISTS
  (SELECT 1 FROM party_grant WHERE party_grant.agent = party_agent.id)`;

const NO_AGENT = sql`NOT EXISTS
  (SELECT 1 FROM party_agent WHERE party_agent.host = party_host.id)`;

function grantIsOver({ status, updated, expires }: AgentGrant, before: number): boolean {
  if (status === "active") return expires !== undefined && expires <= before;
  return updated <= before;
}

/** An expired agent can be reactivated until it is removed. */
function agentIsOver(agent: AgentRecord, before: number): boolean {
  const { status, updated, expires, lastUsed = 0 } = agent;
  if (status === "active") return expires !== undefined && Math.max(expires, lastUsed) <= before;
  return Math.max(updated, lastUsed, status === "expired" ? (expires ?? 0) : 0) <= before;
}

/** A linked host is kept until it is revoked. */
function hostIsOver(host: HostRecord, before: number): boolean {
  const { status, principal, enrolment, updated, lastUsed = 0 } = host;
  if (status === "revoked") return updated <= before;
  if (status === "enrolling") return (enrolment?.expires ?? updated) <= before;
  return principal === undefined && Math.max(updated, lastUsed) <= before;
}

interface PruneCursor {
  readonly created: number;
  readonly id: string;
}

async function prunePages<K extends Ending>(
  database: TableDatabase,
  kind: K,
  before: number,
  places: PruneCursors,
  isOver: (kept: PartyRecords[K], before: number) => boolean,
  unless: RawBuilder<unknown>,
): Promise<number> {
  const table = sql.table(TABLES[kind]);
  let removed = 0;
  for (let pages = 0; pages < PAGES; pages++) {
    const after: PruneCursor | undefined = places[kind];
    const from =
      after === undefined ? sql`` : sql`AND (created, id) > (${after.created}, ${after.id})`;
    const page = await database.read((db) =>
      sql<Row & { created: number }>`SELECT id, version, body, created FROM ${table}
        WHERE created <= ${before} ${from} ORDER BY created, id LIMIT ${sql.lit(BATCH)}`.execute(
        db,
      ),
    );
    const over = page.rows.filter((row) => endedRow(kind, row, (kept) => isOver(kept, before)));
    if (over.length > 0) {
      const same = sql.join(
        over.map(({ id, version }) => sql`(id = ${id} AND version = ${version})`),
        sql` OR `,
      );
      removed += await database.write(
        async (db) => {
          const statement = sql`DELETE FROM ${table} WHERE (${same}) AND ${unless}`;
          return Number((await statement.execute(db)).numAffectedRows ?? 0);
        },
        { urgent: true },
      );
    }
    const last = page.rows.at(-1);
    const isLast = last === undefined || page.rows.length < BATCH;
    places[kind] = isLast ? undefined : { created: Number(last.created), id: last.id };
    if (isLast) break;
  }
  return removed;
}

/** A row that cannot be read is kept; a query for its record reports the damage. */
function endedRow<K extends Ending>(
  kind: K,
  row: Row,
  isOver: (kept: PartyRecords[K]) => boolean,
): boolean {
  try {
    return isOver(keptIn(kind, row));
  } catch {
    return false;
  }
}
