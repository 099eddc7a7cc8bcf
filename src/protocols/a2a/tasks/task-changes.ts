import type { TableDatabase } from "../../../stores/database.js";

/** Milliseconds between two queries for changes by other processes. */
const INTERVAL = 1000;
/** Maximum number of tasks in one query. */
const AT_ONCE = 500;

/** A watch on one task. */
export interface TaskWatch {
  /**
   * Resolves once the task may have changed since the last call, or after a time limit.
   *
   * @param most - The time limit in milliseconds.
   * @returns `true` if the task may have changed; `false` after the time limit.
   */
  changed(most: number): Promise<boolean>;
  /** Resolves the pending call of {@link TaskWatch.changed}, or else the next call, with `true`. */
  wake(): void;
  /** Ends the watch. */
  stop(): void;
}

interface Watched {
  readonly wakes: Set<() => void>;
  /** The state of the task in the database at the last query; `undefined` before the first query. */
  seen?: string;
}

/**
 * Notices changes of tasks: changes by this process immediately, and changes by other processes through a query
 * every second.
 */
export class TaskChanges {
  readonly #database: TableDatabase;
  /** Watches by task id. */
  readonly #watched = new Map<string, Watched>();
  #timer: NodeJS.Timeout | undefined;
  #looking = false;

  constructor(database: TableDatabase) {
    this.#database = database;
  }

  /** Records that this process has changed a task. */
  note(id: string): void {
    for (const wake of this.#watched.get(id)?.wakes ?? []) wake();
  }

  /** Watches a task. Call it before reading the task, so that no change is missed. */
  watch(id: string): TaskWatch {
    const watched = this.#watched.get(id) ?? { wakes: new Set() };
    this.#watched.set(id, watched);
    this.#timer ??= setInterval(() => void this.#look(), INTERVAL).unref();
    let isChanged = false;
    let notify = (): void => {};
    const wake = (): void => {
      isChanged = true;
      notify();
    };
    watched.wakes.add(wake);
    return {
      wake,
      changed: async (most) => {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          notify = resolve;
          if (isChanged) resolve();
          else timer = setTimeout(resolve, most).unref();
        });
        clearTimeout(timer);
        const answer = isChanged;
        isChanged = false;
        return answer;
      },
      stop: () => {
        watched.wakes.delete(wake);
        if (watched.wakes.size === 0) this.#watched.delete(id);
        if (this.#watched.size === 0) this.#stop();
      },
    };
  }

  #stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async #look(): Promise<void> {
    if (this.#looking) return;
    this.#looking = true;
    try {
      const ids = [...this.#watched.keys()];
      for (let at = 0; at < ids.length; at += AT_ONCE) {
        await this.#lookAt(ids.slice(at, at + AT_ONCE));
      }
    } catch {
      // The next read of a task reports the database error.
    } finally {
      this.#looking = false;
    }
  }

  async #lookAt(ids: readonly string[]): Promise<void> {
    const rows = await this.#database.read((db) =>
      db
        .selectFrom("task")
        .select(["id", "state", "updated", "saved", "bytes"])
        .where(
          "id",
          "in",
          ids.map((id) => JSON.stringify(id)),
        )
        .execute(),
    );
    const found = new Map(rows.map(({ id, ...row }) => [id, JSON.stringify(row)]));
    for (const id of ids) {
      const watched = this.#watched.get(id);
      const seen = found.get(JSON.stringify(id)) ?? "gone";
      if (watched === undefined || watched.seen === seen) continue;
      watched.seen = seen;
      this.note(id);
    }
  }
}
