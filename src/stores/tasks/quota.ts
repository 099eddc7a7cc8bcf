import type { Kysely } from "kysely";
import type { StoreTables } from "../database.js";
import type { Stored } from "./stored.js";

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

/** A principal has as many tasks as are kept for it. The message is for the caller. */
export class TaskQuotaError extends Error {
  override readonly name = "TaskQuotaError";
}

/** Holds each principal to what is kept for it: a caller must not fill the disk. */
export class Quota {
  readonly #quota: TaskQuota;
  readonly #stored: Stored;

  /** @throws TypeError if a number is not whole, or less than 1. */
  constructor(quota: Partial<TaskQuota>, stored: Stored) {
    this.#quota = { ...QUOTA, ...quota };
    for (const [name, value] of Object.entries(this.#quota)) {
      if (Number.isSafeInteger(value) && value >= 1) continue;
      throw new TypeError(`quota.${name}: must be a whole number, 1 or more`);
    }
    this.#stored = stored;
  }

  /**
   * @param principal - As a JSON string.
   * @param more - What is to be added to what is written, the access that it is made with included.
   * @throws TaskQuotaError if that is more than is kept for the principal.
   */
  async assertRoom(db: Kysely<StoreTables>, principal: string, more: TaskQuota): Promise<void> {
    if (more.tasks === 0 && more.bytes <= 0) return;
    const tasks = await this.#used(db, "task", principal);
    const pushes = await this.#used(db, "push", principal);
    const accesses = await this.#used(db, "access", principal);
    const { tasks: most, bytes } = this.#quota;
    if (tasks.count + more.tasks > most) {
      throw new TaskQuotaError(
        `this agent keeps ${most} tasks for a principal, and this principal has as many; ${ADVICE}`,
      );
    }
    if (tasks.bytes + pushes.bytes + accesses.bytes + more.bytes > bytes) {
      throw new TaskQuotaError(
        `this agent keeps ${inWords(bytes)} of tasks for a principal, and with this one there would be more; ${ADVICE}`,
      );
    }
  }

  async #used(
    db: Kysely<StoreTables>,
    table: "task" | "push" | "access",
    principal: string,
  ): Promise<{ readonly count: number; readonly bytes: number }> {
    const { count, bytes } = await db
      .selectFrom(table)
      .select((of) => [of.fn.countAll().as("count"), of.fn.sum("bytes").as("bytes")])
      .where("principal", "=", principal)
      .executeTakeFirstOrThrow();
    return {
      count: this.#stored.number(Number(count), "count"),
      bytes: this.#stored.number(Number(bytes), "bytes"),
    };
  }
}

const ADVICE = "try again when older ones have been removed";

function inWords(bytes: number): string {
  return bytes >= 2 ** 20 ? `${Math.floor(bytes / 2 ** 20)} MiB` : `${bytes} bytes`;
}
