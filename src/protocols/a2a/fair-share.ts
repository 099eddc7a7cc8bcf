const NONE: ReadonlyMap<string, never> = new Map<string, never>();

interface Share<Value> {
  /** Oldest first. */
  readonly entries: Map<string, Value>;
  /**
   * Goes through the entries while they are forgotten one by one: begun anew each time, it would pass by all that are
   * gone. Let go of at any other change, as it keeps what the map was in before it grew.
   */
  oldest: Iterator<string> | undefined;
}

/**
 * Entries of many owners in a room of fixed size: where it is full, the owner with the most entries loses
 * its oldest. What one owner adds takes nothing from one that has fewer.
 */
export class FairShare<Value> {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #shares = new Map<string, Share<Value>>();
  /** Owners by how many entries they have, of each number the one first whose last use is the oldest. */
  readonly #owners = new Map<number, Set<string>>();
  #size = 0;
  #largest = 0;

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
    const entries = this.#shares.get(owner)?.entries;
    if (entries === undefined) return NONE;
    this.#place(owner, entries.size, entries.size);
    return entries;
  }

  /** Adds an entry, or puts another in its place; it is the newest then. */
  set(owner: string, key: string, value: Value): void {
    const share = this.#shares.get(owner) ?? newShare();
    this.#shares.set(owner, share);
    const { entries } = share;
    const before = entries.size;
    if (!entries.delete(key) && before === this.#mostOfOne) forgetOldest(share);
    else share.oldest = undefined;
    entries.set(key, value);
    this.#size += entries.size - before;
    this.#place(owner, before, entries.size);
    if (this.#size > this.#most) this.#takeFromLargest();
  }

  #takeFromLargest(): void {
    const [owner] = this.#owners.get(this.#largest) ?? [];
    const share = owner === undefined ? undefined : this.#shares.get(owner);
    if (owner === undefined || share === undefined) return;
    const { entries } = share;
    forgetOldest(share);
    this.#size--;
    this.#place(owner, entries.size + 1, entries.size);
    if (entries.size === 0) this.#shares.delete(owner);
  }

  /** Puts an owner behind all others that have as many entries. */
  #place(owner: string, before: number, count: number): void {
    const left = this.#owners.get(before);
    left?.delete(owner);
    if (count === before) {
      left?.add(owner);
      return;
    }
    if (left?.size === 0) this.#owners.delete(before);
    if (count > 0) {
      const alike = this.#owners.get(count) ?? new Set();
      this.#owners.set(count, alike.add(owner));
    }
    // The one that had the most has one more now, or one less.
    if (count > this.#largest || !this.#owners.has(this.#largest)) this.#largest = count;
  }
}

function newShare<Value>(): Share<Value> {
  return { entries: new Map<string, Value>(), oldest: undefined };
}

function forgetOldest<Value>(share: Share<Value>): void {
  share.oldest ??= share.entries.keys();
  const { value } = share.oldest.next();
  if (value !== undefined) share.entries.delete(value);
}
