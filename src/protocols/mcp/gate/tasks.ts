import { digestOfText } from "../../../macaroon/hmac.js";
import type { Inputs } from "./input-requests.js";
import { OldestOut } from "./oldest-out.js";
import type { ServerLink } from "./server-link.js";

const MOST_TASKS = 10_000;

/** A task that a server runs for a party. */
export interface Task {
  readonly link: ServerLink;
  /** The party that created the task. For any other party, the task does not exist. */
  readonly holder: string;
  /** The operation that has created the task. */
  readonly operation: string;
  /** The allowed requests of the task to the host. */
  inputs: Inputs;
}

/** The tasks of servers, by digests of their ids. */
export class Tasks {
  readonly #tasks = new OldestOut<string, Task>(MOST_TASKS);

  /**
   * Remembers a task.
   *
   * @returns `false` if another party or another server has a task with this id.
   */
  add(id: string, task: Omit<Task, "inputs">): boolean {
    const known = this.of(id);
    if (known !== undefined) return known.holder === task.holder && known.link === task.link;
    this.#tasks.set(digestOfText(id), { ...task, inputs: new Map() });
    return true;
  }

  /** Finds a task by its id; `undefined` if there is none, or if it belongs to another party. */
  find(id: string | undefined, holder: string): Task | undefined {
    const task = this.of(id);
    return task?.holder === holder ? task : undefined;
  }

  /** Finds a task of any party by its id. */
  of(id: string | undefined): Task | undefined {
    return id === undefined ? undefined : this.#tasks.get(digestOfText(id));
  }
}
