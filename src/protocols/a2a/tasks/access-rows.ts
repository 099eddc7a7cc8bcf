import { hash } from "node:crypto";
import type { SelectQueryBuilder } from "kysely";
import type { AuthorityUse } from "../../../agent/coverage.js";
import type { StoreQueries, StoreTables } from "../../../stores/database.js";
import { type Asker, type TaskView, usesOf, viewOf } from "./task-access.js";

// The accesses that tasks and push configurations were made with, and who sees what was made with them.

/** Who looks: an access, and the tenant that the request names. */
export interface Viewer extends TaskView {
  /** What the request's own task was done with so far. */
  readonly uses: readonly AuthorityUse[];
}

/** @throws TypeError if it is not known on whose authority the request is made. */
export function viewerOf(asker: Asker): Viewer {
  const { access, tenant } = viewOf(asker);
  return { access, tenant, uses: "access" in asker ? [] : usesOf(asker) };
}

/** The party that makes a request with capabilities, where its agent is known. */
export function partyOf({ tenant, access }: Viewer): string | null {
  const { principal, invoker, paths } = access;
  return invoker === undefined || paths.length === 0
    ? null
    : JSON.stringify([tenant, principal, invoker]);
}

/** Milliseconds for which an access that was used is not written again: it is not pruned meanwhile. */
export const DAY: number = 24 * 60 * 60 * 1000;
/** What a row of `link` takes on the disk with its indexes, about. */
const LINK_BYTES = 128;

/**
 * The number of an access, which is written down if it is new, and counts against the quota of its
 * principal then; with the bytes that were written.
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
  // What was used within the day is not pruned, and need not be written.
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

/** What distinguishes an access from others. Ambient authority is a principal's through one agent. */
export function accessKey({ tenant, access }: Pick<Viewer, "tenant" | "access">): string {
  const { principal, invoker = null } = access;
  const paths = sortedPaths(access);
  const parts = [tenant, principal, paths, ...(paths.length === 0 ? [invoker] : [])];
  return hash("sha256", JSON.stringify(parts), "base64url");
}

/**
 * The numbers of all accesses whose tasks a viewer may see, as a query: for the same principal, and
 * with each of the maker's tokens, or one that it was narrowed from. What is narrowed from the maker's
 * token, or is its sibling, does not see them; nor do ambient authority and capabilities see each
 * other's. What was made with ambient authority is seen through the same agent alone.
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
  // The id that distinguishes each token from those it was narrowed from.
  const lasts = new Set(access.paths.flatMap((path) => path.slice(-1)));
  const ids = Array.from(lasts, (id) => JSON.stringify(id));
  // A cross join: SQLite keeps its order, and does not go through all accesses of the principal.
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

/** Removes up to so many accesses that nothing is left of. @returns How many were removed. */
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
