import { formatTime } from "../../caveats/time.js";
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

/** A list as it is sent. */
export interface PresentList {
  readonly list: WrittenList;
  /** Until when it may be relied on, in milliseconds since 1970. */
  readonly until: number;
}

/** A moment at which a list had every entry that was known. */
interface Moment {
  /** Milliseconds since 1970. */
  readonly clock: number;
  /** By a clock that no one sets: milliseconds of `performance`. */
  readonly steady: number;
  /** Until when the list's source could be relied on then. */
  readonly own: number;
}

interface Finished {
  readonly list: WrittenList;
  readonly current: Moment;
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
const WAIT = 5000;

/**
 * A list written out once for each version. While the next takes long to be written, the finished one is sent with
 * its own version: it is as old as the last moment at which nothing newer was known.
 */
export class Publication {
  readonly #revocations: PublishedRevocations;
  readonly #maxAge: number;
  readonly #clock: () => number;
  /** The last list that is finished, and when it had every entry. */
  #finished: Finished | undefined;
  /** The list before: a service may be reading its pages yet. */
  #before: WrittenList | undefined;
  #writing: Writing | undefined;

  /** @param maxAge - Seconds. */
  constructor(revocations: PublishedRevocations, maxAge: number, clock: () => number) {
    this.#revocations = revocations;
    this.#maxAge = maxAge;
    this.#clock = clock;
  }

  /**
   * The newest list, or the one before where that takes long.
   *
   * @throws Error whatever `snapshot` rejects with.
   */
  async list(): Promise<PresentList> {
    const now = this.#now();
    const { version } = this.#revocations;
    if (this.#finished !== undefined && this.#finished.list.version >= version) {
      this.#finished = { ...this.#finished, current: now };
      return { list: this.#finished.list, until: this.#until(now) };
    }
    if (this.#writing === undefined || this.#writing.version < version) {
      this.#writing = this.#write(formatTime(this.#until(now)), this.#writing);
    }
    const { done, late } = this.#writing;
    const written = await (this.#finished === undefined ? done : Promise.race([done, late]));
    const finished = this.#finished;
    if (finished === undefined || written !== undefined) {
      return { list: written ?? (await done), until: this.#until(now) };
    }
    // By the clock that makes it older: one that is set back does not make it younger.
    const [{ current }, { clock, steady }] = [finished, this.#now()];
    const since = Math.min(current.clock, clock - (steady - current.steady));
    return { list: finished.list, until: this.#until({ ...current, clock: since }) };
  }

  /** Whether there may soon be pages that are not here yet. */
  get isWriting(): boolean {
    return this.#writing !== undefined;
  }

  /** A page of the finished list, or of the one before. */
  page(name: string): string | undefined {
    return this.#finished?.list.pages.get(name) ?? this.#before?.pages.get(name);
  }

  #write(trustedUntil: string, last: Writing | undefined): Writing {
    // Until it begins, it is going to be as new as any question: one write at most waits for another.
    const writing = { version: Number.POSITIVE_INFINITY };
    const write = async (): Promise<WrittenList> => {
      await last?.done.catch(() => {});
      this.#before = this.#finished?.list ?? this.#before;
      const began = this.#now();
      writing.version = this.#revocations.version;
      const snapshot = await this.#revocations.snapshot(trustedUntil);
      const list = await writtenList(snapshot, this.#before);
      this.#finished = { list, current: began };
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
    const { trustedUntil: own = Number.POSITIVE_INFINITY } = this.#revocations;
    return { clock: this.#clock(), steady: performance.now(), own };
  }

  #until({ clock, own }: Moment): number {
    return Math.min(clock + this.#maxAge * 1000, own);
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
