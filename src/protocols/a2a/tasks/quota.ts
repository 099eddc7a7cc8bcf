import { LRUCache } from "lru-cache";
import type { StoreQueries } from "../../../stores/database.js";

/** What is kept for one principal at most. */
export interface TaskQuota {
  /** 10,000 unless given. */
  readonly tasks: number;
  /**
   * Of tasks and push configurations as they are stored, and of the paths that they were made with;
   * 64 MiB unless given.
   */
  readonly bytes: number;
}

const QUOTA: TaskQuota = { tasks: 10_000, bytes: 64 * 2 ** 20 };
/** What counts: tasks, and what they were made with and are sent to. */
const TABLES = ["task", "push", "access"] as const;

/**
 * Of the room that a count has found, the share that may be filled before the next one: each of as many
 * instances can fill its own, and none is beyond the quota. With little room left, each addition counts.
 */
const SHARE = 1 / 16;
/** Milliseconds for which a count is taken for true. */
const COUNTED = 60_000;
/** Principals whose room is remembered. */
const KNOWN = 10_000;

/** A principal has as many tasks as are kept for it. The message is for the caller. */
export class TaskQuotaError extends Error {
  override readonly name = "TaskQuotaError";

  constructor(reason: string) {
    super(`this agent keeps ${reason}; try again when older ones have been removed`);
  }
}

/** Holds each principal to what is kept for it: a caller must not fill the disk. */
export class Quota {
  readonly #quota: TaskQuota;
  /** By principal, what may be added before its tasks are counted anew. */
  readonly #room = new LRUCache<string, TaskQuota>({ max: KNOWN, ttl: COUNTED });

  /** @throws TypeError if a number is not whole, or less than 1. */
  constructor(quota: Partial<TaskQuota>) {
    this.#quota = { ...QUOTA, ...quota };
    for (const [name, value] of Object.entries(this.#quota)) {
      if (Number.isSafeInteger(value) && value >= 1) continue;
      throw new TypeError(`quota.${name}: must be a whole number, 1 or more`);
    }
  }

  /**
   * @param principal - As a JSON string.
   * @param more - What is to be added to what is written.
   * @param written - Bytes that the same call has written already, for the access that it is made with.
   * @throws TaskQuotaError if that is more than is kept for the principal.
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
   * Takes what is to be added off the room that the last count has found.
   *
   * @param principal - As a JSON string.
   * @returns Whether there is so much; if not, nothing is taken.
   */
  takes(principal: string, { tasks, bytes }: TaskQuota): boolean {
    const known = this.#room.get(principal);
    if (known === undefined || known.tasks < tasks || known.bytes < bytes) return false;
    const left = { tasks: known.tasks - tasks, bytes: known.bytes - bytes };
    this.#room.set(principal, left, { noUpdateTTL: true });
    return true;
  }

  /**
   * Takes what was written without permission off the room, which may then be less than none: the next addition
   * counts anew.
   *
   * @param principal - As a JSON string.
   */
  spent(principal: string, bytes: number): void {
    const known = this.#room.get(principal);
    if (known === undefined || bytes <= 0) return;
    this.#room.set(principal, { ...known, bytes: known.bytes - bytes }, { noUpdateTTL: true });
  }

  /** Forgets every count: one may have taken tasks for removed whose removal was not committed. */
  forget(): void {
    this.#room.clear();
  }

  /** Counts what is kept for a principal. @returns What may be added before it is counted again. */
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
