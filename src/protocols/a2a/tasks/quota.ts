import { LRUCache } from "lru-cache";
import type { StoreQueries } from "../../../stores/database.js";

/** Limits for one principal. */
export interface TaskQuota {
  /** Maximum number of tasks; 10,000 unless given. */
  readonly tasks: number;
  /**
   * Maximum number of stored bytes; 64 MiB unless given. It applies to the sum of tasks, push configurations,
   * and the capability paths with which they were made.
   */
  readonly bytes: number;
}

const QUOTA: TaskQuota = { tasks: 10_000, bytes: 64 * 2 ** 20 };
/** The tables that count against the quota. */
const TABLES = ["task", "push", "access"] as const;

/**
 * The fraction of the remaining quota that one instance may use before its next count. With it, up to 16
 * instances together stay within the quota. If little of the quota remains, every addition causes a new count.
 */
const SHARE = 1 / 16;
/** Milliseconds for which a count is trusted. */
const COUNTED = 60_000;
/** Maximum number of principals whose counts are remembered. */
const KNOWN = 10_000;

/** Thrown when a principal has reached its quota of tasks. The message is for the caller. */
export class TaskQuotaError extends Error {
  override readonly name = "TaskQuotaError";

  constructor(reason: string) {
    super(`this agent keeps ${reason}; try again when older ones have been removed`);
  }
}

/** Enforces each principal's quota, so that a caller cannot fill the disk. */
export class Quota {
  readonly #quota: TaskQuota;
  /** By principal, the tasks and bytes that may be added before the next count. */
  readonly #room = new LRUCache<string, TaskQuota>({ max: KNOWN, ttl: COUNTED });

  /** @throws TypeError if a limit is not an integer of at least 1. */
  constructor(quota: Partial<TaskQuota>) {
    this.#quota = { ...QUOTA, ...quota };
    for (const [name, value] of Object.entries(this.#quota)) {
      if (Number.isSafeInteger(value) && value >= 1) continue;
      throw new TypeError(`quota.${name}: must be a whole number, 1 or more`);
    }
  }

  /**
   * @param principal - The principal, as a JSON string.
   * @param more - The planned addition.
   * @param written - Bytes that the same transaction has already written for the access.
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
   * Subtracts an addition from the remainder of the last count.
   *
   * @param principal - The principal, as a JSON string.
   * @returns `true` if the remainder was enough. If not, nothing is subtracted.
   */
  takes(principal: string, { tasks, bytes }: TaskQuota): boolean {
    const known = this.#room.get(principal);
    if (known === undefined || known.tasks < tasks || known.bytes < bytes) return false;
    const left = { tasks: known.tasks - tasks, bytes: known.bytes - bytes };
    this.#room.set(principal, left, { noUpdateTTL: true });
    return true;
  }

  /**
   * Subtracts bytes that are written without a check. If the remainder becomes negative, the next addition
   * causes a new count.
   *
   * @param principal - The principal, as a JSON string.
   */
  spent(principal: string, bytes: number): void {
    const known = this.#room.get(principal);
    if (known === undefined || bytes <= 0) return;
    this.#room.set(principal, { ...known, bytes: known.bytes - bytes }, { noUpdateTTL: true });
  }

  /** Forgets all counts, because a count may include a removal that was not committed. */
  forget(): void {
    this.#room.clear();
  }

  /**
   * Counts the data of a principal.
   *
   * @returns The tasks and bytes that may be added before the next count.
   * @throws TaskQuotaError if the quota does not allow the addition.
   */
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
