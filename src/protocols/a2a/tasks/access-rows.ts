import { hash } from "node:crypto";
import type { SelectQueryBuilder } from "kysely";
import type { AuthorityUse } from "../../../agent/coverage.js";
import type { StoreQueries, StoreTables } from "../../../stores/database.js";
import { type Asker, type TaskView, usesOf, viewOf } from "./task-access.js";

// The rows of accesses, and the query for the accesses whose tasks a request may see. Tasks and push
// configurations refer to the access with which they were made.

/** A request that views tasks: its access, the tenant that it names, and its uses of authority. */
export interface Viewer extends TaskView {
  /** The uses of authority that the request's own task has made so far. */
  readonly uses: readonly AuthorityUse[];
}

/** @throws TypeError if the authority of the request was not set. */
export function viewerOf(asker: Asker): Viewer {
  const { access, tenant } = viewOf(asker);
  return { access, tenant, uses: "access" in asker ? [] : usesOf(asker) };
}

/** Returns the party of a request, as JSON; null if the request has no capabilities, or its agent is unknown. */
export function partyOf({ tenant, access }: Viewer): string | null {
  const { principal, invoker, paths } = access;
  return invoker === undefined || paths.length === 0
    ? null
    : JSON.stringify([tenant, principal, invoker]);
}

/**
 * After a use of an access is recorded, further uses are not recorded for this many milliseconds. Pruning
 * therefore waits this much longer.
 */
export const DAY: number = 24 * 60 * 60 * 1000;
/** Approximate size of a row of `link` with its index entries, in bytes. */
const LINK_BYTES = 128;

/**
 * Inserts the access unless it is stored already, and returns its number and the number of bytes written.
 * Accesses count against the quota of their principal.
 */
export async function putAccess(
  db: StoreQueries,
  { tenant, access }: Viewer,
  now: number,
): Promise<{ readonly seq: number; readonly written: number }> {
  const paths = sortedPaths(access);
  const columns = {
    tenant: JSON.stringify(tenant),
    principal: JSON.stringify(access.principal),
    size: paths.length,
  };
  const key = accessKey({ tenant, access });
  const known = await db
    .selectFrom("access")
    .select(["seq", "used"])
    .where("key", "=", key)
    .executeTakeFirst();
  // An access used within the last day is not pruned, so the time of its last use need not be updated.
  if (known !== undefined && known.used > now - DAY) return { seq: known.seq, written: 0 };
  const ids = paths.map((path) => [...new Set(path)]);
  const names = Buffer.byteLength(columns.tenant + columns.principal);
  const bytes = names + LINK_BYTES * ids.flat().length;
  const { seq } = await db
    .insertInto("access")
    .values({ key, ...columns, bytes, used: now })
    .onConflict((conflict) => conflict.column("key").doUpdateSet({ used: now }))
    .returning("seq")
    .executeTakeFirstOrThrow();
  const links = ids.flatMap((path, at) =>
    path.map((id) => ({ id: JSON.stringify(id), access: seq, path: at })),
  );
  if (links.length > 0) {
    const insert = db.insertInto("link").values(links);
    await insert.onConflict((conflict) => conflict.doNothing()).execute();
  }
  return { seq, written: bytes };
}

function sortedPaths({ paths }: TaskView["access"]): readonly (readonly string[])[] {
  return [...paths].sort((a, b) => (a.join() < b.join() ? -1 : 1));
}

/** Returns the key of an access. For ambient authority, the key includes the agent. */
export function accessKey({ tenant, access }: Pick<Viewer, "tenant" | "access">): string {
  const { principal, invoker = null } = access;
  const paths = sortedPaths(access);
  const parts = [tenant, principal, paths, ...(paths.length === 0 ? [invoker] : [])];
  return hash("sha256", JSON.stringify(parts), "base64url");
}

/**
 * Returns a query for the numbers of all accesses whose tasks a viewer may see. The principal must be the same.
 * For each token of the maker, the viewer must present that token, or a token from which it was narrowed. A
 * token narrowed from the maker's token is not enough, and neither is another token narrowed from the same
 * parent. Tasks made with ambient authority are visible only to the same agent with ambient authority. Tasks
 * made with capabilities are visible only with capabilities.
 */
export function visibleTo(
  db: StoreQueries,
  { tenant, access }: Viewer,
): SelectQueryBuilder<StoreTables, "access" | "link", { seq: number }> {
  const theirs = { tenant: JSON.stringify(tenant), principal: JSON.stringify(access.principal) };
  if (access.paths.length === 0) {
    return db
      .selectFrom("access")
      .select("access.seq")
      .where("key", "=", accessKey({ tenant, access }));
  }
  // The last id of a path distinguishes a token from the tokens from which it was narrowed.
  const lasts = new Set(access.paths.flatMap((path) => path.slice(-1)));
  const ids = Array.from(lasts, (id) => JSON.stringify(id));
  // SQLite keeps the order of a cross join. With another join, SQLite would read all accesses of the principal.
  return db
    .selectFrom("link")
    .crossJoin("access")
    .select("access.seq")
    .whereRef("link.access", "=", "access.seq")
    .where("link.id", "in", ids)
    .where("tenant", "=", theirs.tenant)
    .where("principal", "=", theirs.principal)
    .groupBy(["access.seq", "access.size"])
    .having((of) => of(of.fn.count("link.path").distinct(), "=", of.ref("access.size")));
}

/**
 * Deletes at most `most` accesses that were last used more than a day before `before`, and that no task or push
 * configuration refers to.
 *
 * @returns The number of deleted accesses.
 */
export async function pruneAccesses(
  db: StoreQueries,
  before: number,
  most: number,
): Promise<number> {
  const unused = db
    .selectFrom("access")
    .select("seq")
    .where("used", "<", before - DAY)
    .where("seq", "not in", db.selectFrom("task").select("access"))
    .where("seq", "not in", db.selectFrom("push").select("access"))
    .limit(most);
  const rows = await db
    .deleteFrom("access")
    .where("seq", "in", unused)
    .where("used", "<", before - DAY)
    .returning("seq")
    .execute();
  const gone = rows.map(({ seq }) => seq);
  if (gone.length > 0) await db.deleteFrom("link").where("access", "in", gone).execute();
  return gone.length;
}
