import { LRUCache } from "lru-cache";
import type { StoreQueries } from "../../../stores/database.js";

/** Limits for one principal. */
export interface TaskQuota {
  /** Number of tasks; 10,000 unless given. */
  readonly tasks: number;
  /**
   * Bytes of tasks and push configurations as stored, and of the paths that they were made with; 64 MiB unless
   * given.
   */
  readonly bytes: number;
}

const QUOTA: TaskQuota = { tasks: 10_000, bytes: 64 * 2 ** 20 };
/** The totals of tasks, their push configurations, and the accesses they were made with. */
const TABLES = ["task", "push", "access"] as const;

/**
 * The share of the free room that may be filled before the next count, so that this many instances together
 * stay within the quota. With little room left, each addition counts.
 */
const SHARE = 1 / 16;
/** Milliseconds for which a count is trusted. */
const COUNTED = 60_000;
/** Number of principals whose room is remembered. */
const KNOWN = 10_000;

/** A principal has reached its quota of tasks. The message is for the caller. */
export class TaskQuotaError extends Error {
  override readonly name = "TaskQuotaError";

  constructor(reason: string) {
    super(`this agent keeps ${reason}; try again when older ones have been removed`);
  }
}

/** Holds each principal to its quota, so that a caller cannot fill the disk. */
export class Quota {
  readonly #quota: TaskQuota;
  /** By principal, the room that may be used before its tasks are counted again. */
  readonly #room = new LRUCache<string, TaskQuota>({ max: KNOWN, ttl: COUNTED });

  /** @throws TypeError if a limit is not a whole number of at least 1. */
  constructor(quota: Partial<TaskQuota>) {
    this.#quota = { ...QUOTA, ...quota };
    for (const [name, value] of Object.entries(this.#quota)) {
      if (Number.isSafeInteger(value) && value >= 1) continue;
      throw new TypeError(`quota.${name}: must be a whole number, 1 or more`);
    }
  }

  /**
   * @param principal - As a JSON string.
   * @param more - The planned addition.
   * @param written - Bytes that the same call has written already, for its access.
   * @throws TaskQuotaError if the quota does not allow the addition.
   */
  async assertRoom(
    db: StoreQueries,
    principal: string,
    more: TaskQuota,
    written = 0,
  ): Promise<void> {
    if (more.tasks === 0 && more.bytes <= 0) return;
    if (this.takes(principal, { ...more, bytes: Math.max(0, more.bytes) + written })) return;
    this.#room.set(principal, await this.#counted(db, principal, more));
  }

  /**
   * Takes an addition off the room of the last count.
   *
   * @param principal - As a JSON string.
   * @returns Whether there is enough room; if not, nothing is taken.
   */
  takes(principal: string, { tasks, bytes }: TaskQuota): boolean {
    const known = this.#room.get(principal);
    if (known === undefined || known.tasks < tasks || known.bytes < bytes) return false;
    const left = { tasks: known.tasks - tasks, bytes: known.bytes - bytes };
    this.#room.set(principal, left, { noUpdateTTL: true });
    return true;
  }

  /**
   * Takes an unplanned write off the room, which may become negative; the next addition then counts anew.
   *
   * @param principal - As a JSON string.
   */
  spent(principal: string, bytes: number): void {
    const known = this.#room.get(principal);
    if (known === undefined || bytes <= 0) return;
    this.#room.set(principal, { ...known, bytes: known.bytes - bytes }, { noUpdateTTL: true });
  }

  /** Forgets every count, since a count may include a removal that was not committed. */
  forget(): void {
    this.#room.clear();
  }

  /** Counts the data of a principal. @returns The room that may be used before it is counted again. */
  async #counted(db: StoreQueries, principal: string, more: TaskQuota): Promise<TaskQuota> {
    const most = this.#quota;
    let { tasks, bytes } = more;
    for (const table of TABLES) {
      const used = await db
        .selectFrom(table)
        .select((of) => [of.fn.countAll().as("count"), of.fn.sum("bytes").as("bytes")])
        .$if(table !== "task", (query) => query.where("principal", "=", principal))
        .$if(table === "task", (query) =>
          query.where("access", "in", (of) =>
            of.selectFrom("access").select("seq").where("principal", "=", principal),
          ),
        )
        .executeTakeFirstOrThrow();
      if (table === "task") tasks += Number(used.count);
      bytes += Number(used.bytes);
    }
    if (tasks > most.tasks) {
      const reason = `${most.tasks} tasks for a principal, and this principal has as many`;
      throw new TaskQuotaError(reason);
    }
    if (bytes > most.bytes) {
      const size = inWords(most.bytes);
      const reason = `${size} of tasks for a principal, and with this one there would be more`;
      throw new TaskQuotaError(reason);
    }
    return {
      tasks: Math.floor((most.tasks - tasks) * SHARE),
      bytes: Math.floor((most.bytes - bytes) * SHARE),
    };
  }
}

function inWords(bytes: number): string {
  return bytes >= 2 ** 20 ? `${Math.floor(bytes / 2 ** 20)} MiB` : `${bytes} bytes`;
}
