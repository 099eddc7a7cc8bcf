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

interface Writing {
  /** What it is at least as new as. */
  version: number;
  readonly done: Promise<WrittenList>;
}

/** A list written out once for each version. */
export class Publication {
  readonly #revocations: PublishedRevocations;
  #finished: WrittenList | undefined;
  /** The list before: a service may be reading its pages yet. */
  #before: WrittenList | undefined;
  #writing: Writing | undefined;

  constructor(revocations: PublishedRevocations) {
    this.#revocations = revocations;
  }

  /**
   * The newest list. Questions that come while one is written out share the next write.
   *
   * @throws Error whatever `snapshot` rejects with.
   */
  async list(trustedUntil: string): Promise<WrittenList> {
    const { version } = this.#revocations;
    if (this.#finished !== undefined && this.#finished.version >= version) return this.#finished;
    if (this.#writing === undefined || this.#writing.version < version) {
      this.#writing = this.#write(trustedUntil, this.#writing);
    }
    return this.#writing.done;
  }

  /** A page of the newest list, or of the one before. */
  page(name: string): string | undefined {
    return this.#finished?.pages.get(name) ?? this.#before?.pages.get(name);
  }

  #write(trustedUntil: string, last: Writing | undefined): Writing {
    const write = async (): Promise<WrittenList> => {
      await last?.done.catch(() => {});
      this.#before = this.#finished ?? this.#before;
      writing.version = this.#revocations.version;
      const snapshot = await this.#revocations.snapshot(trustedUntil);
      this.#finished = await writtenList(snapshot, this.#before);
      return this.#finished;
    };
    // Until it begins, it is going to be as new as any question: one write at most waits for another.
    const writing = { version: Number.POSITIVE_INFINITY };
    const done = write().finally(() => {
      // Where it failed, the next question tries again.
      if (this.#writing?.done === done) this.#writing = undefined;
    });
    return Object.assign(writing, { done });
  }
}
