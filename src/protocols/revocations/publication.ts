import type { RevocationSnapshot } from "../../revocation/list.js";
import type { RevocationSource } from "../../revocation/source.js";
import { type WrittenList, writtenList } from "./pages.js";

/** A revocation list that can be published: a `RevocationList`, or a store. */
export interface PublishedRevocations extends RevocationSource {
  /** A number that grows with every change and never shrinks, even when the issuer restarts. */
  readonly version: number;
  /** Time until which the list itself may be trusted, in milliseconds since 1970; absent or `Infinity` for no limit. */
  readonly trustedUntil?: number;
  snapshot(trustedUntil: string): RevocationSnapshot | Promise<RevocationSnapshot>;
}

interface Writing {
  /** `done` resolves to a list of at least this version. */
  version: number;
  readonly done: Promise<WrittenList>;
}

/** Converts each version of a list to pages once. */
export class Publication {
  readonly #revocations: PublishedRevocations;
  #finished: WrittenList | undefined;
  /** The previous list, whose pages a service may still be reading. */
  #before: WrittenList | undefined;
  #writing: Writing | undefined;

  constructor(revocations: PublishedRevocations) {
    this.#revocations = revocations;
  }

  /**
   * Returns the newest list as pages. If the list changes during a conversion, all further calls share the next
   * conversion.
   *
   * @throws The error of `snapshot`, if that method throws.
   */
  async list(trustedUntil: string): Promise<WrittenList> {
    const { version } = this.#revocations;
    if (this.#finished !== undefined && this.#finished.version >= version) return this.#finished;
    if (this.#writing === undefined || this.#writing.version < version) {
      this.#writing = this.#write(trustedUntil, this.#writing);
    }
    return this.#writing.done;
  }

  /** Returns a page of the newest list or of the previous list; `undefined` if neither list has the page. */
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
    // All calls made before this conversion starts share its result, so that at most one conversion waits.
    const writing = { version: Number.POSITIVE_INFINITY };
    const done = write().finally(() => {
      // After a failure, the next call tries again.
      if (this.#writing?.done === done) this.#writing = undefined;
    });
    return Object.assign(writing, { done });
  }
}
