const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * Entries of many owners in a room of fixed size: where it is full, the owner with the most entries loses
 * its oldest. What one owner adds takes nothing from one that has fewer.
 */
export class FairShare<Value> {
  readonly #most: number;
  readonly #mostOfOne: number;
  /** The entries of each owner, oldest first; the owner that was used last stands last. */
  readonly #shares = new Map<string, Map<string, Value>>();
  #size = 0;

  /**
   * @param most - Entries of all owners together.
   * @param mostOfOne - Entries of one owner.
   */
  constructor(most: number, mostOfOne: number) {
    this.#most = most;
    this.#mostOfOne = mostOfOne;
  }

  /** The entries of an owner, oldest first. */
  of(owner: string): ReadonlyMap<string, Value> {
    const entries = this.#shares.get(owner);
    if (entries === undefined) return NONE;
    this.#use(owner, entries);
    return entries;
  }

  /** Adds an entry, or puts another in its place; it is the newest then. */
  set(owner: string, key: string, value: Value): void {
    const entries = this.#shares.get(owner) ?? new Map<string, Value>();
    const before = entries.size;
    entries.delete(key);
    entries.set(key, value);
    if (entries.size > this.#mostOfOne) forgetOldest(entries);
    this.#size += entries.size - before;
    this.#use(owner, entries);
    if (this.#size > this.#most) this.#takeFromLargest();
  }

  #use(owner: string, entries: Map<string, Value>): void {
    this.#shares.delete(owner);
    this.#shares.set(owner, entries);
  }

  /** Of owners with as many entries, the one whose last use is the oldest loses one. */
  #takeFromLargest(): void {
    let [largest, most] = ["", new Map<string, Value>()];
    for (const [owner, entries] of this.#shares) {
      if (entries.size > most.size) [largest, most] = [owner, entries];
    }
    forgetOldest(most);
    this.#size--;
    if (most.size === 0) this.#shares.delete(largest);
  }
}

function forgetOldest(entries: Map<string, unknown>): void {
  for (const key of entries.keys()) {
    entries.delete(key);
    return;
  }
}
