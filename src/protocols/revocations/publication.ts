import type { RevocationSnapshot } from "../../revocation/list.js";
import type { RevocationSource } from "../../revocation/source.js";
import { type WrittenList, writtenList } from "./pages.js";

/** A revocation list that can be published: a `RevocationList`, or a store. */
export interface PublishedRevocations extends RevocationSource {
  /** Grows with every change and never shrinks, also when the issuer starts again. */
  readonly version: number;
  /** Until when it may itself be relied on, in milliseconds since 1970; absent or `Infinity` for good. */
  readonly trustedUntil?: number;
  snapshot(trustedUntil: string): RevocationSnapshot | Promise<RevocationSnapshot>;
}

/** A list as it is sent, and how old it may be. */
export interface PresentList {
  readonly list: WrittenList;
  /** When it is known to have had every entry, in milliseconds since 1970. */
  readonly asOf: number;
}

/** A moment, by the clock and by one that no one sets: in milliseconds since 1970, and of `performance`. */
interface Moment {
  readonly clock: number;
  readonly steady: number;
}

/** A list that is being written out, or is going to be. */
interface Writing {
  /** What it is at least as new as. */
  readonly version: number;
  readonly done: Promise<WrittenList>;
  /** Fulfilled when questions wait for it no longer. */
  readonly late: Promise<undefined>;
}

/** Milliseconds that a question waits for a list which is being written out; a service waits 10 seconds. */
const WAIT = 3000;

/**
 * A list written out once for each version. While the next takes long to be written, the finished one is sent with
 * its own version: it is as old as the last moment at which nothing newer was known.
 */
export class Publication {
  readonly #revocations: PublishedRevocations;
  readonly #clock: () => number;
  #finished: WrittenList | undefined;
  /** When the finished list had every entry. */
  #current: Moment | undefined;
  /** The list before: a service may be reading its pages yet. */
  #before: WrittenList | undefined;
  #writing: Writing | undefined;

  constructor(revocations: PublishedRevocations, clock: () => number) {
    this.#revocations = revocations;
    this.#clock = clock;
  }

  /**
   * The newest list, or the one before where that takes long.
   *
   * @param trustedUntil - What the list is written with; a time such as `2026-01-31T23:59:59Z`.
   * @returns `undefined` where there is no list yet.
   * @throws Error whatever `snapshot` rejects with.
   */
  async list(trustedUntil: string): Promise<PresentList | undefined> {
    const now = this.#now();
    const { version } = this.#revocations;
    if (this.#finished !== undefined && this.#finished.version >= version) {
      this.#current = now;
      return { list: this.#finished, asOf: now.clock };
    }
    if (this.#writing === undefined || this.#writing.version < version) {
      this.#writing = this.#write(trustedUntil, this.#writing);
    }
    const { done, late } = this.#writing;
    const list = await Promise.race([done, late]);
    if (list !== undefined) return { list, asOf: now.clock };
    if (this.#finished === undefined || this.#current === undefined) return undefined;
    // By the clock that makes it older: one that is set back does not make it younger.
    const { clock, steady } = this.#now();
    const asOf = Math.min(this.#current.clock, clock - (steady - this.#current.steady));
    return { list: this.#finished, asOf };
  }

  /** Whether there may soon be pages that are not here yet. */
  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** A page of the finished list, or of the one before. */
  page(name: string): string | undefined {
    return this.#finished?.pages.get(name) ?? this.#before?.pages.get(name);
  }

  #write(trustedUntil: string, last: Writing | undefined): Writing {
    // Until it begins, it is going to be as new as any question: one write at most waits for another.
    const writing = { version: Number.POSITIVE_INFINITY };
    const write = async (): Promise<WrittenList> => {
      await last?.done.catch(() => {});
      this.#before = this.#finished ?? this.#before;
      const began = this.#now();
      writing.version = this.#revocations.version;
      const snapshot = await this.#revocations.snapshot(trustedUntil);
      const list = await writtenList(snapshot, this.#finished);
      [this.#finished, this.#current] = [list, began];
      return list;
    };
    const { late, isOver } = lateness();
    const done = write().finally(() => {
      isOver();
      // Where it failed, the next question tries again.
      if (this.#writing?.done === done) this.#writing = undefined;
    });
    // Questions that no longer wait do not hear of a failure; the next one meets it again.
    done.catch(() => {});
    return Object.assign(writing, { done, late });
  }

  #now(): Moment {
    return { clock: this.#clock(), steady: performance.now() };
  }
}

/** A promise that is fulfilled after the time that a question waits, unless what it waits for is over. */
function lateness(): { readonly late: Promise<undefined>; readonly isOver: () => void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, WAIT, undefined);
  });
  return { late, isOver: () => clearTimeout(timer) };
}
