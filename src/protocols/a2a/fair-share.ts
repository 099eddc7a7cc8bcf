const NONE: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * Entries of many owners in a room of fixed size: where it is full, the owner with the most entries loses
 * its oldest. What one owner adds takes nothing from one that has fewer.
 */
export class FairShare<Value> {
  readonly #most: number;
  readonly #mostOfOne: number;
  readonly #entries = new Map<string, Map<string, Value>>();
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
    const entries = this.#entries.get(owner);
    if (entries === undefined) return NONE;
    this.#place(owner, entries.size, entries.size);
    return entries;
  }

  /** Adds an entry, or puts another in its place; it is the newest then. */
  set(owner: string, key: string, value: Value): void {
    const entries = this.#entries.get(owner) ?? new Map<string, Value>();
    this.#entries.set(owner, entries);
    const before = entries.size;
    entries.delete(key);
    entries.set(key, value);
    this.#size += entries.size - before;
    this.#place(owner, before, entries.size);
    if (entries.size > this.#mostOfOne) this.#forgetOldest(owner, entries);
    if (this.#size <= this.#most) return;
    const [first] = this.#owners.get(this.#largest) ?? [];
    const most = first === undefined ? undefined : this.#entries.get(first);
    if (first !== undefined && most !== undefined) this.#forgetOldest(first, most);
  }

  #forgetOldest(owner: string, entries: Map<string, Value>): void {
    const before = entries.size;
    const [oldest] = entries.keys();
    if (oldest === undefined) return;
    entries.delete(oldest);
    this.#size--;
    this.#place(owner, before, entries.size);
    if (entries.size === 0) this.#entries.delete(owner);
  }

  /** Puts an owner behind all others that have as many entries. */
  #place(owner: string, before: number, count: number): void {
    const left = this.#owners.get(before);
    left?.delete(owner);
    if (left?.size === 0) this.#owners.delete(before);
    if (count > 0) {
      const alike = this.#owners.get(count) ?? new Set();
      this.#owners.set(count, alike.add(owner));
    }
    // The one that had the most has one more now, or one less.
    if (count > this.#largest || !this.#owners.has(this.#largest)) this.#largest = count;
  }
}
