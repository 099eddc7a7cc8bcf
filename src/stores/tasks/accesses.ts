import { createHash } from "node:crypto";
import type { ServerCallContext } from "@a2a-js/sdk/server";
import type { Kysely, SelectQueryBuilder } from "kysely";
import type { AuthorityUse } from "../../agent/coverage.js";
import type { StoreTables } from "../database.js";
import type { Stored } from "./stored.js";
import { lastsOf, mayAccess, type TaskAccess, taskAccessOf, usesOf } from "./task-access.js";

/** Who looks: an access, and the tenant that the request names. */
export interface Viewer {
  readonly tenant: string;
  readonly access: TaskAccess;
  /** What the request's own task was done with so far. */
  readonly uses: readonly AuthorityUse[];
}

/** @throws TypeError if it is not known on whose authority the request is made. */
export function viewerOf(context: ServerCallContext): Viewer {
  const access = taskAccessOf(context);
  return { tenant: context.tenant ?? "", access, uses: usesOf(context) };
}

/** The party that makes a request with capabilities, where its agent is known. */
export function partyOf({ tenant, access }: Viewer): string | null {
  const { principal, invoker, paths } = access;
  return invoker === undefined || paths.length === 0
    ? null
    : JSON.stringify([tenant, principal, invoker]);
}

const DAY = 24 * 60 * 60 * 1000;
/** What a row of `link` takes on the disk with its indexes, about. */
const LINK_BYTES = 128;

/** The accesses that tasks and push configurations were made with. */
export class Accesses {
  readonly #stored: Stored;

  constructor(stored: Stored) {
    this.#stored = stored;
  }

  /**
   * The number of an access, which is written down if it is new, and counts against the quota of its
   * principal then.
   */
  async put(db: Kysely<StoreTables>, { tenant, access }: Viewer, now: number): Promise<number> {
    const paths = [...access.paths].sort((a, b) => (a.join() < b.join() ? -1 : 1));
    const columns = {
      tenant: JSON.stringify(tenant),
      principal: JSON.stringify(access.principal),
      paths: JSON.stringify(paths),
    };
    const text = Object.values(columns).join();
    const key = createHash("sha256").update(text).digest("base64url");
    const known = await db
      .selectFrom("access")
      .select(["seq", "used"])
      .where("key", "=", key)
      .executeTakeFirst();
    // What was used within the day is not pruned, and need not be written.
    if (known !== undefined && known.used > now - DAY) return this.#stored.number(known.seq, "seq");
    const ids = paths.map((path) => [...new Set(path)]);
    const bytes = Buffer.byteLength(text) + LINK_BYTES * ids.flat().length;
    const { seq } = await db
      .insertInto("access")
      .values({ key, ...columns, size: paths.length, bytes, used: now })
      .onConflict((conflict) => conflict.column("key").doUpdateSet({ used: now }))
      .returning("seq")
      .executeTakeFirstOrThrow();
    const links = ids.flatMap((path, at) =>
      path.map((id) => ({ id: JSON.stringify(id), access: seq, path: at })),
    );
    if (links.length > 0) {
      const fresh = (values: typeof links) =>
        db
          .insertInto("link")
          .values(values)
          .onConflict((conflict) => conflict.doNothing());
      await fresh(links).execute();
    }
    return seq;
  }

  /** Whether a viewer may see what was made with the access of that number. */
  async visible(db: Kysely<StoreTables>, seq: number, viewer: Viewer): Promise<boolean> {
    const row = await db
      .selectFrom("access")
      .select(["tenant", "principal", "paths"])
      .where("seq", "=", seq)
      .executeTakeFirst();
    if (row === undefined) return this.#stored.damaged("access");
    const tenant = this.#stored.string(row.tenant, "tenant");
    return tenant === viewer.tenant && mayAccess(viewer.access, this.#access(row));
  }

  /**
   * The numbers of all accesses whose tasks a viewer may see, as a query: by the rule of
   * {@link mayAccess}.
   */
  visibleTo(
    db: Kysely<StoreTables>,
    { tenant, access }: Viewer,
  ): SelectQueryBuilder<StoreTables, "access" | "link", { seq: number }> {
    const theirs = { tenant: JSON.stringify(tenant), principal: JSON.stringify(access.principal) };
    if (access.paths.length === 0) {
      return db
        .selectFrom("access")
        .select("access.seq")
        .where("tenant", "=", theirs.tenant)
        .where("principal", "=", theirs.principal)
        .where("size", "=", 0);
    }
    const lasts = Array.from(lastsOf(access), (id) => JSON.stringify(id));
    // A cross join: SQLite keeps its order, and does not go through all accesses of the principal.
    return db
      .selectFrom("link")
      .crossJoin("access")
      .select("access.seq")
      .whereRef("link.access", "=", "access.seq")
      .where("link.id", "in", lasts)
      .where("tenant", "=", theirs.tenant)
      .where("principal", "=", theirs.principal)
      .groupBy(["access.seq", "access.size"])
      .having((of) => of(of.fn.count("link.path").distinct(), "=", of.ref("access.size")));
  }

  /** Removes up to so many accesses that nothing is left of. @returns How many were removed. */
  async prune(db: Kysely<StoreTables>, before: number, most: number): Promise<number> {
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

  #access(row: { readonly principal: unknown; readonly paths: unknown }): TaskAccess {
    const paths = this.#stored.json(row.paths, "paths");
    if (!Array.isArray(paths) || !paths.every(isPath)) return this.#stored.damaged("paths");
    return { principal: this.#stored.string(row.principal, "principal"), paths };
  }
}

function isPath(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((id) => typeof id === "string");
}
